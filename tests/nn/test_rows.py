import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.nn.rows import (
    pad,
    row_max,
    row_mean,
    row_softmax,
    row_sum,
    row_weighted_sum,
    take_rows,
    unpad,
)
from regard.ragged import Ragged

LENGTHS = [0, 3, 1, 0, 7, 2, 0]
TYPES = [torch.float16, torch.float32, torch.float64]


def ragged(shape=(), dtype=torch.float64, lengths=LENGTHS, seed=0):
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(sum(lengths), *shape, generator=generator, dtype=torch.float64)
    return Ragged(values.to(dtype), torch.tensor(lengths, dtype=torch.int64))


@pytest.mark.parametrize("shape", [(), (4,), (3, 2)])
def test_sums_equal_a_loop_over_rows(shape):
    items = ragged(shape)
    expected = torch.stack([row.sum(0) for row in items.rows()])
    torch.testing.assert_close(row_sum(items), expected)


@pytest.mark.parametrize("shape", [(), (4,)])
def test_means_equal_a_loop_and_are_zero_for_an_empty_row(shape):
    items = ragged(shape)
    nothing = torch.zeros(shape, dtype=torch.float64)
    expected = torch.stack([row.mean(0) if len(row) else nothing for row in items.rows()])
    torch.testing.assert_close(row_mean(items), expected)


@pytest.mark.parametrize("shape", [(), (4,)])
def test_peaks_equal_a_loop_and_are_zero_for_an_empty_row(shape):
    items = ragged(shape)
    items = items.with_values(items.values - 5)  # all negative: zero would not be the peak
    nothing = torch.zeros(shape, dtype=torch.float64)
    expected = torch.stack([row.amax(0) if len(row) else nothing for row in items.rows()])
    torch.testing.assert_close(row_max(items), expected)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_softmax_equals_a_loop(shape):
    scores = ragged(shape)
    expected = torch.cat([torch.softmax(row, 0) for row in scores.rows()])
    torch.testing.assert_close(row_softmax(scores).values, expected)


def test_weighted_sums_equal_a_loop():
    items, weights = ragged((4,)), ragged().values
    pairs = zip(items.rows(), weights.split(LENGTHS), strict=True)
    expected = torch.stack([(weight[:, None] * row).sum(0) for row, weight in pairs])
    torch.testing.assert_close(row_weighted_sum(items, weights), expected)


@pytest.mark.parametrize("dtype", TYPES)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_softmax_stays_finite_and_sums_to_one(dtype, data):
    """001-08, D2: scores of +-1e4 and empty rows, in half, single and double precision."""
    lengths = data.draw(st.lists(st.integers(0, 6), max_size=6))
    score = st.one_of(st.sampled_from([1e4, -1e4, 0.0]), st.floats(-1e4, 1e4))
    scores = data.draw(st.lists(score, min_size=sum(lengths), max_size=sum(lengths)))
    rows = Ragged(torch.tensor(scores, dtype=dtype), torch.tensor(lengths, dtype=torch.int64))
    weights = row_softmax(rows)
    assert weights.values.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    assert torch.isfinite(weights.values).all()
    assert (weights.values >= 0).all()
    sums = row_sum(weights.with_values(weights.values.double()))
    torch.testing.assert_close(sums, (rows.lengths > 0).double(), atol=1e-6, rtol=0)


def test_each_row_has_a_peak_of_its_own():
    """D2: one peak for all rows would underflow the second row to nothing."""
    rows = Ragged(torch.tensor([1e4, 1e4, -1e4, -1e4]), torch.tensor([2, 2]))
    assert row_softmax(rows).values.tolist() == [0.5, 0.5, 0.5, 0.5]


@pytest.mark.parametrize("dtype", TYPES)
def test_a_row_of_a_hundred_thousand_sums_to_one(dtype):
    """Single precision alone would miss it by far more, and half precision would overflow."""
    rows = Ragged(torch.zeros(100_000, dtype=dtype), torch.tensor([100_000]))
    total = row_softmax(rows).values.double().sum()
    assert abs(total - 1) < 1e-6


@pytest.mark.parametrize("function", [row_sum, row_mean, row_max])
@pytest.mark.parametrize("lengths", [[], [0], [0, 0]])
@pytest.mark.parametrize("dtype", TYPES)
def test_nothing_gives_zeros(function, lengths, dtype):
    rows = Ragged(torch.zeros(0, 3, dtype=dtype), torch.tensor(lengths, dtype=torch.int64))
    assert torch.equal(function(rows), torch.zeros(len(lengths), 3, dtype=dtype))
    assert row_softmax(rows).values.shape == (0, 3)


@pytest.mark.parametrize("function", [row_sum, row_mean, row_max])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_gradients_equal_finite_differences(function, shape):
    items = ragged(shape)
    values = items.values.requires_grad_()
    assert torch.autograd.gradcheck(lambda v: function(items.with_values(v)), values)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_gradient_of_softmax_equals_finite_differences(shape):
    scores = ragged(shape)
    values = scores.values.requires_grad_()
    assert torch.autograd.gradcheck(lambda v: row_softmax(scores.with_values(v)).values, values)


def test_gradients_of_weighted_sums_equal_finite_differences():
    items = ragged((3,))
    inputs = (items.values.requires_grad_(), ragged(seed=1).values.requires_grad_())
    assert torch.autograd.gradcheck(
        lambda values, weights: row_weighted_sum(items.with_values(values), weights), inputs
    )


def test_inputs_that_are_not_contiguous_are_read_right():
    wide = ragged((8,), torch.float32)
    part, columns = wide.values[:, ::2], ragged((2,), torch.float32).values
    torch.testing.assert_close(
        row_sum(wide.with_values(part)), row_sum(wide.with_values(part.contiguous()))
    )
    torch.testing.assert_close(
        row_weighted_sum(wide.with_values(part), columns[:, 1]),
        row_weighted_sum(wide.with_values(part.contiguous()), columns[:, 1].contiguous()),
    )


@pytest.mark.parametrize("numbers", [[], [4], [4, 0, 1, 1, 6], list(reversed(range(7)))])
def test_taken_rows_are_the_rows_of_those_numbers(numbers):
    items = ragged((2,))
    taken = take_rows(items, torch.tensor(numbers, dtype=torch.int64))
    expected = [items.rows()[number] for number in numbers]
    assert [len(row) for row in expected] == taken.lengths.tolist()
    assert all(torch.equal(*pair) for pair in zip(taken.rows(), expected, strict=True))
    told = take_rows(items, torch.tensor(numbers, dtype=torch.int64), len(taken.values))
    assert torch.equal(told.values, taken.values)


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
