"""Recurrence over ragged rows: the definition that every kernel must agree with.

Torch's own layers differentiate a packed recurrence ten times slower than they compute it. Here
the way back is written by hand: all directions go side by side, every step is one slice, and
what does not depend on the incoming gradient is computed at once for many steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import FunctionCtx, once_differentiable

from ..kernels import cpu, gpu
from ..kernels.native import prepare_for_forks
from ..ragged import Ragged
from . import steps
from .cells import CELLS, Cell, CellName
from .gates import Inputs, Sums, reordered
from .packing import Packing, Span

__all__ = ["Carry", "Layer", "has_kernel", "plain_recur", "recur", "recur_from"]

Carry = tuple[Tensor, ...]
"""What a cell carries from step to step: the state, and for an LSTM its memory as second."""

KERNELS = (cpu, gpu)
"""Quicker versions of ``plain_recur``, the first that is available wins."""

SPAN_SLOTS = 1 << 16
"""How many slots are worked on at once; bounds the memory of what is not kept."""
SPAN_STEPS = 1 << 12
"""How many steps are cut into views at once; a million views would fill the memory themselves."""
KEPT_BYTES = 1 << 28
"""How much the gates may take to be kept for the way back; above, they are computed again."""


def recur(
    cell: CellName,
    projected: Tensor,
    index: Tensor | None,
    rows: Ragged,
    weights: Tensor,
    biases: Tensor,
) -> Tensor:
    """Run a cell ("rnn", "gru" or "lstm") along every row, (items, directions * hidden).

    ``projected``, (distinct, directions * gates * hidden), is the input times the input weights
    plus the input biases, gates in torch's order; ``index``, (items,), picks the row of it that
    each item reads, and without it item n reads row n. ``weights``, (directions, gates * hidden,
    hidden), and ``biases``, (directions, gates * hidden), are the recurrent ones. The second
    direction reads each row from its end. Every row starts from zeros.
    """
    weights, biases = weights.to(projected.dtype), biases.to(projected.dtype)
    for kernel in KERNELS:
        if kernel.available(cell, projected):
            return kernel.recur(cell, projected, index, rows, weights, biases)
    return plain_recur(cell, projected, index, rows, weights, biases)


def has_kernel(cell: CellName, projected: Tensor) -> bool:
    """Say whether ``recur`` has a quicker way than the plain one for such an input."""
    return any(kernel.available(cell, projected) for kernel in KERNELS)


def plain_recur(
    cell: CellName,
    projected: Tensor,
    index: Tensor | None,
    rows: Ragged,
    weights: Tensor,
    biases: Tensor,
) -> Tensor:
    """Do what ``recur`` does with torch alone: on any device, in any floating type."""
    return _run(Layer(cell, weights, biases), projected, index, rows, ())[0]


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """A cell with its recurrent weights and biases, as ``recur`` takes them."""

    cell: CellName
    weights: Tensor  # (directions, gates * hidden, hidden)
    biases: Tensor  # (directions, gates * hidden)


def recur_from(
    layer: Layer, projected: Tensor, rows: Ragged, start: Carry | None = None
) -> tuple[Tensor, Carry]:
    """Run a cell along every row from what it starts with; return its states, and how it ends.

    Each tensor of ``start``, and of the end, has the shape (rows, directions * hidden); without
    a start every row begins at zeros. An empty row ends as it started.
    """
    states, *ends = _run(layer, projected, None, rows, start or ())
    return states, tuple(ends)


def _run(
    layer: Layer, projected: Tensor, index: Tensor | None, rows: Ragged, start: Carry
) -> tuple[Tensor, ...]:
    prepare_for_forks()
    weights, biases = layer.weights.to(projected.dtype), layer.biases.to(projected.dtype)
    packing = Packing(rows, backward=(False, True)[: weights.shape[0]])
    plan = _Plan(CELLS[layer.cell], packing)
    begin = [part.to(projected.dtype) for part in start]
    # Autocast would give some of the buffers another type than the rest.
    with torch.autocast(projected.device.type, enabled=False):
        made = _Recurrence.apply(projected, weights, biases, index, plan, *begin)
    return cast(tuple[Tensor, ...], made)


@dataclass(frozen=True)
class _Plan:
    """Which cell goes along which way."""

    cell: Cell
    packing: Packing

    @property
    def spans(self) -> list[Span]:
        return list(self.packing.spans(slots=SPAN_SLOTS, steps=SPAN_STEPS))

    def source(self, index: Tensor | None, directions: int) -> Tensor:
        """The row of the inputs that each slot reads, counting every direction as a row."""
        if index is None:
            return self.packing.source
        slots = self.packing.source
        items = slots.div(directions, rounding_mode="floor")
        return index.index_select(0, items) * directions + slots % directions

    def sorted(self, by_row: Tensor, hidden: int) -> Tensor:
        """Bring what each row has, (rows, directions * hidden), into the order of the visit."""
        ordered = by_row.index_select(0, self.packing.order)
        return ordered.reshape(-1, hidden)

    def unsorted(self, slots: Tensor) -> Tensor:
        """Bring what the visit carries back into the order of the rows."""
        rows, directions = self.packing.last.shape
        ordered = slots.view(rows, directions * slots.shape[1])
        return torch.empty_like(ordered).index_copy_(0, self.packing.order, ordered)

    def arriving(self, toward_end: Tensor | None, like: Tensor) -> Tensor:
        """The gradient of what each row carried at its end, in the order of the visit."""
        if toward_end is None:
            return like.new_zeros(self.packing.last.numel(), like.shape[1])
        return self.sorted(toward_end, like.shape[1])

    def ends(self, carry: Tensor, start: Tensor | None) -> Tensor:
        """What each row carried at its last step, (rows, directions * hidden)."""
        rows, directions = self.packing.last.shape
        hidden = carry.shape[1]
        if start is None:
            start = carry.new_zeros(rows, directions * hidden)
        if not carry.shape[0]:
            return start.clone()
        last = self.packing.last.view(-1, 1)
        found = carry.index_select(0, last.clamp(min=0).flatten())
        unread = start.reshape(-1, hidden)
        return torch.where(last >= 0, found, unread).view(rows, directions * hidden)


class _Context(FunctionCtx):
    """What the way forward leaves for the way back."""

    plan: _Plan
    index: Tensor | None
    kept: list[Tensor]
    saved_tensors: tuple[Tensor, ...]
    needs_input_grad: tuple[bool, ...]


class _Recurrence(Function):
    """The way along all rows, and back."""

    @staticmethod
    def forward(
        ctx: _Context,
        projected: Tensor,
        weights: Tensor,
        biases: Tensor,
        index: Tensor | None,
        plan: _Plan,
        *start: Tensor,
    ) -> tuple[Tensor, ...]:
        cell, place = plan.cell, plan.packing.place
        directions, _, hidden = weights.shape
        inputs = Inputs(cell, projected, biases, plan.source(index, directions))
        if index is not None:
            inputs.fill()
        matrix = reordered(weights, cell.recurrent, hidden)
        carries = [projected.new_empty(place.shape[0], hidden) for _ in range(cell.carries)]
        size = carries[0].numel() * cell.blocks * projected.element_size()
        keep = any(ctx.needs_input_grad) and size <= KEPT_BYTES
        begin = [plan.sorted(part, hidden) for part in start]
        kept: list[Tensor] = []
        for span in plan.spans:
            gates = inputs.take(span)
            steps.run(cell, gates, matrix=matrix, carries=carries, span=span, begin=begin)
            if keep:
                kept.append(gates)
        ctx.plan, ctx.index, ctx.kept = plan, index, kept
        ctx.save_for_backward(projected, weights, biases, *carries, *begin)
        ctx.set_materialize_grads(False)
        starts = start or [None] * len(carries)
        ends = [plan.ends(carry, part) for carry, part in zip(carries, starts, strict=True)]
        return carries[0].index_select(0, place).view(-1, directions * hidden), *ends

    @staticmethod
    @once_differentiable
    def backward(
        ctx: _Context, gradient: Tensor | None, *toward_ends: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        projected, weights, biases, *rest = ctx.saved_tensors
        plan, cell, spans = ctx.plan, ctx.plan.cell, ctx.plan.spans
        carries, begin = rest[: cell.carries], rest[cell.carries :]
        # The gates are overwritten on the way, so a second way back has to compute them again.
        kept, ctx.kept = ctx.kept, []
        directions, _, hidden = weights.shape
        inputs = Inputs(cell, projected, biases, plan.source(ctx.index, directions))
        if ctx.index is not None and not kept:
            inputs.fill()
        matrix = reordered(weights, cell.recurrent, hidden)
        sums = Sums(cell, matrix, inputs.source, projected.shape[0])
        incoming = carries[0].new_zeros(1, hidden).expand(len(plan.packing.place), hidden)
        if gradient is not None:
            incoming = gradient.reshape(-1, hidden)
        # A row is not touched before its last step, so what arrives at its end can wait here.
        carried = [plan.arriving(part, carries[0]) for part in toward_ends]
        for number, span in reversed(list(enumerate(spans))):
            found = [
                steps.before(carry, span, begin[place] if begin else None)
                for place, carry in enumerate(carries)
            ]
            gates = (
                kept[number]
                if kept
                else steps.complete(cell, inputs.take(span), state=found[0], matrix=matrix)
            )
            after = [carry[span.start : span.stop] for carry in carries]
            parts = steps.derive(cell, gates, before=found, after=after)
            arriving = incoming.index_select(0, plan.packing.source[span.start : span.stop])
            steps.run_back(
                cell,
                parts,
                matrix=matrix,
                carried=[arriving, *carried],
                span=span,
                to_begin=bool(begin),
            )
            sums.add(parts[0], found[0], span, repeated=ctx.index is not None)
        toward_start = [plan.unsorted(part) for part in carried] if begin else []
        return (*sums.total(), None, None, *toward_start)
