import pytest
import torch
from torch import nn

from random_ids import SMALL, batch_of, built, random_documents
from regard.models import HANConfig
from regard.models.parts import WordReader, mean_penalty, word_embedding
from regard.ragged import Ragged
from regard.text.vocab import PADDING, UNKNOWN


def test_word_vectors_start_small_and_the_padding_at_zero():
    """001-12: the padding's vector is zero and gets no gradient."""
    torch.manual_seed(0)
    embedding = word_embedding(20, 5)
    assert not embedding.weight[PADDING].any()
    assert 0 < embedding.weight.abs().max() <= 0.1
    embedding(torch.tensor([PADDING, 3])).sum().backward()
    assert embedding.weight.grad.any(1).nonzero().flatten().tolist() == [3]


def read(ids, **settings):
    """What a reader without an encoder makes of ids in training, and the plain vectors."""
    torch.manual_seed(0)
    reader = WordReader(HANConfig(**SMALL | {"encoder": "none"} | settings)).train()
    embedding = nn.Embedding.from_pretrained(torch.arange(1.0, 31)[:, None].expand(-1, 8))
    rows = Ragged(ids, torch.tensor([len(ids)]))
    return reader(embedding, rows).values, embedding(ids)


def test_dropped_words_are_read_as_unknown():
    ids = torch.full((2000,), 7)
    found, plain = read(ids, word_dropout=0.25)
    lost = (found != plain).any(1)
    assert (found[lost] == UNKNOWN + 1.0).all()
    assert 0.2 < lost.float().mean() < 0.3


def test_a_word_is_dropped_out_alike_wherever_it_stands():
    """One draw a distinct word, so that each is still looked up and projected once."""
    ids = torch.arange(2, 12).repeat(3)
    found, plain = read(ids, vector_dropout=0.5)
    first, second, third = found.view(3, 10, -1)
    assert torch.equal(first, second) and torch.equal(second, third)
    kept = found != 0
    torch.testing.assert_close(found[kept], 2 * plain[kept])
    assert 0.3 < kept.float().mean() < 0.7
    assert not torch.equal(kept[0], kept[1])


def test_vectors_are_dropped_out_in_training_too():
    reader = WordReader(HANConfig(**SMALL | {"encoder": "none", "vector_dropout": 0.5})).train()
    words = Ragged(torch.ones(50, 8), torch.tensor([50]))
    assert set(reader.from_vectors(words).values.unique().tolist()) == {0.0, 2.0}


def test_states_are_dropped_out_before_the_classifier():
    model = built(HANConfig(**SMALL | {"state_dropout": 0.5})).train()
    seen = []
    model.classify.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0]))
    model(batch_of([document for document in random_documents(20) if document]))
    assert 0.3 < (seen[0] == 0).float().mean() < 0.7


def test_the_mean_penalty_weighs_documents_alike():
    by_sentence = torch.tensor([1.0, 3.0, 5.0])
    assert mean_penalty(by_sentence, torch.tensor([2, 1, 0])).item() == pytest.approx((2 + 5) / 3)
    assert mean_penalty(torch.zeros(0), torch.zeros(0, dtype=torch.int64)).item() == 0
