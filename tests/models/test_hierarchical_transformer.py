"""A transformer over words and one over sentences: it learns, and shows where it looked."""

import torch

from regard.models import HierarchicalTransformerConfig
from regard.nn.rows import row_sum
from regard.nn.transformer import TransformerEncoder
from support.random_ids import LABEL_COUNT, SMALL, batch_of, built, random_documents


def test_it_learns_a_toy_set_and_gives_weights_at_every_level():
    """000-10: words and sentences are pooled by weights, and words look at each other."""
    documents = [[[3 + number], *rest] for number, rest in enumerate(random_documents(10))]
    batch = batch_of(documents, torch.arange(10) % LABEL_COUNT)
    model = built(HierarchicalTransformerConfig(**SMALL))
    for level in (model.words, model.sentences):
        assert isinstance(level.encoder, TransformerEncoder)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(60):
        loss = torch.nn.functional.cross_entropy(model(batch).logits, batch.labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.1 < losses[0]
    output = model(batch)
    assert [layer.name for layer in output.attention] == ["word", "sentence"]
    for layer in output.attention:
        torch.testing.assert_close(row_sum(layer.weights), torch.ones(len(layer.weights)))
    looks = list(model.self_attention(batch))
    assert len(looks) == len(batch.ids)
    assert looks[0].weights.shape[:2] == (2, 5)


def test_the_order_of_sentences_counts():
    """What HAN's own weighing forgets: the document encoder reads the sentences in order."""
    model = built(HierarchicalTransformerConfig(**SMALL))
    one, other = [[2, 3], [4, 5]], [[4, 5], [2, 3]]
    logits = model(batch_of([one, other])).logits
    assert not torch.allclose(logits[0], logits[1])
