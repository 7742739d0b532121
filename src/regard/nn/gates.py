"""What the input gives the gates of a recurrence, and the gradients that all its steps share."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from . import steps
from .cells import Cell
from .packing import Span

__all__ = ["Inputs", "Sums", "reordered"]


class Inputs:
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


def reordered(weights: Tensor, order: Sequence[int], hidden: int) -> Tensor:
    """Bring the gates of (directions, gates * hidden, hidden) into another order."""
    if list(order) == sorted(order):
        return weights
    gates = weights.view(weights.shape[0], len(order), hidden, -1).unbind(1)
    return torch.stack([gates[gate] for gate in order], 1).view_as(weights)


class Sums:
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
        fed = steps.sides(gates[:, -width:], directions)
        self.matrix.baddbmm_(fed.transpose(1, 2), steps.sides(before, directions))
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
        weights = reordered(self.matrix, recurrent, hidden)
        biases = reordered(self.biases, recurrent, hidden)
        return rows.flatten(1), weights, biases
