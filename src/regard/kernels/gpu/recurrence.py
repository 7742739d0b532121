"""The recurrence over ragged rows on a GPU as a differentiable function."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from . import resident, tiled
from .plan import BLOCKS, GATES, Job
from .sums import sum_by_source, sum_products

__all__ = ["Recurrence"]


class _Context(FunctionCtx):
    """What the way forward leaves for the way back."""

    job: Job
    distinct_count: int
    saved_tensors: tuple[Tensor, ...]
    needs_input_grad: tuple[bool, ...]


class Recurrence(torch.autograd.Function):
    """Every item's h, (items, directions * size), from projected inputs and recurrent weights."""

    @staticmethod
    def forward(
        ctx: _Context, projected: Tensor, weights: Tensor, biases: Tensor, job: Job
    ) -> Tensor:
        """Take all steps in one launch."""
        item_count = projected.shape[0] if job.index is None else job.index.shape[0]
        units = job.directions * job.size
        out = projected.new_empty(item_count, units)
        kept = cells = None
        if job.keep and job.cell != "rnn":
            kept = projected.new_empty(item_count, 4 * units)
        if job.keep and job.cell == "lstm":
            cells = torch.empty(item_count, units, device=out.device)
        inputs = (projected, job.index, *job.rows)
        counts = (job.order.shape[0], item_count, projected.shape[0])
        if job.cut.resident:
            resident.forward[job.grid](
                *inputs, weights, biases, out, kept, cells, *counts, **job.constants
            )
        else:
            tiles = weights.to(out.dtype)
            tiled.forward[job.grid](
                *inputs, tiles, biases, out, kept, cells, _state(job), *counts, **job.constants
            )
        if job.keep:
            # A cell without such a part needs some tensor in its place, and never looks at it.
            ctx.save_for_backward(
                out, out if kept is None else kept, out if cells is None else cells, weights
            )
        ctx.job, ctx.distinct_count = job, projected.shape[0]
        return out

    @staticmethod
    @once_differentiable
    def backward(
        ctx: _Context, gradient: Tensor
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None, None]:
        """Take all steps backwards in one launch, then sum what belongs together."""
        out, kept, cells, weights = ctx.saved_tensors
        job = ctx.job
        gates, firsts = _gate_gradients(job, gradient.contiguous(), (out, kept, cells), weights)
        projected_gradient = weights_gradient = biases_gradient = None
        if ctx.needs_input_grad[0]:
            projected_gradient = sum_by_source(job, gates, ctx.distinct_count)
        if ctx.needs_input_grad[1] or ctx.needs_input_grad[2]:
            weights_gradient, biases_gradient = sum_products(job, gates, out, firsts, weights)
        return projected_gradient, weights_gradient, biases_gradient, None


def _gate_gradients(
    job: Job, gradient: Tensor, past: tuple[Tensor, Tensor, Tensor], weights: Tensor
) -> tuple[Tensor, Tensor]:
    """Every item's gate gradients, and for each direction whether the item begins its row."""
    out, blocks = past[0], BLOCKS[job.cell]
    gates = out.new_empty(out.shape[0], blocks * out.shape[1])
    firsts = torch.empty(out.shape[0], job.directions, device=out.device, dtype=torch.int8)
    counts = (job.order.shape[0], out.shape[0])
    if job.cut.resident:
        resident.backward[job.grid](
            gradient, *past, *job.rows, weights, gates, firsts, *counts,
            BLOCKS=blocks, **job.constants,
        )  # fmt: skip
    else:
        tiled.backward[job.grid](
            gradient, *past, *job.rows, _by_unit(job, weights).to(out.dtype), gates, firsts,
            _state(job), *counts, BLOCKS=blocks, **job.constants,
        )  # fmt: skip
    return gates, firsts


def _by_unit(job: Job, weights: Tensor) -> Tensor:
    """The weights as the gate gradients lie: unit by unit, zero where a block is not recurrent."""
    gate_count, blocks = GATES[job.cell], BLOCKS[job.cell]
    result = weights.new_zeros(job.directions, job.size, blocks, job.size)
    by_gate = weights.view(job.directions, gate_count, job.size, job.size)
    result[:, :, blocks - gate_count :] = by_gate.transpose(1, 2)
    return result


def _state(job: Job) -> Tensor:
    """Room for an fp32 h and c of every row, direction and unit, all zero."""
    return torch.zeros(job.order.shape[0], job.directions, 2, job.size, device=job.order.device)
