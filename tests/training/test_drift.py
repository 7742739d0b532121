"""The moves that rows make without a gradient, against adding them up one by one."""

import math

import numpy as np
import pytest
import torch

from regard.training.drift import Drift

EPS = 1e-8
RATES = {
    "constant": lambda step: 0.002,
    "falling": lambda step: 0.002 * (1 - step / 501),
    "up and down": lambda step: 0.001 * (1.1 + math.sin(step / 7)),
}


def since(drift, stopped):
    """What rows have missed that were last moved at these steps, (rows, 6)."""
    missed, kinds = drift.since(stopped)
    return missed[kinds]


def moves_one_by_one(stopped, until, *, root, rate, betas):
    """What Adam adds up to from one step to another, for a mean of one and this root of squares."""
    first, second = betas
    total = 0.0
    for step in range(stopped + 1, until + 1):
        missed = step - stopped
        below = root * second ** (missed / 2) / math.sqrt(1 - second**step) + EPS
        total += rate(step) / (1 - first**step) * first**missed / below
    return total


@pytest.mark.parametrize("rate", RATES.values(), ids=RATES)
@pytest.mark.parametrize("beta", [0.1, 0.5, 0.9])
def test_the_moves_add_up_to_those_of_every_step(beta, rate):
    """Within a millionth, and of the smallest gradients within rounding of a weight."""
    drift = Drift((beta, 0.999), EPS)
    for step in range(1, 501):
        drift.advance(rate(step))
    for stopped in (64, 100, 350, 490, 499):
        one, other, near, far, mean_left, square_left = since(drift, np.array([stopped]))[0]
        assert mean_left == pytest.approx(beta ** (500 - stopped))
        assert square_left == pytest.approx(0.999 ** (500 - stopped))
        for root in (1.0, 1e-4, 1e-7, 1e-8, 1e-10):
            found = one / (root + near) + other / (root + far)
            wanted = moves_one_by_one(stopped, 500, root=root, rate=rate, betas=(beta, 0.999))
            # A mean is some three times the root at most, and a weight is moved by both.
            assert 3 * root * abs(found - wanted) < max(1e-7, 1e-6 * 3 * root * wanted)


def test_a_single_missed_step_is_exact():
    drift = Drift((0.9, 0.999), EPS)
    for step in range(1, 4):
        drift.advance(0.1 * step)
        one, other, near, far, *_ = since(drift, np.array([step - 1]))[0]
        for root in (1e-12, 1e-8, 1.0):
            wanted = moves_one_by_one(
                step - 1, step, root=root, rate=lambda step: 0.1 * step, betas=(0.9, 0.999)
            )
            assert one / (root + near) + other / (root + far) == pytest.approx(wanted, rel=1e-9)


def test_who_missed_nothing_does_not_move():
    drift = Drift((0.9, 0.999), EPS)
    drift.advance(0.1)
    assert since(drift, np.array([1])).tolist() == [[0, 0, EPS, EPS, 1, 1]]
    assert since(drift, np.zeros(0, np.int64)).shape == (0, 6)


def test_steps_far_apart_are_looked_up_as_those_close_together():
    """Many rows at few steps and few rows at many steps are numbered in different ways."""
    drift = Drift((0.9, 0.999), EPS)
    for _ in range(200):
        drift.advance(0.01)
    few = np.array([3, 150, 3])
    many = np.concatenate([few, np.arange(200), np.arange(200)])
    np.testing.assert_array_equal(since(drift, few), since(drift, many)[:3])


def test_without_momentum_nobody_moves_without_a_gradient():
    drift = Drift((0.0, 0.999), EPS)
    for _ in range(5):
        drift.advance(0.1)
    missed = since(drift, np.array([2, 4]))
    assert np.isfinite(missed).all()
    assert (missed[:, :2] == 0).all() and (missed[:, 4] == 0).all()


def test_after_a_restart_the_past_is_forgotten_and_steps_count_on():
    whole, cut = Drift((0.9, 0.999), EPS), Drift((0.9, 0.999), EPS)
    for step in range(40):
        whole.advance(0.01)
        cut.advance(0.01)
        if step == 20:
            cut.restart()
    assert cut.sums.shape == (4, 20)
    stopped = np.array([30, 21, 39])
    np.testing.assert_array_equal(since(cut, stopped), since(whole, stopped))


def test_a_restored_drift_goes_on_to_the_same_bits():
    first = Drift((0.9, 0.999), EPS)
    for step in range(30):
        first.advance(0.01)
        if step == 11:
            first.restart()
    second = Drift((0.9, 0.999), EPS)
    second.restore(torch.from_numpy(first.sums), first.step)
    for drift in (first, second):
        drift.advance(0.02)
    stopped = np.arange(first.start, 31)
    np.testing.assert_array_equal(since(second, stopped), since(first, stopped))
