"""A linear layer that gives a row the same bits in any company."""

import pytest
import torch
from torch import nn

from regard.nn.steady import SteadyLinear
from support.native_cases import needs_native


def made(size, width):
    torch.manual_seed(size)
    return SteadyLinear(size, width), torch.randn(64, size)


@pytest.mark.parametrize(("size", "width"), [(1, 1), (100, 2), (100, 52), (7, 300)])
def test_it_is_a_linear_layer(size, width):
    layer, rows = made(size, width)
    plain = nn.Linear(size, width)
    plain.load_state_dict(layer.state_dict())
    with torch.no_grad():
        torch.testing.assert_close(layer(rows), plain(rows))
        assert layer(rows[:0]).shape == (0, width)


@needs_native
@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 33])
def test_company_changes_not_a_bit(count):
    layer, rows = made(100, 2)
    with torch.inference_mode():
        parts = torch.cat([layer(part) for part in rows.split(count)])
        assert torch.equal(parts, layer(rows))


def test_gradients_are_those_of_torch():
    layer, rows = made(9, 4)
    plain = nn.Linear(9, 4)
    plain.load_state_dict(layer.state_dict())
    for one in (layer, plain):
        one(rows).square().sum().backward()
    assert torch.equal(layer.weight.grad, plain.weight.grad)
    assert torch.equal(layer.bias.grad, plain.bias.grad)
