"""The distinct ids, in C against torch's sort."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.kernels import cpu
from regard.kernels.native import SWITCH
from regard.nn.distinct import distinct
from support.native_cases import needs_native


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
