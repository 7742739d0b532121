import pytest
import torch

from regard.ragged import Ragged


def rows_of(*lengths, width=2):
    return Ragged(torch.randn(sum(lengths), width), torch.tensor(lengths))


def test_rows_come_back_as_they_were_laid_down():
    parts = [torch.randn(3, 2), torch.randn(0, 2), torch.randn(1, 2)]
    ragged = Ragged.from_rows(parts)
    assert len(ragged) == 3
    for row, part in zip(ragged.rows(), parts, strict=True):
        assert torch.equal(row, part)


def test_every_item_knows_its_row():
    assert rows_of(2, 0, 3).row_ids.tolist() == [0, 0, 2, 2, 2]


def test_offsets_begin_at_zero_and_end_at_the_item_count():
    assert rows_of(2, 0, 3).offsets.tolist() == [0, 2, 2, 5]


def test_no_rows_and_no_items_are_legal():
    none = Ragged(torch.zeros(0, 2), torch.zeros(0, dtype=torch.int64))
    assert len(none) == 0
    assert none.rows() == ()
    assert none.offsets.tolist() == [0]
    assert rows_of(0, 0).row_ids.tolist() == []


def test_other_items_share_the_rows():
    ragged = rows_of(1, 2)
    other = ragged.with_values(torch.arange(3))
    assert other.lengths is ragged.lengths
    assert other.row_ids is ragged.row_ids
    assert other.host_lengths == [1, 2]


def test_items_that_do_not_fill_the_rows_are_refused():
    with pytest.raises(ValueError, match="4 items do not fill rows of 3"):
        rows_of(1, 2).with_values(torch.arange(4))


@pytest.mark.parametrize("lengths", [torch.tensor([1.0]), torch.tensor([[1]]), torch.tensor(1)])
def test_lengths_must_be_whole_numbers_in_a_line(lengths):
    with pytest.raises(ValueError, match="int64 of shape"):
        Ragged(torch.zeros(1), lengths)


def test_moving_to_where_it_lies_keeps_the_layout():
    ragged = rows_of(1, 2)
    moved = ragged.to("cpu")
    assert torch.equal(moved.values, ragged.values)
    assert moved.lengths is ragged.lengths


def test_moving_elsewhere_keeps_the_lengths_known():
    ragged = rows_of(1, 2)
    assert ragged.host_lengths == [1, 2]
    moved = ragged.to("meta")
    assert moved.values.device.type == "meta"
    assert moved.host_lengths == [1, 2]


def test_lengths_that_are_known_are_not_asked_for():
    known = [2, 1]
    rows = Ragged.knowing(torch.zeros(3), torch.tensor(known), known)
    assert rows.host_lengths is known
    assert rows.with_values(torch.ones(3)).to("meta").host_lengths is known


def test_it_says_what_it_holds():
    assert repr(rows_of(1, 2)) == "Ragged(2 rows, values (3, 2) torch.float32)"
