"""The recurrence of ``nn.recurrence`` in C: how the work is shared out, forward, back by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from ...errors import suggestion
from ...ragged import Ragged
from ..native import Library, required_library
from .buffers import empty, release
from .jobs import GatherJob, Layout, RecurrenceJob, check_tensor, padded, padded_rows, sum_rows

__all__ = ["GATES", "Cell", "Plan", "Recurrent", "recur"]

Cell = Literal["rnn", "gru", "lstm"]
GATES: dict[str, int] = {"rnn": 1, "gru": 3, "lstm": 4}

_SAVED = {1: 1, 3: 4, 4: 5}  # by gates: what an item keeps for the way back, see cells.h
_OVERREAD = 16  # floats by which a vector may reach past the last row
_MOST_SUMS = 1 << 24  # floats: each share sums the gradient of the weights for itself
_WORK_FOR_THREADS = 5_000_000  # products; fewer are done before another thread wakes up


@dataclass(frozen=True, eq=False)
class Recurrent:
    """A recurrent layer of one or two directions."""

    cell: Cell
    weights: Tensor  # (directions, gates * hidden size, hidden size)
    biases: Tensor  # (directions, gates * hidden size)

    @property
    def gates(self) -> int:
        """How many gates the cell has."""
        return GATES[self.cell]

    def __post_init__(self) -> None:
        if self.cell not in GATES:
            raise ValueError(f"there is no cell {self.cell!r}; {suggestion(self.cell, GATES)}")
        directions, size = self.weights.shape[0], self.weights.shape[-1]
        if directions not in (1, 2) or size < 1:
            raise ValueError(
                f"a {self.cell} needs one or two directions and at least one unit, "
                f"got weights {tuple(self.weights.shape)}"
            )
        check_tensor("weights", self.weights, (directions, self.gates * size, size))
        check_tensor("biases", self.biases, (directions, self.gates * size))


@dataclass(frozen=True, eq=False)
class Plan:
    """How a recurrence is computed: its sizes, rows, instruction set and threads."""

    native: Library
    gates: int
    hidden_size: int
    directions: int
    index: Tensor | None
    rows: Ragged
    layout: Layout
    instructions: int

    @classmethod
    def of(cls, layer: Recurrent, projected: Tensor, index: Tensor | None, rows: Ragged) -> Plan:
        """Check the arguments of a recurrence and decide how to compute it."""
        native = required_library()
        directions, size, hidden_size = layer.weights.shape
        check_tensor("projected", projected, (len(projected), directions * size))
        if index is not None:
            index = _checked_index(native, index, len(projected))
        layout = Layout.by_length(rows, _MOST_SUMS // (directions * (hidden_size + 1) * size))
        items = len(projected) if index is None else len(index)
        if layout.item_count != items:
            raise ValueError(f"the rows have {layout.item_count} items, but there are {items}")
        return cls(
            native=native,
            gates=layer.gates,
            hidden_size=hidden_size,
            directions=directions,
            index=index,
            rows=rows,
            layout=layout,
            instructions=native.instructions_for(hidden_size),
        )

    @property
    def threads(self) -> int:
        """How many threads are worth waking."""
        units = self.directions * self.hidden_size
        work = self.layout.item_count * units * self.gates * self.hidden_size
        threads = torch.get_num_threads() if work > _WORK_FOR_THREADS else 1
        return min(threads, self.directions * self.layout.share_count)

    def parts(self, most_bytes: int) -> Iterator[tuple[Plan, slice]]:
        """Cut the rows where the gates of a part would take more than ``most_bytes``.

        Gives a plan for each part and which items are its own; a row is never cut.
        """
        line = 4 * self.directions * padded(_SAVED[self.gates] * self.hidden_size)
        starts, lengths = self.rows.offsets.cpu(), self.rows.lengths.cpu()
        first = 0
        while first < len(lengths):
            reach = int(starts[first]) + most_bytes // line
            last = max(first + 1, int(torch.searchsorted(starts, reach, right=True)) - 1)
            items = slice(int(starts[first]), int(starts[last]))
            rows = Ragged(starts, lengths[first:last])
            index = None if self.index is None else self.index[items]
            layout = Layout.by_length(rows, self.layout.share_count)
            yield replace(self, index=index, rows=rows, layout=layout), items
            first = last

    def job(self, projected: Tensor, weights: Tensor, biases: Tensor) -> RecurrenceJob:
        """Lay the inputs out as the kernels want them."""
        size = self.gates * self.hidden_size
        job = RecurrenceJob()
        job.fill(
            layout=self.layout,
            gates=self.gates,
            hidden_size=self.hidden_size,
            direction_count=self.directions,
            index=self.index,
            gate_step=padded(size),
            hidden_step=padded(self.hidden_size),
            saved_step=padded(_SAVED[self.gates] * self.hidden_size),
            projected=projected.detach().contiguous(),
            weights=padded_rows(weights.transpose(1, 2)),
            biases=padded_rows(biases),
        )
        return job

    def gate_count(self, job: RecurrenceJob) -> int:
        """How many floats the way forward leaves for the way back."""
        return self.directions * self.layout.item_count * job.saved_step + _OVERREAD

    def forward(self, job: RecurrenceJob) -> Tensor:
        """Compute the states, (items, directions * hidden size)."""
        states = empty(self.layout.item_count, self.directions * self.hidden_size)
        job.fill(states=states)
        self.run("forward", job)
        return states

    def run(self, name: str, job: RecurrenceJob) -> None:
        """Do all tasks of the job."""
        job.fill(next_task=0)
        self.native.run(name, job, instructions=self.instructions, threads=self.threads)


def _checked_index(native: Library, index: Tensor, distinct: int) -> Tensor:
    if index.ndim != 1 or index.is_floating_point() or index.is_complex():
        found = f"{index.dtype} {tuple(index.shape)}"
        raise ValueError(f"index must be whole numbers of shape (items,), got {found}")
    index = index.detach().to("cpu", torch.int64).contiguous()
    if native.call("check_index", index.data_ptr(), len(index), distinct):
        span = f"{int(index.min())} to {int(index.max())}"
        raise IndexError(f"index must be from 0 to {distinct - 1}, got {span}")
    return index


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

    The same as ``nn.recurrence.recur``, which says what each argument is.
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
    plan: Plan, job: RecurrenceJob, gradient: Tensor, inputs: list[Tensor]
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


def _gathered(plan: Plan, job: RecurrenceJob, distinct: int) -> Tensor:
    """Sum the gradients of the items that read the same row of the projected inputs."""
    gradient = empty(distinct, plan.directions * plan.gates * plan.hidden_size)
    gathering = GatherJob()
    gathering.fill(recurrence=job, distinct_count=distinct, gradient=gradient)
    if plan.index is not None:
        order = torch.empty_like(plan.index)
        firsts = torch.zeros(distinct + 1, dtype=torch.int64)
        places = order.data_ptr(), firsts.data_ptr()
        plan.native.call("group_items", plan.index.data_ptr(), len(order), distinct, *places)
        gathering.fill(item_order=order, firsts=firsts)
    plan.native.run("gather", gathering, instructions=plan.instructions, threads=plan.threads)
    return gradient
