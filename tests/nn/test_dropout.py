import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from regard.nn.dropout import draw_words, drop, in_evaluation


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
    values = torch.linspace(1, 2, 40, dtype=dtype).requires_grad_()
    dropped = drop(values, 0.25, True)
    dropped.sum().backward()
    assert dropped.dtype == dtype
    assert torch.equal(values.grad != 0, dropped != 0)


def test_nothing_can_be_dropped():
    assert drop(torch.zeros(0, 3), 0.5, True).shape == (0, 3)


def test_the_words_are_those_of_philox():
    """The first counters of the published test vectors, of a seed of zeros."""
    words = draw_words(64, 0).view(4, 16)
    expected = [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert words[:, 0].tolist() == expected


@given(seed=st.integers(0, 2**63 - 1), count=st.integers(1, 300))
def test_the_words_are_those_of_philox_written_with_plain_numbers(seed, count):
    words = draw_words(count, seed).tolist()
    place = count - 1
    group, rest = divmod(place, 64)
    word, lane = divmod(rest, 16)
    assert words[place] == philox(group * 16 + lane, seed)[word]


def philox(counter, seed):
    low = 2**32 - 1
    a, b, c, d = counter & low, counter >> 32, 0, 0
    first_key, second_key = seed & low, seed >> 32
    for _ in range(10):
        first, second = a * 0xD2511F53, c * 0xCD9E8D57
        a, b = second >> 32 ^ b ^ first_key, second & low
        c, d = first >> 32 ^ d ^ second_key, first & low
        first_key, second_key = first_key + 0x9E3779B9 & low, second_key + 0xBB67AE85 & low
    return a, b, c, d


def test_dropping_is_independent_from_place_to_place_and_from_seed_to_seed():
    """Bounds of five standard deviations: a shared generator would show as a correlation."""
    one, other = (draw_words(1 << 16, seed).double() / 2**32 - 0.5 for seed in (11, 12))
    most = 5 / 2**8
    assert correlation(one, other).abs() < most
    for apart in (1, 4, 16, 64, 200):
        assert correlation(one[apart:], one[:-apart]).abs() < most
    counts = torch.histc(one, 64, -0.5, 0.5)
    assert ((counts - 1024) ** 2 / 1024).sum() < 63 + 5 * (2 * 63) ** 0.5


def correlation(one, other):
    return torch.corrcoef(torch.stack([one, other]))[0, 1]


def test_the_rest_makes_up_for_what_is_dropped_twice():
    """The gradient of the gradient goes the same way: dropping is multiplication by constants."""
    values = torch.randn(90, requires_grad=True)
    torch.manual_seed(1)
    dropped = drop(values, 0.4, True)
    (gradient,) = torch.autograd.grad((dropped**2).sum(), values, create_graph=True)
    (second,) = torch.autograd.grad(gradient.sum(), values)
    torch.testing.assert_close(second, torch.where(dropped != 0, 2 / 0.6**2, 0.0))


def modes(module):
    return [part.training for part in module.modules()]


def test_every_part_is_in_evaluation_and_then_as_it_was():
    network = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    network[0].eval()
    with in_evaluation(network):
        assert modes(network) == [False, False, False]
    assert modes(network) == [True, False, True]


def test_an_error_leaves_the_modes_as_they_were():
    network = nn.Dropout(0.5)
    with pytest.raises(ValueError, match="asked in vain"), in_evaluation(network):
        raise ValueError("asked in vain")
    assert network.training


def test_nothing_is_written_where_nothing_changes(monkeypatch):
    network = nn.Sequential(nn.Dropout(0.5)).eval()
    written = []
    monkeypatch.setattr(nn.Module, "__setattr__", lambda *given: written.append(given))
    with in_evaluation(network):
        pass
    assert not written
