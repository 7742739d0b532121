"""The steps of a recurrence over one span of slots, and the same steps back.

A step that all running rows make together is one slice of every buffer; ``sides`` views its
slots by direction, since each direction has a matrix of its own, (gates * hidden, hidden).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .cells import Cell
from .packing import Span

__all__ = ["before", "complete", "derive", "run", "run_back", "sides"]


def run(
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
    fed = _steps(gates[:, -width:], directions, span.sizes)
    for step, view in enumerate(cell.views(gates, span.sizes)):
        last = [part[: span.sizes[step]] for part in last]
        if step or span.before or begin:
            fed[step].baddbmm_(sides(last[0], directions), transposed)
        cell.activate(view)
        current = [part[step] for part in after]
        cell.combine(view, last, current)
        last = current


def before(carry: Tensor, span: Span, begin: Tensor | None = None) -> Tensor:
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


def complete(cell: Cell, gates: Tensor, *, state: Tensor, matrix: Tensor) -> Tensor:
    """Complete the gates of a span at once, now that the ``state`` each slot found is known."""
    directions, width, _ = matrix.shape
    fed = sides(gates[:, -width:], directions)
    fed.baddbmm_(sides(state, directions), matrix.transpose(1, 2))
    for view in cell.views(gates, [gates.shape[0]]):
        cell.activate(view)
    return gates


def derive(
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


def run_back(
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
    fed = _steps(parts[0][:, -width:], directions, span.sizes)
    arriving = carried[0].split(span.sizes)
    for step in reversed(range(len(span.sizes))):
        later = [part[: span.sizes[step]] for part in carried[1:]]
        later[0].add_(arriving[step])
        cell.back(views[step], later)
        if step or span.before or to_begin:
            sides(later[0], directions).baddbmm_(fed[step], matrix, beta=cell.keeps)


def sides(slots: Tensor, directions: int) -> Tensor:
    """View slots, (slots, size), as (directions, rows, size)."""
    return slots.view(-1, directions, slots.shape[1]).transpose(0, 1)


def _steps(slots: Tensor, directions: int, sizes: Sequence[int]) -> tuple[Tensor, ...]:
    """View each step of the slots as (directions, rows, size)."""
    return sides(slots, directions).split([size // directions for size in sizes], 1)
