"""Optimizers against torch's plain versions, and the limit on gradients."""

import math

import pytest
import torch
from torch import nn

from regard.training.optimizers import (
    OPTIMIZERS,
    build_optimizer,
    build_schedule,
    clip_gradients,
    warmup_steps,
)
from support.toys import plain_config

PLAIN = {
    "adam": lambda p: torch.optim.Adam(
        p, lr=0.1, betas=(0.8, 0.999), weight_decay=0.01, foreach=False
    ),
    "adamw": lambda p: torch.optim.AdamW(
        p, lr=0.1, betas=(0.8, 0.999), weight_decay=0.01, foreach=False
    ),
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.8, weight_decay=0.01, foreach=False),
}


def small_network():
    network = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 1))
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return network


def moved(optimizer, network):
    for step in range(5):
        optimizer.zero_grad()
        network(torch.full((2, 4), step + 1.0)).square().sum().backward()
        optimizer.step()
    return [parameter.detach().clone() for parameter in network.parameters()]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_moves_weights_as_torchs_plain_one_does(name):
    """001-19: Adam, AdamW and SGD with momentum, whose settings all arrive."""
    ours, plain = small_network(), small_network()
    config = plain_config(optimizer=name, learning_rate=0.1, momentum=0.8, weight_decay=0.01)
    expected = moved(PLAIN[name](plain.parameters()), plain)
    torch.testing.assert_close(moved(build_optimizer(ours, config), ours), expected)


def test_every_optimizer_in_the_settings_is_in_the_table():
    for name in OPTIMIZERS:
        assert plain_config(optimizer=name).optimizer == name


def test_frozen_parameters_are_left_out():
    network = small_network()
    network[0].weight.requires_grad_(False)
    groups = build_optimizer(network, plain_config()).param_groups
    assert len(groups[0]["params"]) == 3


@pytest.mark.parametrize("limit", [0.5, 1e-3, 1e9, None])
def test_a_clipped_gradient_is_no_longer_than_its_limit(limit):
    """001-19: the norm after clipping is at most the limit, and the direction stays."""
    network = small_network()
    network(torch.ones(2, 4)).square().sum().backward()
    before = torch.cat([p.grad.flatten() for p in network.parameters()])
    norm = clip_gradients(network.parameters(), limit)
    after = torch.cat([p.grad.flatten() for p in network.parameters()])
    torch.testing.assert_close(norm, before.norm())
    if limit is None or limit > norm:
        torch.testing.assert_close(after, before)
    else:
        assert after.norm() <= limit
        torch.testing.assert_close(after / after.norm(), before / before.norm())


def test_parameters_without_a_gradient_do_not_disturb_clipping():
    network = small_network()
    assert clip_gradients(network.parameters(), 1.0) == 0
    assert clip_gradients(network.parameters(), None) == 0


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
