import pytest
import torch

from regard.nn.padding import pad, unpad
from regard.ragged import Ragged


@pytest.mark.parametrize("lengths", [[2, 0, 3, 1], [4], [0, 0], []])
def test_rows_are_filled_up_with_zeros_and_taken_out_again(lengths):
    values = torch.arange(1.0, 1 + 2 * sum(lengths)).view(-1, 2)
    rows = Ragged(values, torch.tensor(lengths, dtype=torch.int64))
    padded = pad(rows)
    assert padded.shape == (len(lengths), max(lengths, default=0), 2)
    for found, row in zip(padded, rows.rows(), strict=True):
        assert torch.equal(found[: len(row)], row)
        assert not found[len(row) :].any()
    assert torch.equal(unpad(padded, rows).values, values)


def test_numbers_are_padded_like_vectors():
    rows = Ragged(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1, 2]))
    assert pad(rows).tolist() == [[1.0, 0.0], [2.0, 3.0]]


def test_gradients_go_there_and_back():
    values = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    rows = Ragged(values, torch.tensor([1, 3]))
    assert torch.autograd.gradcheck(lambda v: pad(rows.with_values(v)), values)
    assert torch.autograd.gradcheck(
        lambda v: unpad(pad(rows.with_values(v)) ** 2, rows).values, values
    )
