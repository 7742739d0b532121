import pytest
import torch

from regard.models import HANConfig
from regard.models.base import mean_penalty
from regard.models.words import WordEmbedding
from regard.ragged import Ragged
from regard.text.vocab import PADDING, UNKNOWN
from support.random_ids import SMALL, batch_of, built, random_documents


def test_word_vectors_start_small_and_the_padding_at_zero():
    """001-12: the padding's vector is zero and gets no gradient."""
    torch.manual_seed(0)
    embedding = WordEmbedding(20, 5)
    assert not embedding.weight[PADDING].any()
    assert 0 < embedding.weight.abs().max() <= 0.1
    embedding(torch.tensor([PADDING, 3])).sum().backward()
    assert embedding.weight.grad.any(1).nonzero().flatten().tolist() == [3]


def read(ids, **dropout):
    """What is picked for ids in training, and the plain vectors."""
    torch.manual_seed(0)
    embedding = WordEmbedding(30, 8, **dropout).train()
    with torch.no_grad():
        embedding.weight[:] = torch.arange(1.0, 31)[:, None]
    rows = Ragged(ids, torch.tensor([len(ids)]))
    return embedding.pick(rows).look_up().values.detach(), embedding(ids).detach()


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
    embedding = WordEmbedding(30, 8, vector_dropout=0.5).train()
    words = Ragged(torch.ones(50, 8), torch.tensor([50]))
    assert set(embedding.drop(words).values.unique().tolist()) == {0.0, 2.0}
    assert torch.equal(embedding.eval().drop(words).values, words.values)


def test_states_are_dropped_out_before_the_classifier():
    model = built(HANConfig(**SMALL | {"state_dropout": 0.5})).train()
    seen = []
    model.classify.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0]))
    model(batch_of([document for document in random_documents(20) if document]))
    assert 0.3 < (seen[0] == 0).float().mean() < 0.7


def test_the_mean_penalty_weighs_documents_alike():
    words, sentences = torch.tensor([2.0, 5.0, 0.0]), torch.tensor([1.0, 0.0, 1.0])
    assert mean_penalty(0.5, words, sentences).item() == pytest.approx(0.5 * (7 + 2) / 3)
    assert mean_penalty(0.5, None, sentences).item() == pytest.approx(0.5 * 2 / 3)
    assert mean_penalty(0.5, None, None) is None
    assert mean_penalty(1.0, torch.zeros(0)).item() == 0
