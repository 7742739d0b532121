import ctypes
import itertools

import pytest
import torch

from regard.kernels.cpu.jobs import Layout, padded, padded_rows
from regard.kernels.native import Job
from regard.ragged import Ragged


def numbers(layout, name, count):
    address = getattr(layout, name)
    return list((ctypes.c_int64 * count).from_address(address))


def test_padded_rows_begin_on_an_odd_number_of_cache_lines():
    for size in range(1, 2000):
        step = padded(size)
        assert step >= size and step % 16 == 0 and step // 16 % 2 == 1


def test_padded_rows_end_in_zeros():
    rows = torch.randn(2, 3, 20)
    copy = padded_rows(rows)
    assert torch.equal(copy[..., :20], rows) and not copy[..., 20:].any()


def test_padded_rows_lie_row_after_row_even_where_nothing_is_added():
    copy = padded_rows(torch.randn(48, 7).t())
    assert copy.shape == (7, 48) and copy.is_contiguous()


def test_rows_are_ordered_from_longest_to_shortest():
    layout = Layout.by_length(Ragged(torch.zeros(12), torch.tensor([2, 0, 5, 2, 3])))
    assert numbers(layout, "order", 5) == [2, 4, 0, 3, 1]
    assert numbers(layout, "starts", 6) == [0, 2, 2, 7, 9, 12]


@pytest.mark.parametrize("rows", [1, 7, 400, 5000])
def test_shares_hold_every_block_once(rows):
    lengths = torch.randint(0, 90, (rows,), generator=torch.Generator().manual_seed(rows))
    ragged = Ragged(torch.zeros(int(lengths.sum())), lengths)
    for layout, blocks in (
        (Layout.by_length(ragged), -(-rows // 8)),
        (Layout.in_order(ragged), rows),
    ):
        shares = numbers(layout, "shares", layout.share_count + 1)
        assert shares[0] == 0 and shares[-1] == blocks
        assert shares == sorted(shares)
        assert 1 <= layout.share_count <= 16


def test_shares_have_about_the_same_work():
    lengths = torch.randint(1, 60, (4000,), generator=torch.Generator().manual_seed(0))
    layout = Layout.in_order(Ragged(torch.zeros(int(lengths.sum())), lengths))
    shares = numbers(layout, "shares", layout.share_count + 1)
    work = [int(lengths[a:b].sum()) for a, b in itertools.pairwise(shares)]
    assert max(work) < 1.05 * sum(work) / len(work)


def test_a_job_keeps_its_tensors_alive():
    class Example(Job):
        _fields_ = (("numbers", ctypes.c_void_p),)

    job = Example()
    job.fill(numbers=torch.arange(1000))
    torch.zeros(1000, dtype=torch.int64)
    assert numbers(job, "numbers", 1000) == list(range(1000))


def test_a_row_of_negative_length_is_an_error():
    with pytest.raises(ValueError, match="a row cannot have -2 items"):
        Layout.in_order(Ragged(torch.zeros(1), torch.tensor([-2, 3])))


def test_tensors_that_c_would_misread_are_refused():
    for wrong in (torch.zeros(8)[::2], torch.zeros(4, device="meta")):
        with pytest.raises(ValueError, match="order does not lie in memory item after item"):
            Layout().fill(order=wrong)
