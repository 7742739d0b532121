"""Tests that pair the answers of two models: their formulas against slower, plainer ways."""

import itertools

import numpy as np
import pytest

from regard.tasks.paired import correct_for_many, flip_signs, redraw_accuracies, seeds_won


def random_right(trainings, documents, share, seed=0):
    draw = np.random.default_rng(seed)
    return (draw.random((trainings, documents)) < share).astype(float)


def test_one_training_each_is_mcnemars_test():
    first, second = np.ones((1, 40)), np.ones((1, 40))
    first[0, :2], second[0, 2:12] = 0, 0  # 2 against 10
    exact = 2 * sum(_binomial(12, few) for few in range(3))
    assert flip_signs(first, second) == pytest.approx(exact, abs=0.01)


def _binomial(count, few):
    from math import comb

    return comb(count, few) / 2**count


def test_flipping_signs_is_trying_every_sign():
    first, second = random_right(3, 9, 0.8), random_right(3, 9, 0.4, seed=1)
    differences = (first - second).sum(0)
    sums = [abs(np.dot(signs, differences)) for signs in itertools.product((1, -1), repeat=9)]
    exact = np.mean([one >= abs(differences.sum()) for one in sums])
    assert flip_signs(first, second) == pytest.approx(exact, abs=0.02)


def test_the_same_answers_are_never_told_apart():
    right = random_right(3, 50, 0.7)
    assert flip_signs(right, right) == 1.0
    assert seeds_won(right, right) == (0, 3)


def test_a_model_without_seeds_is_paired_with_each_of_the_others():
    once, thrice = np.ones((1, 30)), np.zeros((3, 30))
    assert flip_signs(once, thrice) < 0.001
    assert seeds_won(once, thrice) == (3, 3)


def test_holm_corrects_the_smallest_most():
    assert correct_for_many([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert correct_for_many([]) == []
    assert correct_for_many([0.9, 0.8]) == [1.0, 1.0]


def test_redrawn_accuracies_spread_as_documents_and_seeds_do():
    right = {"sure": np.ones((2, 400)), "half": random_right(2, 400, 0.5)}
    drawn = redraw_accuracies(right, draws=400)
    assert (drawn["sure"] == 1).all()
    assert drawn["half"].mean() == pytest.approx(right["half"].mean(), abs=0.01)
    # Both trainings answer alike documents by chance: between one and two of them count.
    assert 0.5 / 800**0.5 < drawn["half"].std() < 1.5 * 0.5 / 400**0.5


def test_differences_of_redrawn_accuracies_are_paired():
    right = random_right(2, 300, 0.6)
    worse = right.copy()
    worse[:, :30] = 0
    drawn = redraw_accuracies({"right": right, "worse": worse}, draws=200)
    assert (drawn["right"] >= drawn["worse"]).all()
