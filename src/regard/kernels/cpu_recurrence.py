"""The recurrence of ``nn.recurrent`` in C: forward, and back by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from ..ragged import Ragged
from .jobs import BLOCK_ROWS, Gathering, Layout, Recurrence, padded
from .native import Library, library, why_absent

__all__ = ["GATES", "Cell", "Plan", "recur"]

Cell = Literal["rnn", "gru", "lstm"]
GATES: dict[str, int] = {"rnn": 1, "gru": 3, "lstm": 4}

_SAVED = {1: 1, 3: 4, 4: 5}  # by gates: what an item keeps for the way back, see cells.h
_OVERREAD = 16  # floats by which a vector may reach past the last row
_MOST_SUMS = 1 << 24  # floats: each share sums the gradient of the weights for itself
_WORK_FOR_THREADS = 5_000_000  # products; fewer are done before another thread wakes up


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
    plan = Plan.of(cell, projected, index, rows, weights)
    if biases.shape != weights.shape[:2]:
        raise ValueError(f"biases must be {tuple(weights.shape[:2])}, got {tuple(biases.shape)}")
    inputs = (projected, weights, biases)
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in inputs):
        return _Recur.apply(*inputs, plan)
    return plan.forward(plan.job(*inputs))


@dataclass(frozen=True)
class Plan:
    """How a recurrence is computed: its sizes, rows, instruction set and threads."""

    native: Library
    gates: int
    hidden_size: int
    directions: int
    index: Tensor | None
    layout: Layout
    level: int
    threads: int

    @classmethod
    def of(
        cls,
        cell: Cell,
        projected: Tensor,
        index: Tensor | None,
        rows: Ragged,
        weights: Tensor,
    ) -> Plan:
        """Check the arguments of a recurrence and decide how to compute it."""
        native = library()
        if native is None:
            raise RuntimeError(f"the native kernels are {why_absent()}; ask available() first")
        directions, size, hidden_size = _check_shapes(cell, projected, weights)
        index = None if index is None else _check_index(native, index, projected.shape[0])
        rows = rows.to("cpu")
        _check_rows(rows, projected.shape[0] if index is None else index.shape[0])
        layout = Layout.by_length(rows, _MOST_SUMS // (directions * (hidden_size + 1) * size))
        work = layout.item_count * directions * size * hidden_size
        threads = torch.get_num_threads() if work > _WORK_FOR_THREADS else 1
        return cls(
            native=native,
            gates=GATES[cell],
            hidden_size=hidden_size,
            directions=directions,
            index=index,
            layout=layout,
            level=native.level_for(hidden_size),
            threads=min(threads, directions * layout.share_count),
        )

    def job(self, projected: Tensor, weights: Tensor, biases: Tensor) -> Recurrence:
        """Lay out the inputs as the kernels want them."""
        size = self.gates * self.hidden_size
        job = Recurrence()
        job.fill(layout=self.layout, gates=self.gates, hidden_size=self.hidden_size)
        job.fill(direction_count=self.directions, index=self.index)
        job.fill(gate_step=padded(size), hidden_step=padded(self.hidden_size))
        job.fill(saved_step=padded(_SAVED[self.gates] * self.hidden_size))
        job.fill(projected=projected.detach().contiguous())
        job.fill(weights=_padded_rows(weights.detach().transpose(1, 2)))
        job.fill(biases=_padded_rows(biases.detach()))
        return job

    def room_to_save(self, job: Recurrence) -> Tensor:
        """Make the buffer in which a forward pass leaves what the way back needs."""
        lines = self.directions * self.layout.item_count
        return torch.empty(lines * job.saved_step + _OVERREAD)

    def forward(self, job: Recurrence) -> Tensor:
        """Compute the states, (items, directions * hidden size)."""
        states = torch.empty(self.layout.item_count, self.directions * self.hidden_size)
        job.fill(states=states, next_task=0)
        self.native.run("forward", job, level=self.level, threads=self.threads)
        return states


class _Context(FunctionCtx):
    """What the way forward leaves for the way back."""

    plan: Plan
    spent: bool
    saved_tensors: tuple[Tensor, ...]
    needs_input_grad: tuple[bool, ...]


class _Recur(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: _Context, projected: Tensor, weights: Tensor, biases: Tensor, plan: Plan
    ) -> Tensor:
        job = plan.job(projected, weights, biases)
        saved = plan.room_to_save(job)
        job.fill(saved=saved)
        states = plan.forward(job)
        ctx.save_for_backward(projected, weights, biases, states, saved)
        ctx.plan = plan
        ctx.spent = False
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: _Context, gradient: Tensor) -> tuple[Tensor | None, ...]:
        projected, weights, biases, states, saved = ctx.saved_tensors
        plan = ctx.plan
        job = plan.job(projected, weights, biases)
        job.fill(states=states, saved=saved)
        if ctx.spent:
            # The gates were overwritten by their gradients, which halves the memory of a
            # step; who goes back twice through a kept graph has them made again.
            plan.native.run("forward", job, level=plan.level, threads=plan.threads)
        ctx.spent = True
        weights_gradient, biases_gradient = _backward(plan, job, gradient, weights)
        wanted = ctx.needs_input_grad[0]
        projected_gradient = _gather(plan, job, projected.shape[0]) if wanted else None
        return projected_gradient, weights_gradient, biases_gradient, None


def _backward(
    plan: Plan, job: Recurrence, gradient: Tensor, weights: Tensor
) -> tuple[Tensor, Tensor]:
    """Turn the saved gates into gradients; return those of the weights and the biases."""
    size, hidden_size = plan.gates * plan.hidden_size, plan.hidden_size
    sum_rows = -(-hidden_size // BLOCK_ROWS) * BLOCK_ROWS + 1
    sums = torch.zeros(plan.directions, plan.layout.share_count, sum_rows, job.gate_step)
    job.fill(gradient=gradient.contiguous(), weights_back=_padded_rows(weights))
    job.fill(weights_gradient=sums, next_task=0)
    plan.native.run("backward", job, level=plan.level, threads=plan.threads)
    total = sums[:, 0]
    for share in range(1, plan.layout.share_count):
        total += sums[:, share]
    weights_gradient = total[:, :hidden_size, :size].transpose(1, 2).contiguous()
    return weights_gradient, total[:, -1, :size].contiguous()


def _gather(plan: Plan, job: Recurrence, distinct: int) -> Tensor:
    """Sum the gradients of the items that read the same row of the projected inputs."""
    gradient = torch.empty(distinct, plan.directions * plan.gates * plan.hidden_size)
    gathering = Gathering()
    gathering.fill(recurrence=job, distinct_count=distinct, gradient=gradient)
    if plan.index is not None:
        order = torch.empty_like(plan.index)
        firsts = torch.zeros(distinct + 1, dtype=torch.int64)
        addresses = order.data_ptr(), firsts.data_ptr()
        plan.native.call("group_items", plan.index.data_ptr(), len(order), distinct, *addresses)
        gathering.fill(item_order=order, firsts=firsts)
    plan.native.run("gather", gathering, level=plan.level, threads=plan.threads)
    return gradient


def _padded_rows(rows: Tensor) -> Tensor:
    """Copy rows so that each begins on a cache line and ends in zeros."""
    copy = rows.new_zeros(*rows.shape[:-1], padded(rows.shape[-1]))
    copy[..., : rows.shape[-1]] = rows
    return copy


def _check_shapes(cell: Cell, projected: Tensor, weights: Tensor) -> tuple[int, int, int]:
    """Return how many directions, gates times units, and units there are."""
    if cell not in GATES:
        raise ValueError(f"there is no cell {cell!r}; there are {', '.join(GATES)}")
    for name, tensor in (("projected", projected), ("weights", weights)):
        if tensor.dtype != torch.float32 or tensor.device.type != "cpu":
            found = f"{tensor.dtype} on {tensor.device}"
            raise ValueError(f"the native kernels need {name} as float32 on the CPU, got {found}")
    if weights.ndim != 3 or weights.shape[1] != GATES[cell] * weights.shape[2]:
        asked = f"(directions, {GATES[cell]} * size, size)"
        raise ValueError(f"weights of a {cell} must be {asked}, got {tuple(weights.shape)}")
    directions, size, hidden_size = weights.shape
    if not 1 <= directions <= 2 or hidden_size < 1:
        raise ValueError(f"weights need one or two directions and units, got {directions} of {hidden_size}")
    if projected.ndim != 2 or projected.shape[1] != directions * size:
        asked = f"(distinct, {directions * size})"
        raise ValueError(f"projected must be {asked}, got {tuple(projected.shape)}")
    return directions, size, hidden_size


def _check_index(native: Library, index: Tensor, distinct: int) -> Tensor:
    index = index.detach().to("cpu", torch.int64).contiguous()
    if native.call("check_index", index.data_ptr(), index.numel(), distinct):
        span = f"{int(index.min())} to {int(index.max())}"
        raise IndexError(f"index must be from 0 to {distinct - 1}, got values from {span}")
    return index


def _check_rows(rows: Ragged, items: int) -> None:
    lengths = rows.lengths
    if len(rows) and int(lengths.min()) < 0:
        raise ValueError(f"a row cannot have {int(lengths.min())} items")
    if int(lengths.sum()) != items:
        raise ValueError(f"the rows have {int(lengths.sum())} items, but there are {items}")
