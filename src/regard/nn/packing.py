"""Ragged rows in the order a recurrence visits them: step after step, the longest row first.

After sorting, the rows still running at a step are always the first ones, so a step is one
slice and nothing is padded. Several directions are visited side by side: at step n the forward
one is at the n-th item of a row and the backward one at the n-th from its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..ragged import Ragged

__all__ = ["Packing", "Span"]


@dataclass(frozen=True, slots=True)
class Span:
    """Some successive steps, and the slots they fill."""

    sizes: list[int]  # slots of each step
    start: int  # the first slot
    stop: int  # one past the last slot
    before: int  # slots of the step before the first one; 0 at the beginning


class Packing:
    """Where each item of some rows stands, direction by direction, in the order of the visit.

    A slot holds one direction of one item: slot ``place[item * directions + direction]``.
    """

    def __init__(self, rows: Ragged, backward: Sequence[bool] = (False,)) -> None:
        lengths, directions = rows.lengths, len(backward)
        step_count = max(rows.host_lengths, default=0)
        longer = torch.bincount(lengths, minlength=step_count + 1).flip(0).cumsum(0).flip(0)
        running = longer[1:]  # (steps,), rows that reach each step
        starts = running.cumsum(0) - running
        order = torch.argsort(lengths, descending=True, stable=True)
        rank = torch.empty_like(order)
        rank[order] = torch.arange(len(rows), device=lengths.device)
        item_rows = rows.row_ids
        items = torch.arange(item_rows.shape[0], device=lengths.device)
        from_start = items - rows.offsets.index_select(0, item_rows)
        from_end = rows.offsets[1:].index_select(0, item_rows) - 1 - items
        steps = torch.stack([from_end if flag else from_start for flag in backward], 1)
        first = starts.index_select(0, steps.flatten()).view_as(steps)
        place = first + rank.index_select(0, item_rows)[:, None]
        place = place * directions + torch.arange(directions, device=lengths.device)

        self.place = place.flatten()  # (items * directions,)
        self.source = torch.empty_like(self.place)  # the inverse of place
        self.source[self.place] = torch.arange(self.place.shape[0], device=lengths.device)
        self.sizes: list[int] = (running * directions).tolist()  # slots of each step
        self.order = order  # (rows,), the longest row first
        self.last = _last_slots(starts, rank, lengths, directions)  # (rows, directions)

    def spans(self, *, slots: int, steps: int) -> Iterator[Span]:
        """Cut the visit into spans of at most so many slots and steps, but of one step at least."""
        sizes: list[int] = []
        start = filled = before = 0
        for size in self.sizes:
            if sizes and (filled + size > slots or len(sizes) == steps):
                yield Span(sizes, start, start + filled, before)
                before, start, filled, sizes = sizes[-1], start + filled, 0, []
            sizes.append(size)
            filled += size
        if sizes:
            yield Span(sizes, start, start + filled, before)


def _last_slots(starts: Tensor, rank: Tensor, lengths: Tensor, directions: int) -> Tensor:
    """The slot where each row ends, direction by direction, (rows, directions); -1 if empty."""
    if not starts.shape[0]:
        return lengths.new_full((lengths.shape[0], directions), -1)
    slots = starts.index_select(0, (lengths - 1).clamp(min=0)) + rank
    ways = torch.arange(directions, device=lengths.device)
    return torch.where(lengths[:, None] > 0, slots[:, None] * directions + ways, -1)
