import pytest
import torch

from regard.kernels import cpu
from regard.kernels.native import SWITCH
from regard.nn.dropout import drop, plain_drop
from support.native_cases import INSTRUCTIONS, needs_native

pytestmark = needs_native

DRAW = cpu.Draw(seed=0x1234_5678_9ABC_DEF0, threshold=1 << 30, scale=4 / 3)


@pytest.fixture(params=INSTRUCTIONS)
def instructions(request, monkeypatch):
    monkeypatch.setenv(SWITCH, request.param)


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (63,), (64,), (65,), (7, 5, 3), (513, 211)])
def test_every_instruction_set_drops_the_same_as_the_plain_way(shape, instructions):
    """The same bits, forward and back."""
    values = torch.randn(shape, generator=torch.Generator().manual_seed(2))
    toward = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    ways = []
    for way in (cpu.drop, plain_drop):
        given = values.clone().requires_grad_()
        dropped = way(given, DRAW)
        dropped.backward(toward)
        ways.append((dropped.detach(), given.grad))
    assert torch.equal(ways[0][0], ways[1][0])
    assert torch.equal(ways[0][1], ways[1][1])


@pytest.mark.parametrize("threshold", [0, 1, 2**31, 2**32 - 1])
def test_any_threshold_is_the_plain_one(threshold, instructions):
    draw = cpu.Draw(seed=5, threshold=threshold, scale=1.5)
    values = torch.ones(1000)
    assert torch.equal(cpu.drop(values, draw), plain_drop(values, draw))


def test_rows_that_do_not_lie_side_by_side_are_dropped_as_if_they_did():
    values = torch.randn(40, 30).t()
    assert torch.equal(cpu.drop(values, DRAW), cpu.drop(values.contiguous(), DRAW))


def test_the_number_of_threads_changes_nothing(restore_threads):
    values = torch.randn(300, 401)
    found = []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        torch.manual_seed(4)
        found.append(drop(values, 0.5, True))
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


def test_the_switch_changes_nothing(monkeypatch):
    """Whether C runs must not show in what a seed gives."""
    torch.manual_seed(6)
    quick = drop(torch.ones(50, 9), 0.3, True)
    monkeypatch.setenv(SWITCH, "0")
    torch.manual_seed(6)
    assert torch.equal(drop(torch.ones(50, 9), 0.3, True), quick)


def test_other_types_are_refused_with_their_name():
    with pytest.raises(ValueError, match=r"values as torch\.float32"):
        cpu.drop(torch.ones(3, dtype=torch.float64), DRAW)


@pytest.fixture
def restore_threads():
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
