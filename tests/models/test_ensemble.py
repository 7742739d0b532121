"""Several networks as one: the mean of what they think likely, through every entrance."""

import pytest
import torch

from regard.explain.erasing import Eraser, documents
from regard.models.base import Hierarchical
from regard.models.ensemble import Ensemble, ensemble_of
from regard.nn.rows import row_sum
from support.random_ids import SETTINGS, batch_of, built, random_documents

NAMES = ["han", "han-structured", "flat", "cahan", "han-glass-box"]


def several(name, count=3, *, multilabel=False):
    members = [built(SETTINGS[name], seed=seed) for seed in range(count)]
    return members, ensemble_of(members, multilabel=multilabel).eval()


@pytest.fixture
def batch():
    return batch_of(random_documents(6))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("multilabel", [False, True])
def test_probabilities_are_averaged(name, multilabel, batch):
    members, together = several(name, multilabel=multilabel)
    likely = torch.sigmoid if multilabel else lambda logits: logits.softmax(1)
    mean = torch.stack([likely(member(batch).logits) for member in members]).mean(0)
    torch.testing.assert_close(likely(together(batch).logits), mean)


@pytest.mark.parametrize("name", NAMES)
def test_attention_is_the_mean_and_rows_sum_to_one(name, batch):
    members, together = several(name)
    found = together(batch).attention
    for place, layer in enumerate(found):
        own = [member(batch).attention[place].weights.values for member in members]
        torch.testing.assert_close(layer.weights.values, torch.stack(own).mean(0))
        sums = row_sum(layer.weights)[layer.weights.lengths > 0]
        torch.testing.assert_close(sums, torch.ones_like(sums))


@pytest.mark.parametrize("name", NAMES)
def test_word_vectors_are_an_entrance(name, batch):
    _, together = several(name)
    vectors = together.embed(batch)
    torch.testing.assert_close(together.from_vectors(vectors, batch).logits, together(batch).logits)
    torch.testing.assert_close(together.embedding(batch.ids.values), vectors.values)
    assert together.embedding.embedding_dim == vectors.values.shape[1]


@pytest.mark.parametrize("name", ["han", "cahan"])
def test_sentence_vectors_are_an_entrance(name, batch):
    _, together = several(name)
    assert isinstance(together, Hierarchical)
    sentences = together.sentence_vectors(batch)
    expected = together(batch).logits
    torch.testing.assert_close(together.from_sentences(sentences).logits, expected)
    numbers = sentences.with_values(torch.arange(len(sentences.values)))
    torch.testing.assert_close(together.from_kept(sentences.values, numbers).logits, expected)


def test_a_flat_model_has_no_sentences():
    assert not isinstance(several("flat")[1], Hierarchical)


@pytest.mark.parametrize("name", ["han", "flat"])
def test_erased_answers_are_those_of_the_mean(name):
    batch = batch_of([[[3, 4, 5], [6, 7]]])
    members, together = several(name)
    (ids,) = documents(batch)
    left = [Eraser(member, ids).without_each_word() for member in members]
    mean = torch.stack([one.softmax(1) for one in left]).mean(0)
    found = Eraser(together, ids).without_each_word().softmax(1)
    torch.testing.assert_close(found, mean, rtol=1e-5, atol=1e-6)


def test_one_stays_what_it_is():
    (member,), together = several("han", 1)
    assert together is member and not isinstance(together, Ensemble)


def test_weights_are_kept_once():
    members, together = several("han", 2)
    names = list(together.state_dict())
    assert all(name.startswith("members.") for name in names)
    assert len(names) == 2 * len(members[0].state_dict())
