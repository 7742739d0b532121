"""What the usages of BERT cost while they are learnt, and what is made of their scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..data.masking import UNASKED
from ..data.tuning import TuningBatch
from ..models.tuned_bert import TunedBert
from ..nn.rows import row_max, row_sum
from ..ragged import Ragged
from .loss import Loss

__all__ = ["BEGINS", "ENDS", "Answer", "TuningLoss", "best_span", "row_log_sum"]

BEGINS, ENDS = 1, 2
"""What a piece is to a span: its first, its last, or with both numbers added the only one."""

Asked = Literal["classes", "spans"]


@dataclass(frozen=True)
class TuningLoss:
    """The cost of a class, of each row or each piece; or of where a span begins and ends.

    Where several spans are right, any of them will do: the cost is of all of them together.
    """

    asked: Asked
    label_smoothing: float = 0.0

    def __call__(self, model: TunedBert, batch: TuningBatch, progress: float = 0.0) -> Loss:
        """Say what the answers cost, however far the training has come."""
        return self.of(model(batch.ids, batch.segments), batch)

    def of(self, scores: Tensor, batch: TuningBatch) -> Loss:
        """Say what scores cost."""
        # Sixteen bits are enough for a network, not for the logarithm of a probability.
        scores = scores.float()
        rows = torch.tensor(float(len(batch)))
        if self.asked == "spans":
            total = _span_costs(scores, batch).sum()
            return Loss(total, rows, total.new_zeros(()), rows)
        total = cross_entropy(
            scores,
            batch.answers,
            ignore_index=UNASKED,
            reduction="sum",
            label_smoothing=self.label_smoothing,
        )
        count = (batch.answers != UNASKED).sum().float().clamp(min=1)
        return Loss(total, count, total.new_zeros(()), rows)

    def right(self, scores: Tensor, batch: TuningBatch) -> tuple[Tensor, Tensor]:
        """How many answers are right, and how many were asked for."""
        if self.asked == "classes":
            asked = batch.answers != UNASKED
            return ((scores.argmax(1) == batch.answers) & asked).sum(), asked.sum()
        found = [
            _best_hits(scores[:, column], batch, part) for column, part in enumerate((BEGINS, ENDS))
        ]
        return (found[0] & found[1]).sum(), torch.tensor(len(batch), device=scores.device)

    def to(self, device: torch.device) -> TuningLoss:
        """The same on any device."""
        return self


def _span_costs(scores: Tensor, batch: TuningBatch) -> Tensor:
    """What both ends of the spans cost, (rows,)."""
    costs = scores.new_zeros(len(batch))
    for column, part in enumerate((BEGINS, ENDS)):
        own = scores[:, column]
        right = own.masked_fill(batch.answers & part == 0, -1e9)
        rows = batch.ids
        costs = costs + row_log_sum(rows.with_values(own)) - row_log_sum(rows.with_values(right))
    return costs / 2


def row_log_sum(scores: Ragged) -> Tensor:
    """The logarithm of the summed exponentials of each row, (rows,)."""
    peaks = row_max(scores.with_values(scores.values.detach()))
    grown = torch.exp(scores.values - peaks.index_select(0, scores.row_ids))
    return torch.log(row_sum(scores.with_values(grown))) + peaks


def _best_hits(scores: Tensor, batch: TuningBatch, part: int) -> Tensor:
    """Whether the best piece of each row is right, (rows,)."""
    peaks = row_max(batch.ids.with_values(scores)).index_select(0, batch.ids.row_ids)
    hits = (scores == peaks) & (batch.answers & part > 0)
    return row_max(batch.ids.with_values(hits.float())) > 0


@dataclass(frozen=True, slots=True)
class Answer:
    """The best span of a row, by the places of its first and last piece."""

    first: int
    last: int
    score: float


def best_span(scores: NDArray[np.float32], first: int, last: int, longest: int) -> Answer:
    """The best span of scores, (pieces, 2), within the places ``first`` to ``last`` (excluded)."""
    begins, ends = scores[first:last, 0], scores[first:last, 1]
    count = len(begins)
    # For each end the best beginning among the ``longest`` before it.
    best = np.full(count, -np.inf, dtype=np.float64)
    where = np.zeros(count, dtype=np.int64)
    for back in range(min(longest, count)):
        earlier = begins[: count - back]
        better = earlier > best[back:]
        best[back:] = np.where(better, earlier, best[back:])
        where[back:] = np.where(better, np.arange(count - back), where[back:])
    total = best + ends
    end = int(total.argmax())
    return Answer(first + int(where[end]), first + end, float(total[end]))
