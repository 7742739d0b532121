"""Attention along ragged rows on a GPU: softmax and weighted sum in one launch, and back."""

# A kernel is typed by its arguments when it is compiled, so the checker has nothing to hold on to.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

__all__ = ["RowAttention"]

# Items that a program takes at once; sentences and documents rarely have many more.
_ITEMS = 16


class _Context(FunctionCtx):
    """What the way forward leaves for the way back."""

    dtype: torch.dtype
    saved_tensors: tuple[Tensor, ...]


class RowAttention(torch.autograd.Function):
    """Softmax along every row, and the sum of the row's values by it."""

    @staticmethod
    def forward(
        ctx: _Context, scores: Tensor, values: Tensor, lengths: Tensor, offsets: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Give the sums, (rows, size), and the weights, (items,)."""
        size = values.shape[1]
        pooled = torch.empty(lengths.shape[0], size, device=values.device)
        weights = torch.empty(scores.shape[0], device=values.device)
        attend[(lengths.shape[0],)](
            scores, values, lengths, offsets, pooled, weights, scores.shape[0], size,
            ITEMS=_ITEMS, TILE=_tile(size),
        )  # fmt: skip
        ctx.save_for_backward(values, weights, pooled, lengths, offsets)
        ctx.set_materialize_grads(False)
        ctx.dtype = scores.dtype
        return pooled.to(values.dtype), weights

    @staticmethod
    @once_differentiable
    def backward(
        ctx: _Context, pooled_gradient: Tensor | None, weight_gradient: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None, None, None]:
        """Give the gradients of scores and values; either gradient may be absent."""
        values, weights, pooled, lengths, offsets = ctx.saved_tensors
        if pooled_gradient is None:
            if weight_gradient is None:
                return None, None, None, None
            pooled_gradient = torch.zeros_like(pooled)
        if weight_gradient is not None:
            weight_gradient = weight_gradient.contiguous()
        size = values.shape[1]
        score_gradient = torch.empty_like(weights, dtype=ctx.dtype)
        value_gradient = torch.empty_like(values)
        attend_backward[(lengths.shape[0],)](
            pooled_gradient.contiguous(), weight_gradient, values, weights, pooled, lengths,
            offsets, score_gradient, value_gradient, values.shape[0], size,
            ITEMS=_ITEMS, TILE=_tile(size),
        )  # fmt: skip
        return score_gradient, value_gradient, None, None


def _tile(size: int) -> int:
    return int(min(128, max(16, triton.next_power_of_2(size))))


@triton.jit(do_not_specialize=["item_count"])
def attend(
    scores, values, lengths, offsets, pooled, weights, item_count, SIZE,
    ITEMS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Turn one row's scores into weights, and sum its values by them."""
    row = tl.program_id(0).to(tl.int64)
    start, length = _place(lengths, offsets, row, item_count)
    peak, total = _peak_and_total(scores, start, length, ITEMS)
    for first in range(0, SIZE, TILE):
        column = first + tl.arange(0, TILE)
        sums = tl.zeros((ITEMS, TILE), tl.float32)
        for place in range(0, length, ITEMS):
            spot = place + tl.arange(0, ITEMS)
            item = start + spot
            score = tl.load(scores + item, mask=spot < length, other=float("-inf"))
            weight = tl.exp(score.to(tl.float32) - peak) / total
            mask = (spot < length)[:, None] & (column < SIZE)[None, :]
            value = tl.load(values + item[:, None] * SIZE + column[None, :], mask=mask, other=0.0)
            sums += weight[:, None] * value
            tl.store(weights + item, weight, mask=(spot < length) & (first == 0))
        tl.store(pooled + row * SIZE + column, tl.sum(sums, 0), mask=column < SIZE)


@triton.jit(do_not_specialize=["item_count"])
def attend_backward(
    pooled_gradient, weight_gradient, values, weights, pooled, lengths, offsets,
    score_gradient, value_gradient, item_count, SIZE,
    ITEMS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Give the gradients of one row's scores and values."""
    row = tl.program_id(0).to(tl.int64)
    start, length = _place(lengths, offsets, row, item_count)
    mean = _mean_gradient(
        pooled_gradient + row * SIZE, weight_gradient, weights, pooled + row * SIZE,
        start, length, SIZE, ITEMS, TILE,
    )  # fmt: skip
    for place in range(0, length, ITEMS):
        spot = place + tl.arange(0, ITEMS)
        item = start + spot
        weight = tl.load(weights + item, mask=spot < length, other=0.0)
        gradient = tl.zeros((ITEMS,), tl.float32)
        if weight_gradient is not None:
            gradient += tl.load(weight_gradient + item, mask=spot < length, other=0.0)
        for first in range(0, SIZE, TILE):
            column = first + tl.arange(0, TILE)
            mask = (spot < length)[:, None] & (column < SIZE)[None, :]
            at = item[:, None] * SIZE + column[None, :]
            down = tl.load(pooled_gradient + row * SIZE + column, mask=column < SIZE, other=0.0)
            down = down.to(tl.float32)[None, :]
            gradient += tl.sum(tl.load(values + at, mask=mask, other=0.0) * down, 1)
            tl.store(value_gradient + at, weight[:, None] * down, mask=mask)
        tl.store(score_gradient + item, weight * (gradient - mean), mask=spot < length)


@triton.jit
def _place(lengths, offsets, row, item_count):
    """Say where a row begins and how long it is, without ever leaving the tensors."""
    start = tl.load(offsets + row)
    length = tl.load(lengths + row)
    return start, tl.where(start >= 0, tl.minimum(length, item_count - start), 0)


@triton.jit
def _peak_and_total(scores, start, length, ITEMS: tl.constexpr):
    """Find a row's own peak, and the sum of the exponentials below it, in one pass."""
    # Not minus infinity: the difference of two infinities is not a number.
    peaks = tl.full((ITEMS,), -3.0e38, tl.float32)
    totals = tl.zeros((ITEMS,), tl.float32)
    for place in range(0, length, ITEMS):
        spot = place + tl.arange(0, ITEMS)
        score = tl.load(scores + start + spot, mask=spot < length, other=float("-inf"))
        score = score.to(tl.float32)
        higher = tl.maximum(peaks, score)
        totals = totals * tl.exp(peaks - higher) + tl.exp(score - higher)
        peaks = higher
    peak = tl.max(peaks, 0)
    return peak, tl.sum(totals * tl.exp(peaks - peak), 0)


@triton.jit
def _mean_gradient(
    pooled_gradient, weight_gradient, weights, pooled, start, length, SIZE,
    ITEMS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Average a row's weight gradients by its weights, as softmax's own gradient asks."""
    products = tl.zeros((TILE,), tl.float32)
    for first in range(0, SIZE, TILE):
        column = first + tl.arange(0, TILE)
        down = tl.load(pooled_gradient + column, mask=column < SIZE, other=0.0).to(tl.float32)
        products += down * tl.load(pooled + column, mask=column < SIZE, other=0.0)
    mean = tl.sum(products, 0)
    if weight_gradient is not None:
        for place in range(0, length, ITEMS):
            spot = place + tl.arange(0, ITEMS)
            weight = tl.load(weights + start + spot, mask=spot < length, other=0.0)
            down = tl.load(weight_gradient + start + spot, mask=spot < length, other=0.0)
            mean += tl.sum(weight * down, 0)
    return mean
