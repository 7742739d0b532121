"""What classes, tags and spans cost, and the best span, against plain loops."""

import itertools

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from regard.data.masking import UNASKED
from regard.data.tuning import TuningBatch
from regard.ragged import Ragged
from regard.tasks.tuning import BEGINS, ENDS, TuningLoss, best_span

LENGTHS = [4, 1, 6]


def batch(answers) -> TuningBatch:
    """Rows of pieces that are asked this."""
    ids = Ragged(torch.arange(sum(LENGTHS)), torch.tensor(LENGTHS))
    return TuningBatch(ids, torch.zeros(sum(LENGTHS)), torch.tensor(answers))


def scores(columns: int, rows: int = sum(LENGTHS)) -> torch.Tensor:
    """Scores of pieces, or of rows."""
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(columns))


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_classes_cost_what_torch_says(smoothing):
    """The mean over what is asked; a piece that nobody asks about costs nothing."""
    answers = [UNASKED, 2, 0, UNASKED, 1, UNASKED, 0, 0, 2, 1, UNASKED]
    loss = TuningLoss("classes", smoothing).of(scores(3), batch(answers))
    expected = cross_entropy(scores(3), torch.tensor(answers), label_smoothing=smoothing)
    torch.testing.assert_close(loss.mean, expected)
    right = (scores(3).argmax(1) == torch.tensor(answers)).sum()
    assert TuningLoss("classes").right(scores(3), batch(answers)) == (right, 7)


def test_rows_that_are_not_asked_cost_nothing():
    """There is nothing to divide by then."""
    loss = TuningLoss("classes").of(scores(2, 3), batch([UNASKED] * 3))
    assert float(loss.mean) == 0


def test_a_span_costs_the_mean_of_both_its_ends():
    """Of each row: a softmax over its own pieces, for where it begins and for where it ends."""
    answers = [0, BEGINS, ENDS, 0, BEGINS | ENDS, 0, 0, 0, 0, BEGINS, ENDS]
    loss = TuningLoss("spans").of(scores(2), batch(answers))
    costs = []
    for row, (begin, end) in zip(scores(2).split(LENGTHS), [(1, 2), (0, 0), (4, 5)], strict=True):
        logs = torch.log_softmax(row, 0)
        costs.append(-(logs[begin, 0] + logs[end, 1]) / 2)
    torch.testing.assert_close(loss.mean, torch.stack(costs).mean())


def test_any_of_several_spans_will_do():
    """What their beginnings are likely together counts, and so their ends."""
    answers = [BEGINS, ENDS, BEGINS, ENDS, BEGINS | ENDS, *[0] * 4, BEGINS, ENDS]
    loss = TuningLoss("spans").of(scores(2), batch(answers))
    likely = [torch.softmax(row, 0) for row in scores(2).split(LENGTHS)]
    both = (likely[0][[0, 2], 0].sum().log() + likely[0][[1, 3], 1].sum().log()) / 2
    last = (likely[2][4, 0].log() + likely[2][5, 1].log()) / 2
    torch.testing.assert_close(loss.total, -(both + last))


def test_a_span_is_right_where_both_its_ends_are():
    """The best piece of each row, for each end."""
    begins = [0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0]
    ends = [0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0]
    given = torch.tensor([begins, ends]).T
    answers = [0, BEGINS, ENDS, 0, BEGINS | ENDS, 0, 0, BEGINS, ENDS, 0, 0]
    assert TuningLoss("spans").right(given, batch(answers)) == (2, 3)


@pytest.mark.parametrize("longest", [1, 2, 5, 99])
def test_the_best_span_is_the_best_of_all(longest):
    """No longer than allowed, within its places, and up to the very last of them."""
    draw = np.random.default_rng(longest)
    for first, last in [(0, 1), (3, 4), (2, 9), (0, 12), (11, 12)] * 20:
        given = draw.normal(size=(12, 2)).astype(np.float32)
        every = {
            (begin, end): float(given[begin, 0]) + float(given[end, 1])
            for begin, end in itertools.combinations_with_replacement(range(first, last), 2)
            if end - begin < longest
        }
        found = best_span(given, first, last, longest)
        assert (found.first, found.last) == max(every, key=every.__getitem__)
        assert found.score == pytest.approx(max(every.values()))
