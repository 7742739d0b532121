"""Sums, peaks and softmax along each row of a ragged tensor; and rows filled up to the longest.

Values have the shape (items,) or (items, columns); every column is worked on by itself. An
empty row gives zeros where a row gives one result, and nothing where each item gives one.
"""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import FunctionCtx, once_differentiable
from torch.nn.functional import embedding_bag

from ..ragged import Ragged
from .positions import row_positions

__all__ = [
    "pad",
    "padded_places",
    "row_max",
    "row_mean",
    "row_softmax",
    "row_sum",
    "row_weighted_sum",
    "take_rows",
    "unpad",
]


def row_sum(items: Ragged) -> Tensor:
    """Add up the items of each row, (rows, ...)."""
    values = items.values
    flat = values.reshape(values.shape[0], math.prod(values.shape[1:]))
    summed = cast(Tensor, _RowSum.apply(flat, None, items))
    return summed.view(len(items), *values.shape[1:])


def row_weighted_sum(items: Ragged, weights: Tensor) -> Tensor:
    """Add up the items of each row, each multiplied by its weight, (rows, size)."""
    return cast(Tensor, _RowSum.apply(items.values, weights.to(items.values.dtype), items))


def row_mean(items: Ragged) -> Tensor:
    """Average the items of each row, (rows, ...)."""
    sums = row_sum(items)
    counts = items.lengths.clamp(min=1).to(sums.dtype)
    return sums / counts.view(-1, *[1] * (sums.ndim - 1))


def row_max(items: Ragged) -> Tensor:
    """Return the largest item of each row, (rows, ...); equal ones share the gradient."""
    values = items.values
    floor = values.new_zeros(len(items), *values.shape[1:])
    rows = items.row_ids.view(-1, *[1] * (values.ndim - 1)).expand_as(values)
    return floor.scatter_reduce(0, rows, values, "amax", include_self=False)


def row_softmax(scores: Ragged) -> Ragged:
    """Make the items of every row positive and sum to one.

    Half precision gives single precision: rounded to half, the weights would miss one.
    """
    values = scores.values if scores.values.dtype == torch.float64 else scores.values.float()
    # Each row has a peak of its own: one for all would underflow the rows far below it.
    peaks = row_max(scores.with_values(values.detach()))
    grown = torch.exp(values - _spread(peaks, scores))
    # The sum of a long row loses too much in single precision for its weights to sum to one.
    totals = row_sum(scores.with_values(grown.double())).to(grown.dtype)
    return scores.with_values(grown / _spread(totals, scores))


def take_rows(items: Ragged, rows: Tensor, item_count: int | None = None) -> Ragged:
    """Return the rows of the given numbers, (count,), in their order; one may be taken twice.

    Who knows how many items they have together saves the host from waiting for a GPU.
    """
    taken = Ragged(rows, items.lengths.index_select(0, rows))
    starts = items.offsets.index_select(0, rows)
    if item_count is None:
        item_count = int(taken.offsets[-1])
    shifts = torch.repeat_interleave(
        starts - taken.offsets[:-1], taken.lengths, output_size=item_count
    )
    places = torch.arange(item_count, device=rows.device) + shifts
    return Ragged(items.values.index_select(0, places), taken.lengths)


def _spread(by_row: Tensor, rows: Ragged) -> Tensor:
    """Give every item what its row has; ``index_select`` is several times quicker than ``[]``."""
    return by_row.index_select(0, rows.row_ids)


class _RowSum(Function):
    """The sum of each row's items, (rows, columns), each times its weight if there are any.

    Torch's own way, ``index_add``, takes five times as long on a CPU and adds in no fixed order
    on a GPU; ``embedding_bag`` sums forward, and the way back is a lookup.
    """

    @staticmethod
    def forward(ctx: FunctionCtx, values: Tensor, weights: Tensor | None, rows: Ragged) -> Tensor:
        ctx.rows = rows  # type: ignore[attr-defined]
        ctx.save_for_backward(*(() if weights is None else (values, weights)))
        values = values.contiguous()
        if weights is None and values.dtype == torch.float64:  # where embedding_bag is slow
            return torch.segment_reduce(values, "sum", lengths=rows.lengths, initial=0, unsafe=True)
        places = torch.arange(values.shape[0], device=values.device)
        factors = None if weights is None else weights.contiguous()
        return embedding_bag(
            places, values, rows.offsets[:-1], mode="sum", per_sample_weights=factors
        )

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        spread = _spread(gradient, ctx.rows)  # type: ignore[attr-defined]
        if not ctx.saved_tensors:  # type: ignore[attr-defined]
            return spread, None, None
        values, weights = ctx.saved_tensors  # type: ignore[attr-defined]
        toward_weights = torch.linalg.vecdot(values, spread)
        return spread.mul_(weights[:, None]), toward_weights, None


def pad(rows: Ragged) -> Tensor:
    """Fill every row up to the longest with zeros, (rows, longest, ...)."""
    longest, sizes = max(rows.host_lengths, default=0), rows.values.shape[1:]
    flat = rows.values.new_zeros(len(rows) * longest, *sizes)
    return flat.index_copy(0, padded_places(rows), rows.values).view(len(rows), longest, *sizes)


def unpad(padded: Tensor, rows: Ragged) -> Ragged:
    """Take the items of ``rows`` out of what was filled up like them."""
    return rows.with_values(padded.flatten(0, 1).index_select(0, padded_places(rows)))


def padded_places(rows: Ragged) -> Tensor:
    """Say where each item stands when all rows have the length of the longest, (items,)."""
    longest = max(rows.host_lengths, default=0)
    return rows.row_ids * longest + row_positions(rows)
