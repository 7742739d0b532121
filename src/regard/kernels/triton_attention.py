"""The launches of attention over ragged rows, and their gradients."""

from __future__ import annotations

import torch
import triton
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from .triton_rows import attend, attend_backward

__all__ = ["Attention"]

# Items that a program takes at once; sentences and documents rarely have many more.
_ITEMS = 16


class _Context(FunctionCtx):
    """What the way forward leaves for the way back."""

    dtype: torch.dtype
    saved_tensors: tuple[Tensor, ...]


class Attention(torch.autograd.Function):
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
