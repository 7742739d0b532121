"""The distinct ids, in C against torch's sort; moves of rows against torch's Adam and in C."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.kernels import cpu
from regard.kernels.native import SWITCH
from regard.nn.table_rows import AdamRows, AdamStep, distinct
from support.native_cases import INSTRUCTIONS, needs_native

BY = AdamStep(first_share=0.1, second_share=0.001, rate=0.02, root=0.3, eps=1e-8)


def random_rows(count, size, dtype=torch.float32):
    generator = torch.Generator().manual_seed(size)
    table, mean = (torch.randn(count, size, generator=generator, dtype=dtype) for _ in range(2))
    return AdamRows(table, mean, torch.rand(count, size, generator=generator, dtype=dtype))


def changed(instructions, count, size, places, monkeypatch, *, threads=1):
    """What a step and then some missed ones make of random rows."""
    monkeypatch.setenv("REGARD_KERNELS", instructions)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    rows = random_rows(count, size)
    generator = torch.Generator().manual_seed(1)
    rows.step(places, torch.randn(len(places), size, generator=generator), BY)
    kinds = torch.randint(5, (len(places),), generator=generator)
    rows.drift(places, torch.rand(5, 6, generator=generator), kinds)
    torch.set_num_threads(before)
    return [rows.table, rows.mean, rows.square]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_steps_are_those_of_torchs_adam(dtype):
    rows = random_rows(9, 5, dtype)
    rows.mean.zero_()
    rows.square.zero_()
    weight = rows.table.clone().requires_grad_()
    optimizer = torch.optim.Adam([weight], lr=0.02, betas=(0.9, 0.999))
    for step in range(1, 8):
        gradient = torch.randn(9, 5, dtype=dtype, generator=torch.Generator().manual_seed(step))
        weight.grad = gradient.clone()
        optimizer.step()
        by = AdamStep(0.1, 0.001, 0.02 / (1 - 0.9**step), math.sqrt(1 - 0.999**step), 1e-8)
        order = torch.randperm(9, generator=torch.Generator().manual_seed(step))
        rows.step(order, gradient[order], by)
    torch.testing.assert_close(rows.table, weight.detach(), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(rows.mean, optimizer.state[weight]["exp_avg"])
    torch.testing.assert_close(rows.square, optimizer.state[weight]["exp_avg_sq"])


@needs_native
@pytest.mark.parametrize("size", [1, 7, 16, 200])
@pytest.mark.parametrize("instructions", INSTRUCTIONS)
def test_the_kernel_moves_rows_as_the_plain_version_does(instructions, size, monkeypatch):
    places = torch.tensor([4, 0, 98, 17, *range(40, 90)])
    found = changed(instructions, 99, size, places, monkeypatch)
    wanted = changed("0", 99, size, places, monkeypatch)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)
    others = torch.ones(99, dtype=torch.bool)
    others[places] = False
    assert torch.equal(found[0][others], random_rows(99, size).table[others])


@needs_native
def test_threads_change_no_bit(monkeypatch):
    places = torch.randperm(3000)
    alone = changed("1", 3000, 100, places, monkeypatch)
    together = changed("1", 3000, 100, places, monkeypatch, threads=2)
    assert all(map(torch.equal, alone, together))


@pytest.mark.parametrize("instructions", ["0", "1"])
def test_no_places_are_no_moves(instructions, monkeypatch):
    found = changed(instructions, 5, 3, torch.zeros(0, dtype=torch.int64), monkeypatch)
    assert torch.equal(found[0], random_rows(5, 3).table)


def test_a_table_of_columns_is_moved_as_one_of_rows():
    """Issue 10: C takes rows that lie one after the other; an assert stood here alone."""
    rows, places = random_rows(9, 5), torch.tensor([2, 7])
    turned = AdamRows(rows.table.t().contiguous().t(), rows.mean.clone(), rows.square.clone())
    assert not turned.table.is_contiguous()
    gradient, missed, kinds = torch.randn(2, 5), torch.rand(1, 6), torch.tensor([0, 0])
    for each in (rows, turned):
        each.step(places, gradient, BY)
        each.drift(places, missed, kinds)
    torch.testing.assert_close(turned.table, rows.table)


@needs_native
def test_the_kernel_refuses_what_it_would_misread():
    rows = random_rows(5, 3)
    tensors = (rows.table, rows.mean, rows.square)
    missed, kind = torch.zeros(1, 6), torch.tensor([0])
    for wrong in (5, -1):
        with pytest.raises(IndexError, match="places must be from 0 to 4"):
            cpu.drift_rows(tensors, torch.tensor([wrong]), missed, kind)
    with pytest.raises(IndexError, match="kinds must be from 0 to 0"):
        cpu.drift_rows(tensors, torch.tensor([1]), missed, torch.tensor([1]))
    with pytest.raises(ValueError, match="there are 2 places, but 1 kinds"):
        cpu.drift_rows(tensors, torch.tensor([1, 2]), missed, kind)
    with pytest.raises(ValueError, match=r"need missed as torch.float32 \(1, 6\)"):
        cpu.drift_rows(tensors, torch.tensor([1]), torch.zeros(1, 5), kind)
    with pytest.raises(ValueError, match=r"need mean as torch.float32 \(5, 3\)"):
        cpu.drift_rows(
            (rows.table, rows.mean.double(), rows.square), torch.tensor([1]), missed, kind
        )


@given(st.lists(st.integers(0, 199)), st.integers(200, 300))
def test_the_distinct_ids_are_those_of_a_sort(ids, limit):
    given_ids = torch.tensor(ids, dtype=torch.int64)
    wanted = torch.unique(given_ids, return_inverse=True)
    assert all(map(torch.equal, distinct(given_ids, limit), wanted))


@pytest.mark.parametrize("switch", ["0", "1"])
def test_the_last_id_and_the_first_are_found_with_and_without_c(switch, monkeypatch):
    monkeypatch.setenv(SWITCH, switch)
    for limit in (1, 63, 64, 65, 100_000):
        found, index = distinct(torch.tensor([limit - 1, 0, limit - 1]), limit)
        assert found.tolist() == sorted({0, limit - 1})
        assert found[index].tolist() == [limit - 1, 0, limit - 1]


def test_ids_of_another_type_or_shape_are_sorted():
    ids = torch.tensor([[3, 1], [3, 2]], dtype=torch.int32)
    found, index = distinct(ids, 4)
    assert torch.equal(found[index], ids)


@needs_native
def test_the_kernel_refuses_ids_out_of_range():
    for wrong in ([0, 5], [-1, 2]):
        with pytest.raises(IndexError, match="ids must be from 0 to 4"):
            cpu.distinct(torch.tensor(wrong), 5)
    with pytest.raises(ValueError, match=r"ids must be torch\.int64"):
        cpu.distinct(torch.tensor([1.0]), 5)


def test_of_no_ids_none_is_distinct():
    found, index = distinct(torch.zeros(0, dtype=torch.int64), 0)
    assert found.shape == index.shape == (0,)
