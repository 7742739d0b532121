import itertools

import pytest
import torch

from regard.errors import ConfigError
from regard.models.fasttext import FastTextConfig
from support.random_ids import batch_of, built, random_documents


def test_a_document_is_the_mean_of_its_words_and_pairs():
    """004-01: Joulin et al. (2017), whatever the sentences; pairs do not leave their document."""
    model = built(FastTextConfig(embedding_size=4, pairs=97))
    torch.nn.init.normal_(model.pairs.weight)
    documents = random_documents(5, seed=3)
    logits = model(batch_of(documents)).logits
    for number, document in enumerate(documents):
        words = [word for sentence in document for word in sentence]
        hashed = [(a * 116049371 + b) % 97 for a, b in itertools.pairwise(words)]
        vectors = [model.embedding.weight[word] for word in words]
        vectors += [model.pairs.weight[pair] for pair in hashed]
        mean = torch.stack(vectors).mean(0) if vectors else torch.zeros(4)
        torch.testing.assert_close(logits[number], model.classify(mean))


@pytest.mark.parametrize("pairs", [0, 1 << 10])
def test_the_order_of_two_words_is_told_by_pairs_alone(pairs):
    """004-01: n-grams make the averaged baseline what it is."""
    model = built(FastTextConfig(embedding_size=8, pairs=pairs)).train()
    first = [[[*filler[:2], 2, 3, *filler[2:]]] for filler in itertools.permutations([4, 5, 6, 7])]
    second = [[[3 if w == 2 else 2 if w == 3 else w for w in row[0]]] for row in first]
    batch, labels = batch_of([*first, *second]), torch.tensor([0] * 24 + [1] * 24)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(60):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(batch).logits, labels).backward()
        optimizer.step()
    right = (model(batch).logits.argmax(1) == labels).float().mean()
    assert right == 1 if pairs else right < 0.75


def test_wrong_settings_are_refused():
    with pytest.raises(ConfigError, match="pairs must be at least 0, got -1"):
        FastTextConfig(pairs=-1)
