import pytest
import torch

from regard.nn.packing import Packing
from regard.ragged import Ragged

LENGTHS = [2, 0, 4, 1, 4]


def rows_of(lengths):
    return Ragged(torch.arange(sum(lengths)), torch.tensor(lengths, dtype=torch.int64))


def test_a_visit_goes_step_by_step_from_the_longest_row_to_the_shortest():
    packing = Packing(rows_of(LENGTHS))
    # Rows start at items 0, 2, 2, 6, 7; the longest are the third and the fifth.
    assert packing.sizes == [4, 3, 2, 2]
    assert packing.source.tolist() == [2, 7, 0, 6, 3, 8, 1, 4, 9, 5, 10]


def test_a_backward_visit_begins_at_the_ends_of_the_rows():
    packing = Packing(rows_of(LENGTHS), backward=(True,))
    assert packing.source.tolist() == [5, 10, 1, 6, 4, 9, 0, 3, 8, 2, 7]


def test_two_directions_go_side_by_side():
    both = Packing(rows_of(LENGTHS), backward=(False, True))
    ahead, back = Packing(rows_of(LENGTHS)), Packing(rows_of(LENGTHS), backward=(True,))
    pairs = both.source.view(-1, 2)
    assert torch.equal(pairs[:, 0], ahead.source * 2)
    assert torch.equal(pairs[:, 1], back.source * 2 + 1)
    assert both.sizes == [2 * size for size in ahead.sizes]


@pytest.mark.parametrize("lengths", [LENGTHS, [], [0], [1], [3], [0, 5, 0]])
def test_place_and_source_undo_each_other(lengths):
    packing = Packing(rows_of(lengths), backward=(False, True))
    assert torch.equal(packing.place[packing.source], torch.arange(2 * sum(lengths)))
    assert sum(packing.sizes) == 2 * sum(lengths)


@pytest.mark.parametrize("slots", [1, 3, 5, 100])
@pytest.mark.parametrize("steps", [1, 2, 100])
def test_spans_cover_all_steps_in_order_within_their_limits(slots, steps):
    packing = Packing(rows_of(LENGTHS))
    spans = list(packing.spans(slots=slots, steps=steps))
    assert [size for span in spans for size in span.sizes] == packing.sizes
    assert [span.start for span in spans] == [0, *(span.stop for span in spans[:-1])]
    assert [span.before for span in spans] == [0, *(span.sizes[-1] for span in spans[:-1])]
    for span in spans:
        assert span.stop - span.start == sum(span.sizes)
        assert len(span.sizes) == 1 or sum(span.sizes) <= slots
        assert len(span.sizes) <= steps


def test_nothing_has_no_spans():
    assert list(Packing(rows_of([0, 0])).spans(slots=8, steps=8)) == []
