"""Bins, ranks and Kendall's tau, against plainer ways."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from regard.explain import rankings
from regard.explain.rankings import (
    BINS,
    distinct_rows,
    kendall,
    random_ranks,
    random_sets,
    ranks_of,
    taken,
)


def draw(seed=0):
    return np.random.default_rng(seed)


def test_a_bin_is_its_share_rounded_up():
    assert BINS == (0.01, 0.05, 0.1, 0.2, 0.5)
    assert taken(0) == [0] * 5
    assert taken(1) == [1] * 5
    assert taken(30) == [1, 2, 3, 6, 15]
    assert taken(100) == [1, 5, 10, 20, 50]
    assert taken(301) == [4, 16, 31, 61, 151]


def test_the_largest_amount_has_rank_zero():
    assert ranks_of(np.array([0.1, -3.0, 0.7]), draw()).tolist() == [[1, 2, 0]]


def test_equal_amounts_are_ranked_at_random():
    """Even weights must not pass for a preference for the beginning of a text."""
    rows = np.concatenate([ranks_of(np.zeros(6), draw(seed)) for seed in range(200)])
    assert all(sorted(row) == list(range(6)) for row in rows.tolist())
    assert np.abs(rows.mean(0) - 2.5).max() < 0.4
    assert (ranks_of(np.zeros(6), draw(5)) == ranks_of(np.zeros(6), draw(5))).all()


def test_random_ranks_are_permutations():
    rows = random_ranks(7, 50, draw())
    assert rows.shape == (50, 7)
    assert all(sorted(row) == list(range(7)) for row in rows.tolist())
    assert len({tuple(row) for row in rows.tolist()}) > 45


def test_random_sets_have_the_size_of_their_bin_and_nothing_else_in_common():
    sets = random_sets(30, 400, draw())
    assert (sets.sum(2) == taken(30)).all()
    assert np.abs(sets[:, 4].mean(0) - 0.5).max() < 0.12, "every piece is as likely"
    nested = (sets[:, 3] <= sets[:, 4]).all(1).mean()
    assert nested < 0.1, "a small one is no part of a larger one"


@pytest.mark.parametrize("count", [1, 4, 59, 60, 80])
def test_sets_that_are_the_same_are_asked_about_once(count):
    rows = random_sets(count, 3, draw()).reshape(-1, count)
    distinct, places = distinct_rows(rows)
    assert (distinct[places] == rows).all()
    if count < 60:
        assert len(np.unique(distinct, axis=0)) == len(distinct)


@pytest.mark.parametrize("seed", range(5))
def test_tau_is_scipys_with_and_without_ties(seed):
    numbers = draw(seed)
    first = numbers.integers(0, 8, 40).astype(float)
    for second in (numbers.normal(size=40), first**2, -first, numbers.integers(0, 3, 40) * 1.0):
        assert kendall(first, second) == pytest.approx(kendalltau(first, second).statistic)


def test_tau_of_long_lists_is_that_of_all_pairs(monkeypatch):
    first, second = draw().integers(0, 9, 200) * 1.0, draw(1).normal(size=200)
    quick = kendall(first, second)
    monkeypatch.setattr(rankings, "SHORT", 1000)
    assert quick == pytest.approx(kendall(first, second))
    assert kendall(np.ones(2000), np.arange(2000.0)) is None


def test_without_differences_there_is_no_tau():
    assert kendall(np.ones(4), np.arange(4.0)) is None
    assert kendall(np.ones(1), np.ones(1)) is None
    assert kendall(np.zeros(0), np.zeros(0)) is None
