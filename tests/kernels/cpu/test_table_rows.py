import pytest
import torch

from regard.kernels import cpu
from support.native_cases import INSTRUCTIONS, distance, needs_native

pytestmark = needs_native


def parts(size, width, count=37):
    torch.manual_seed(size)
    return torch.randn(count, size), torch.randn(width, size), torch.randn(width)


@pytest.mark.parametrize("size", [1, 5, 16, 200])
@pytest.mark.parametrize("width", [1, 7, 48, 300])
@pytest.mark.parametrize("instructions", INSTRUCTIONS)
def test_it_is_a_linear_layer(instructions, width, size, monkeypatch):
    monkeypatch.setenv("REGARD_KERNELS", instructions)
    items, weight, bias = parts(size, width)
    wanted = items.double() @ weight.double().t() + bias.double()
    assert distance(cpu.project(items, weight, bias), wanted) < 1e-6
    assert cpu.project(items[:0], weight, bias).shape == (0, width)


def test_a_row_has_the_same_bits_in_any_company():
    """Where a text is answered must not change its answer."""
    items, weight, bias = parts(200, 300, count=203)
    whole = cpu.project(items, weight, bias)
    for rows in (slice(5, 6), slice(0, 9), slice(100, 203), torch.tensor([7, 3, 202, 3])):
        assert torch.equal(cpu.project(items[rows], weight, bias), whole[rows])


def test_some_rows_of_a_table_are_filled_and_no_others():
    items, weight, bias = parts(20, 30)
    table = torch.full((37, 30), 9.0)
    places = torch.tensor([36, 0, 5])
    cpu.project_into(table, places, items=items, weight=weight, bias=bias)
    assert torch.equal(table[places], cpu.project(items, weight, bias)[places])
    untouched = torch.ones(37, dtype=torch.bool)
    untouched[places] = False
    assert (table[untouched] == 9).all()


@pytest.mark.parametrize("count", [1, 5000])
def test_threads_change_no_bit(count):
    items, weight, bias = parts(50, 60, count=count)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        wanted = cpu.project(items, weight, bias)
        torch.set_num_threads(2)
        assert torch.equal(cpu.project(items, weight, bias), wanted)
    finally:
        torch.set_num_threads(before)


def test_odd_memory_is_read_right_and_wrong_input_is_refused():
    items, weight, bias = parts(8, 12)
    turned = items.t().contiguous().t()
    assert torch.equal(cpu.project(turned, weight, bias), cpu.project(items, weight, bias))
    with pytest.raises(ValueError, match="items"):
        cpu.project(items[:, 1:], weight, bias)
    with pytest.raises(ValueError, match="items"):
        cpu.project(items.double(), weight, bias)
    with pytest.raises(ValueError, match="bias"):
        cpu.project(items, weight, bias[1:])
    for places in ([-1], [37], [0, 99]):
        with pytest.raises(IndexError, match="from 0 to 36"):
            cpu.project_into(
                torch.zeros(37, 12), torch.tensor(places), items=items, weight=weight, bias=bias
            )
