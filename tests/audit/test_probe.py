"""A small network that is told where to look."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from regard.audit.probe import Bags, _fill_bags, ask_probe, probe_attention
from regard.text.document import Document
from support.reviews import reviews, tagged, tiny

WORDS, NOISE = 40, 30


def corpus(count, seed):
    """Documents of one telling word, 0 or 1, among words that say nothing, and their labels."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(2, size=count)
    rows = [np.append(draw.integers(2, WORDS, NOISE), label) for label in labels]
    return rows, labels


def guided(rows, told):
    """Weights that are all on the telling word, or even."""
    size = NOISE + 1
    row = np.eye(size)[-1] if told else np.full(size, 1 / size)
    return Bags.of(rows, [row] * len(rows))


def test_a_table_adds_up_the_weights_of_the_same_word():
    bags = Bags.of([np.array([1, 1, 0]), np.array([], int)], [np.array([0.5, 0.25, 1]), np.ones(0)])
    torch.testing.assert_close(
        bags.table(3).to_dense(), torch.tensor([[1.0, 0.75, 0.0], [0.0, 0.0, 0.0]])
    )


def test_no_documents_make_an_empty_table():
    assert Bags.of([], []).table(3).shape == (0, 3)


def test_weights_on_what_tells_teach_more_than_even_ones():
    """Frozen-attention probe (Wiegreffe and Pinter)."""
    vectors = torch.from_numpy(np.random.default_rng(0).normal(size=(WORDS, 6)))
    (taught, labels), (asked, truth) = corpus(60, 1), corpus(100, 2)
    right = {
        told: (
            ask_probe(vectors, guided(taught, told), labels, guided(asked, told)) == truth
        ).mean()
        for told in (True, False)
    }
    assert right[True] == 1.0 and right[False] < 0.9


def test_the_seed_decides_and_nothing_outside_changes():
    vectors = torch.randn(WORDS, 6, generator=torch.Generator().manual_seed(0))
    kept, state = vectors.clone(), torch.get_rng_state()
    rows, labels = corpus(30, 1)
    bags = guided(rows, False)
    first, again = (ask_probe(vectors, bags, labels, bags, seed=4) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert torch.equal(vectors, kept) and torch.equal(torch.get_rng_state(), state)


def documents(count, seed):
    return [Document(text, label) for text, label in zip(*reviews(count, seed=seed), strict=True)]


def test_each_document_gets_an_answer_of_every_probe(fitted):
    found = probe_attention(fitted.fitted_, documents(40, 1), documents(12, 5))
    assert len(found) == 12
    assert set(found[0]) == {"probe_attention", "probe_adversarial"}
    assert {one.value for row in found for one in row.values()} <= {0.0, 1.0}
    # Both stand beside the same probe under even weights.
    assert all(
        row["probe_attention"].baseline == row["probe_adversarial"].baseline for row in found
    )


def test_every_guide_s_weights_sum_to_one(fitted):
    bags = _fill_bags(fitted.fitted_, documents(6, 2), 0)
    for one in bags.values():
        sums = np.bincount(one.homes, one.weights, minlength=one.count)
        np.testing.assert_allclose(sums, 1.0, atol=1e-6)
    assert not np.allclose(bags["own"].weights, bags["adversarial"].weights)


def test_documents_without_a_known_label_are_left_out(fitted):
    some = documents(6, 3)
    mixed = [*some, replace(some[0], label=None), replace(some[1], label="never met")]
    assert len(probe_attention(fitted.fitted_, mixed, mixed)) == 6
    assert probe_attention(fitted.fitted_, [], some) == []


def test_nothing_is_said_of_documents_with_several_labels():
    texts, labels = tagged(40)
    several = tiny().fit(texts, labels)
    pairs = [Document(text, tuple(names)) for text, names in zip(texts, labels, strict=True)]
    assert probe_attention(several.fitted_, pairs, pairs[:4]) == []


@pytest.mark.parametrize("name", ["max", "attention"])
def test_flat_models_and_other_poolings_can_be_probed(name):
    from regard.models.flat import FlatConfig

    flat = tiny(network=FlatConfig(embedding_size=8, hidden_size=4, attention_size=4, pooling=name))
    flat.fit(*reviews(40))
    assert len(probe_attention(flat.fitted_, documents(20, 1), documents(5, 2))) == 5
