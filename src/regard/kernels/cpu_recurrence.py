"""The recurrence of ``nn.recurrent`` in C: forward, and back by hand."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from ..ragged import Ragged
from .buffers import empty, release
from .cpu_plan import Cell, Plan, Recurrent
from .jobs import Gathering, Recurrence, padded_rows, sum_rows

__all__ = ["recur"]

KEPT_BYTES = 1 << 28
"""How much the gates may take to be kept for the way back; above, they are computed again."""


def recur(
    cell: Cell,
    projected: Tensor,
    index: Tensor | None,
    rows: Ragged,
    weights: Tensor,
    biases: Tensor,
) -> Tensor:
    """Run a recurrent layer over every row, (items, directions * hidden size).

    The same as ``nn.recurrent.recur``, which says what each argument is.
    """
    plan = Plan.of(Recurrent(cell, weights, biases), projected, index, rows)
    inputs = (projected, weights, biases)
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in inputs):
        return _Recur.apply(*inputs, plan)
    return plan.forward(plan.job(*inputs))


class _Context(FunctionCtx):
    """What the way forward leaves for the way back."""

    plan: Plan
    kept: bool  # whether the gates of the way forward are still there
    saved_tensors: tuple[Tensor, ...]


class _Recur(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: _Context, projected: Tensor, weights: Tensor, biases: Tensor, plan: Plan
    ) -> Tensor:
        job = plan.job(projected, weights, biases)
        ctx.plan, ctx.kept = plan, 4 * plan.gate_count(job) <= KEPT_BYTES
        gates = empty(plan.gate_count(job) if ctx.kept else 0)
        job.fill(saved=gates if ctx.kept else None)
        states = plan.forward(job)
        ctx.save_for_backward(projected, weights, biases, states, gates)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: _Context, gradient: Tensor) -> tuple[Tensor | None, ...]:
        *inputs, states, gates = ctx.saved_tensors
        if ctx.kept:
            # The gates are overwritten by their gradients, so that there is one large buffer
            # and not two: whoever goes back again through the same graph finds none.
            ctx.kept = False
            job = ctx.plan.job(*inputs)
            job.fill(states=states, saved=gates)
            return (*_gradients(ctx.plan, job, gradient, inputs), None)
        return (*_gradients_again(ctx.plan, gradient, inputs), None)


def _gradients_again(plan: Plan, gradient: Tensor, inputs: list[Tensor]) -> list[Tensor]:
    """Go back some rows at a time, through gates that are made again for these rows alone."""
    release()  # where memory is short, what waits for the next step must not lie idle
    totals = [torch.zeros_like(tensor) for tensor in inputs]
    projected, *parameters = inputs
    for part, items in plan.parts(KEPT_BYTES // 16):
        read = items if plan.index is None else slice(None)
        inputs = [projected[read], *parameters]
        job = part.job(*inputs)
        job.fill(saved=empty(part.gate_count(job)))
        part.forward(job)
        found = _gradients(part, job, gradient[items], inputs)
        for total, more in zip([totals[0][read], *totals[1:]], found, strict=True):
            total += more
    return totals


def _gradients(
    plan: Plan, job: Recurrence, gradient: Tensor, inputs: list[Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    """Turn the saved gates into gradients, and sum those for each of the inputs."""
    projected, weights, _ = inputs
    size, hidden_size = plan.gates * plan.hidden_size, plan.hidden_size
    shares, rows = plan.layout.share_count, sum_rows(hidden_size)
    sums = torch.empty(plan.directions, shares, rows + 1, job.gate_step)
    job.fill(gradient=gradient.contiguous(), weights_back=padded_rows(weights))
    job.fill(weights_gradient=sums)
    plan.run("backward", job)
    projected_gradient = _gathered(plan, job, len(projected))
    for direction in sums:
        plan.native.call("add_shares", direction.data_ptr(), shares, direction[0].numel())
    total = sums[:, 0]
    weights_gradient = total[:, :hidden_size, :size].transpose(1, 2).contiguous()
    return projected_gradient, weights_gradient, total[:, rows, :size]


def _gathered(plan: Plan, job: Recurrence, distinct: int) -> Tensor:
    """Sum the gradients of the items that read the same row of the projected inputs."""
    gradient = empty(distinct, plan.directions * plan.gates * plan.hidden_size)
    gathering = Gathering()
    gathering.fill(recurrence=job, distinct_count=distinct, gradient=gradient)
    if plan.index is not None:
        order = torch.empty_like(plan.index)
        firsts = torch.zeros(distinct + 1, dtype=torch.int64)
        places = order.data_ptr(), firsts.data_ptr()
        plan.native.call("group_items", plan.index.data_ptr(), len(order), distinct, *places)
        gathering.fill(item_order=order, firsts=firsts)
    plan.native.run("gather", gathering, level=plan.level, threads=plan.threads)
    return gradient
