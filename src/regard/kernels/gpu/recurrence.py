"""The recurrence over ragged rows on a GPU as a differentiable function."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from . import resident, tiled
from .plan import BLOCKS, GATES, Launch
from .sums import sum_by_source, sum_products

__all__ = ["Recurrence"]


class _Context(FunctionCtx):
    """What the way forward leaves for the way back."""

    launch: Launch
    distinct_count: int
    saved_tensors: tuple[Tensor, ...]
    needs_input_grad: tuple[bool, ...]


class Recurrence(torch.autograd.Function):
    """Every item's h, (items, directions * size), from projected inputs and recurrent weights."""

    @staticmethod
    def forward(
        ctx: _Context, projected: Tensor, weights: Tensor, biases: Tensor, launch: Launch
    ) -> Tensor:
        """Take all steps in one launch."""
        item_count = projected.shape[0] if launch.index is None else launch.index.shape[0]
        units = launch.directions * launch.size
        out = projected.new_empty(item_count, units)
        kept = cells = None
        if launch.keep and launch.cell != "rnn":
            kept = projected.new_empty(item_count, 4 * units)
        if launch.keep and launch.cell == "lstm":
            cells = torch.empty(item_count, units, device=out.device)
        inputs = (projected, launch.index, *launch.rows)
        counts = (launch.order.shape[0], item_count, projected.shape[0])
        if launch.cut.resident:
            resident.forward[launch.grid](
                *inputs, weights, biases, out, kept, cells, *counts, **launch.constants
            )
        else:
            tiles = weights.to(out.dtype)
            tiled.forward[launch.grid](
                *inputs,
                tiles,
                biases,
                out,
                kept,
                cells,
                _state(launch),
                *counts,
                **launch.constants,
            )
        if launch.keep:
            # A cell without such a part needs some tensor in its place, and never looks at it.
            ctx.save_for_backward(
                out, out if kept is None else kept, out if cells is None else cells, weights
            )
        ctx.launch, ctx.distinct_count = launch, projected.shape[0]
        return out

    @staticmethod
    @once_differentiable
    def backward(
        ctx: _Context, gradient: Tensor
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None, None]:
        """Take all steps backwards in one launch, then sum what belongs together."""
        out, kept, cells, weights = ctx.saved_tensors
        launch = ctx.launch
        gates, firsts = _gate_gradients(launch, gradient.contiguous(), (out, kept, cells), weights)
        projected_gradient = weights_gradient = biases_gradient = None
        if ctx.needs_input_grad[0]:
            projected_gradient = sum_by_source(launch, gates, ctx.distinct_count)
        if ctx.needs_input_grad[1] or ctx.needs_input_grad[2]:
            weights_gradient, biases_gradient = sum_products(launch, gates, out, firsts, weights)
        return projected_gradient, weights_gradient, biases_gradient, None


def _gate_gradients(
    launch: Launch, gradient: Tensor, past: tuple[Tensor, Tensor, Tensor], weights: Tensor
) -> tuple[Tensor, Tensor]:
    """Every item's gate gradients, and for each direction whether the item begins its row."""
    out, blocks = past[0], BLOCKS[launch.cell]
    gates = out.new_empty(out.shape[0], blocks * out.shape[1])
    firsts = torch.empty(out.shape[0], launch.directions, device=out.device, dtype=torch.int8)
    counts = (launch.order.shape[0], out.shape[0])
    if launch.cut.resident:
        resident.backward[launch.grid](
            gradient, *past, *launch.rows, weights, gates, firsts, *counts,
            BLOCKS=blocks, **launch.constants,
        )  # fmt: skip
    else:
        tiled.backward[launch.grid](
            gradient, *past, *launch.rows, _by_unit(launch, weights).to(out.dtype), gates, firsts,
            _state(launch), *counts, BLOCKS=blocks, **launch.constants,
        )  # fmt: skip
    return gates, firsts


def _by_unit(launch: Launch, weights: Tensor) -> Tensor:
    """The weights as the gate gradients lie: unit by unit, zero where a block is not recurrent."""
    gate_count, blocks = GATES[launch.cell], BLOCKS[launch.cell]
    result = weights.new_zeros(launch.directions, launch.size, blocks, launch.size)
    by_gate = weights.view(launch.directions, gate_count, launch.size, launch.size)
    result[:, :, blocks - gate_count :] = by_gate.transpose(1, 2)
    return result


def _state(launch: Launch) -> Tensor:
    """Room for an fp32 h and c of every row, direction and unit, all zero."""
    return torch.zeros(
        launch.order.shape[0], launch.directions, 2, launch.size, device=launch.order.device
    )
