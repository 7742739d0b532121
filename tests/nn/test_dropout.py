import pytest
import torch

from regard.nn.dropout import drop


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_share_is_dropped_and_the_mean_stays(share):
    torch.manual_seed(0)
    dropped = drop(torch.ones(400, 500), share, True)
    assert dropped.unique().tolist() == pytest.approx([0.0, 1 / (1 - share)])
    assert (dropped == 0).float().mean().item() == pytest.approx(share, abs=0.01)
    assert dropped.mean().item() == pytest.approx(1, abs=0.03)


def test_nothing_is_dropped_outside_training_or_without_a_share():
    values = torch.randn(5, 3)
    assert torch.equal(drop(values, 0.5, False), values)
    assert torch.equal(drop(values, 0.0, True), values)


def test_what_is_dropped_comes_from_the_seed():
    draws = []
    for _ in range(2):
        torch.manual_seed(3)
        draws.append(drop(torch.ones(50), 0.5, True))
    assert torch.equal(*draws)
    assert not torch.equal(draws[0], drop(torch.ones(50), 0.5, True))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_the_type_stays_and_the_gradient_is_that_of_the_kept(dtype):
    values = torch.randn(40, dtype=dtype, requires_grad=True)
    dropped = drop(values, 0.25, True)
    dropped.sum().backward()
    assert dropped.dtype == dtype
    assert torch.equal(values.grad != 0, dropped != 0)


def test_nothing_can_be_dropped():
    assert drop(torch.zeros(0, 3), 0.5, True).shape == (0, 3)
