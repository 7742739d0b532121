"""The recurrence with torch alone, many rows at once: on any device, in any floating type.

Torch's own layers differentiate a packed recurrence ten times slower than they compute it. Here
the way back is written by hand: all directions go side by side, every step is one slice, and
what does not depend on the incoming gradient is computed at once for many steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import FunctionCtx, once_differentiable
from torch.nn.functional import embedding_bag

from ...kernels.native import prepare_for_forks
from ...ragged import Ragged
from ..packing import Packing, Span
from .cells import CELLS, Cell
from .definition import Carry, Layer

__all__ = ["run"]

SPAN_SLOTS = 1 << 16
"""How many slots are worked on at once; bounds the memory of what is not kept."""
SPAN_STEPS = 1 << 12
"""How many steps are cut into views at once; a million views would fill the memory themselves."""
KEPT_BYTES = 1 << 28
"""How much the gates may take to be kept for the way back; above, they are computed again."""


def run(
    layer: Layer, projected: Tensor, index: Tensor | None, rows: Ragged, start: Carry = ()
) -> tuple[Tensor, ...]:
    """Return the states, and what each row carries at its end, as ``define`` says."""
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
        inputs = _Inputs(cell, projected, biases, plan.source(index, directions))
        if index is not None:
            inputs.fill()
        matrix = _reordered(weights, cell.recurrent, hidden)
        carries = [projected.new_empty(place.shape[0], hidden) for _ in range(cell.carries)]
        size = carries[0].numel() * cell.blocks * projected.element_size()
        keep = any(ctx.needs_input_grad) and size <= KEPT_BYTES
        begin = [plan.sorted(part, hidden) for part in start]
        kept: list[Tensor] = []
        for span in plan.spans:
            gates = inputs.take(span)
            _run_steps(cell, gates, matrix=matrix, carries=carries, span=span, begin=begin)
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
        inputs = _Inputs(cell, projected, biases, plan.source(ctx.index, directions))
        if ctx.index is not None and not kept:
            inputs.fill()
        matrix = _reordered(weights, cell.recurrent, hidden)
        sums = _Sums(cell, matrix, inputs.source, projected.shape[0])
        incoming = carries[0].new_zeros(1, hidden).expand(len(plan.packing.place), hidden)
        if gradient is not None:
            incoming = gradient.reshape(-1, hidden)
        # A row is not touched before its last step, so what arrives at its end can wait here.
        carried = [plan.arriving(part, carries[0]) for part in toward_ends]
        for number, span in reversed(list(enumerate(spans))):
            found = [
                _before(carry, span, begin[place] if begin else None)
                for place, carry in enumerate(carries)
            ]
            gates = (
                kept[number]
                if kept
                else _complete(cell, inputs.take(span), state=found[0], matrix=matrix)
            )
            after = [carry[span.start : span.stop] for carry in carries]
            parts = _derive(cell, gates, before=found, after=after)
            arriving = incoming.index_select(0, plan.packing.source[span.start : span.stop])
            _run_back(
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


# The steps over one span of slots, and the same steps back. A step that all running rows make
# together is one slice of every buffer; ``_sides`` views its slots by direction, since each
# direction has a matrix of its own, (gates * hidden, hidden).


def _run_steps(
    cell: Cell,
    gates: Tensor,
    *,
    matrix: Tensor,
    carries: Sequence[Tensor],
    span: Span,
    begin: Sequence[Tensor] = (),
) -> None:
    """Make the steps of a span: complete its gates and write what it carries, in place.

    ``begin`` is what the rows carry into their first step, if it is not zeros.
    """
    directions, width, hidden = matrix.shape
    transposed = matrix.transpose(1, 2)
    after = [carry[span.start : span.stop].split(span.sizes) for carry in carries]
    last = [carry[span.start - span.before : span.start] for carry in carries]
    if not span.before:
        last = list(begin) or [carry.new_zeros(span.sizes[0], hidden) for carry in carries]
    fed = _by_step(gates[:, -width:], directions, span.sizes)
    for step, view in enumerate(cell.views(gates, span.sizes)):
        last = [part[: span.sizes[step]] for part in last]
        if step or span.before or begin:
            fed[step].baddbmm_(_sides(last[0], directions), transposed)
        cell.activate(view)
        current = [part[step] for part in after]
        cell.combine(view, last, current)
        last = current


def _before(carry: Tensor, span: Span, begin: Tensor | None = None) -> Tensor:
    """Return what every slot of a span found when it was reached, (slots, hidden)."""
    steps = carry[span.start - span.before : span.stop].split(
        [span.before, *span.sizes] if span.before else span.sizes
    )
    sizes = span.sizes if span.before else span.sizes[1:]
    found = [step[:size] for step, size in zip(steps, sizes, strict=False)]
    if not span.before:
        first = carry.new_zeros(span.sizes[0], carry.shape[1]) if begin is None else begin
        found.insert(0, first[: span.sizes[0]])
    return torch.cat(found)


def _complete(cell: Cell, gates: Tensor, *, state: Tensor, matrix: Tensor) -> Tensor:
    """Complete the gates of a span at once, now that the ``state`` each slot found is known."""
    directions, width, _ = matrix.shape
    fed = _sides(gates[:, -width:], directions)
    fed.baddbmm_(_sides(state, directions), matrix.transpose(1, 2))
    for view in cell.views(gates, [gates.shape[0]]):
        cell.activate(view)
    return gates


def _derive(
    cell: Cell, gates: Tensor, *, before: Sequence[Tensor], after: Sequence[Tensor]
) -> list[Tensor]:
    """Turn the gates of a span into coefficients; return them, and what else the cell needs."""
    slots, hidden = before[0].shape
    extras = [torch.empty_like(before[0]) for _ in range(cell.extras)]
    block = max(64, 50_000 // hidden)  # slots whose gates stay in the cache meanwhile
    for start in range(0, slots, block):
        part = slice(start, start + block)
        cell.derive(
            gates[part],
            before=[carry[part] for carry in before],
            after=[carry[part] for carry in after],
            extras=[extra[part] for extra in extras],
        )
    return [gates, *extras]


def _run_back(
    cell: Cell,
    parts: list[Tensor],
    *,
    matrix: Tensor,
    carried: Sequence[Tensor],
    span: Span,
    to_begin: bool = False,
) -> None:
    """Go back through a span: make its coefficients gradients, in place.

    The first of ``carried`` is what arrives at each slot from outside, the others what has
    come back from later steps; with ``to_begin`` they go on to what the rows started from.
    """
    directions, width, _ = matrix.shape
    views = list(zip(*(part.split(span.sizes) for part in parts), strict=True))
    fed = _by_step(parts[0][:, -width:], directions, span.sizes)
    arriving = carried[0].split(span.sizes)
    for step in reversed(range(len(span.sizes))):
        later = [part[: span.sizes[step]] for part in carried[1:]]
        later[0].add_(arriving[step])
        cell.back(views[step], later)
        if step or span.before or to_begin:
            _sides(later[0], directions).baddbmm_(fed[step], matrix, beta=cell.keeps)


def _sides(slots: Tensor, directions: int) -> Tensor:
    """View slots, (slots, size), as (directions, rows, size)."""
    return slots.view(-1, directions, slots.shape[1]).transpose(0, 1)


def _by_step(slots: Tensor, directions: int, sizes: Sequence[int]) -> tuple[Tensor, ...]:
    """View each step of the slots as (directions, rows, size)."""
    return _sides(slots, directions).split([size // directions for size in sizes], 1)


class _Inputs:
    """What the input, and the recurrent bias, give the gates of every slot."""

    def __init__(self, cell: Cell, projected: Tensor, biases: Tensor, source: Tensor) -> None:
        self.cell = cell
        self.biases = biases
        self.source = source
        self.rows = projected.reshape(projected.shape[0] * biases.shape[0], biases.shape[1])
        self.filled = False

    def fill(self) -> None:
        """Lay out the rows as gates now, once for all the slots that read them."""
        self.rows, self.filled = self._laid_out(self.rows), True

    def take(self, span: Span) -> Tensor:
        """The gates of a span before any step was made, (slots, blocks * hidden)."""
        rows = self.rows.index_select(0, self.source[span.start : span.stop])
        return rows if self.filled else self._laid_out(rows)

    def _laid_out(self, rows: Tensor) -> Tensor:
        cell, directions, gates = self.cell, self.biases.shape[0], len(self.cell.inputs)
        given = rows.view(-1, directions, gates, rows.shape[1] // gates)
        biases = self.biases.view(directions, gates, -1)
        made = given.new_zeros(*given.shape[:2], cell.blocks, given.shape[3])
        for block, gate in enumerate(cell.inputs):
            made[:, :, block] = given[:, :, gate]
        for block, gate in enumerate(cell.recurrent, start=cell.blocks - gates):
            made[:, :, block] += biases[:, gate]
        return made.view(rows.shape[0], cell.blocks * given.shape[3])


def _reordered(weights: Tensor, order: Sequence[int], hidden: int) -> Tensor:
    """Bring the gates of (directions, gates * hidden, hidden) into another order."""
    if list(order) == sorted(order):
        return weights
    gates = weights.view(weights.shape[0], len(order), hidden, -1).unbind(1)
    return torch.stack([gates[gate] for gate in order], 1).view_as(weights)


class _Sums:
    """The gradients of everything that all slots share, added up span by span."""

    def __init__(self, cell: Cell, matrix: Tensor, source: Tensor, distinct: int) -> None:
        directions, _, hidden = matrix.shape
        self.cell, self.hidden, self.source = cell, hidden, source
        self.rows = matrix.new_zeros(distinct * directions, len(cell.inputs) * hidden)
        self.matrix = torch.zeros_like(matrix)
        self.biases = matrix.new_zeros(matrix.shape[:2])

    def add(self, gates: Tensor, before: Tensor, span: Span, *, repeated: bool) -> None:
        """Add the gradients of a span's gates; ``repeated`` if slots may read the same row."""
        directions, width, _ = self.matrix.shape
        fed = _sides(gates[:, -width:], directions)
        self.matrix.baddbmm_(fed.transpose(1, 2), _sides(before, directions))
        self.biases += fed.sum(1)
        source = self.source[span.start : span.stop]
        width = self.rows.shape[1]
        if not repeated:
            self.rows.index_copy_(0, source, gates[:, :width])
            return
        # Sorted by row first, the sum is one pass that is five times quicker than index_add.
        counts = torch.bincount(source, minlength=self.rows.shape[0])
        order = torch.argsort(source, stable=True)
        starts = counts.cumsum(0) - counts
        self.rows += embedding_bag(order, gates, starts, mode="sum")[:, :width]

    def total(self) -> tuple[Tensor, Tensor, Tensor]:
        """The gradients of the projected inputs, the weights and the biases, in torch's order."""
        directions, hidden = self.matrix.shape[0], self.hidden
        inputs = sorted(range(len(self.cell.inputs)), key=self.cell.inputs.__getitem__)
        recurrent = sorted(range(len(self.cell.recurrent)), key=self.cell.recurrent.__getitem__)
        blocks = self.rows.view(-1, directions, len(inputs), hidden).unbind(2)
        rows = torch.stack([blocks[block] for block in inputs], 2)
        weights = _reordered(self.matrix, recurrent, hidden)
        biases = _reordered(self.biases, recurrent, hidden)
        return rows.flatten(1), weights, biases
