import math

import pytest
import torch

from regard.nn.positions import causal_mask, read_order, row_positions, sinusoids
from regard.ragged import Ragged


def rows_of(*lengths):
    return Ragged(torch.zeros(sum(lengths)), torch.tensor(lengths, dtype=torch.int64))


def test_items_are_numbered_from_the_start_of_their_row():
    assert row_positions(rows_of(3, 0, 2)).tolist() == [0, 1, 2, 0, 1]


@pytest.mark.parametrize("size", [1, 2, 5, 6])
def test_sinusoids_equal_their_formula(size):
    places = torch.tensor([0, 1, 7, 100_000])
    found = sinusoids(places, size)
    half = (size + 1) // 2
    for row, place in enumerate(places.tolist()):
        angles = [place * 10_000 ** (-2 * pair / size) for pair in range(half)]
        wanted = [math.sin(a) for a in angles] + [math.cos(a) for a in angles]
        torch.testing.assert_close(found[row], torch.tensor(wanted[:size]), atol=1e-6, rtol=0)


def test_no_item_attends_to_a_later_one():
    """001-09: the upper triangle gets exactly no attention."""
    mask = causal_mask(5)
    weights = torch.softmax(torch.randn(5, 5).masked_fill(~mask, -math.inf), 1)
    assert not weights.triu(1).any()
    torch.testing.assert_close(weights.sum(1), torch.ones(5))


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("times", [1, 3])
def test_rows_are_read_in_the_order_asked_for(backward, times):
    """002-05: from the end, and several times; the last reading of each is known."""
    letters = [list("home"), [], list("I"), list("go")]
    rows = Ragged(torch.arange(7), torch.tensor([4, 0, 1, 2]))
    flat = [letter for row in letters for letter in row]
    order = read_order(rows, backward=backward, times=times)
    for row, read in zip(letters, order.items.rows(), strict=True):
        assert [flat[item] for item in read] == (row[::-1] if backward else row) * times
    assert order.items.values[order.last].tolist() == list(range(7))
    ends = order.items.offsets[1:][rows.row_ids]
    own = rows.lengths[rows.row_ids]
    assert ((order.last >= ends - own) & (order.last < ends)).all()


def test_nothing_is_read_in_no_order():
    order = read_order(Ragged(torch.zeros(0), torch.tensor([0, 0])), backward=True, times=2)
    assert order.items.lengths.tolist() == [0, 0]
    assert len(order.last) == 0
