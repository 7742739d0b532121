"""The learning rate at every step, against the plain formula of each schedule."""

import math

import pytest
import torch

from regard.training.optimizers import build_optimizer
from regard.training.schedules import build_schedule, warmup_steps
from support.toys import plain_config


def rates(config, steps):
    model = torch.nn.Linear(1, 1)
    optimizer = build_optimizer(model, config)
    schedule = build_schedule(optimizer, config, steps)
    seen = []
    for _ in range(steps):
        seen.append(optimizer.param_groups[0]["lr"])
        model(torch.ones(1)).backward()
        optimizer.step()
        schedule.step()
    return seen


FORMULAS = {
    "constant": lambda done: 1.0,
    "linear": lambda done: 1 - done,
    "cosine": lambda done: (1 + math.cos(math.pi * done)) / 2,
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_schedule_follows_its_formula(name):
    expected = [0.5 * FORMULAS[name](step / 20) for step in range(20)]
    assert rates(plain_config(schedule=name, learning_rate=0.5), 20) == pytest.approx(expected)


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("warmup", [5.0, 0.25])
def test_warm_up_rises_to_the_rate_then_the_schedule_follows(name, warmup):
    config = plain_config(schedule=name, learning_rate=0.5, warmup=warmup)
    rise = [0.5 * (step + 1) / 6 for step in range(5)]
    fall = [0.5 * FORMULAS[name](step / 15) for step in range(15)]
    assert rates(config, 20) == pytest.approx(rise + fall)


def test_one_cycle_peaks_after_its_warm_up_and_ends_near_nothing():
    seen = rates(plain_config(schedule="one-cycle", learning_rate=0.5, warmup=0.2), 50)
    assert max(seen) == pytest.approx(0.5)
    assert seen.index(max(seen)) == 10
    assert 0 < seen[-1] < 1e-3
    seen = rates(plain_config(schedule="one-cycle", learning_rate=0.5), 50)
    assert seen.index(max(seen)) == 15


@pytest.mark.parametrize("name", [*FORMULAS, "one-cycle"])
@pytest.mark.parametrize("warmup", [0.0, 0.5, 3.0, 100.0])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_short_trainings_have_a_schedule_too(name, warmup, steps):
    seen = rates(plain_config(schedule=name, warmup=warmup), steps)
    assert all(0 < rate <= 0.05 * (1 + 1e-12) for rate in seen)


def test_warm_up_is_a_share_below_one_and_steps_above():
    assert warmup_steps(plain_config(warmup=0.1), 200) == 20
    assert warmup_steps(plain_config(warmup=30), 200) == 30
    assert warmup_steps(plain_config(warmup=30), 10) == 10
