"""A small network that is told where to look."""

import numpy as np
import torch

from regard.audit.probe import Bags, probed

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
        told: (probed(vectors, guided(taught, told), labels, guided(asked, told)) == truth).mean()
        for told in (True, False)
    }
    assert right[True] == 1.0 and right[False] < 0.9


def test_the_seed_decides_and_nothing_outside_changes():
    vectors = torch.randn(WORDS, 6, generator=torch.Generator().manual_seed(0))
    kept, state = vectors.clone(), torch.get_rng_state()
    rows, labels = corpus(30, 1)
    bags = guided(rows, False)
    first, again = (probed(vectors, bags, labels, bags, seed=4) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert torch.equal(vectors, kept) and torch.equal(torch.get_rng_state(), state)
