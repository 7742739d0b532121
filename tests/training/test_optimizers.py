"""Optimizers against torch's plain versions, and the limit on gradients."""

import pytest
import torch
from torch import nn

from regard.training.optimizers import OPTIMIZERS, build_optimizer, clip_gradients
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
