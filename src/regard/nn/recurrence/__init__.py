"""Recurrence over ragged rows: what it is, and the quickest way to it.

``definition`` says what is computed, in a loop. ``batched`` computes the same for many rows at
once with torch, and the kernels in C and Triton do where they can; all are compared with the loop.
"""

from __future__ import annotations

from torch import Tensor

from ...kernels import cpu, gpu
from ...ragged import Ragged
from . import batched
from .cells import CELLS
from .definition import Carry, CellName, Layer

__all__ = ["CELLS", "Carry", "CellName", "Layer", "has_kernel", "recur", "recur_from"]

KERNELS = (cpu, gpu)
"""Quicker versions of ``batched.run``, the first that is available wins."""


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
        if kernel.can_recur(cell, projected):
            return kernel.recur(cell, projected, index, rows, weights, biases)
    return batched.run(Layer(cell, weights, biases), projected, index, rows)[0]


def has_kernel(cell: CellName, projected: Tensor) -> bool:
    """Say whether ``recur`` has a kernel for such an input."""
    return any(kernel.can_recur(cell, projected) for kernel in KERNELS)


def recur_from(
    layer: Layer, projected: Tensor, rows: Ragged, start: Carry | None = None
) -> tuple[Tensor, Carry]:
    """Run a cell along every row from what it starts with; return its states, and how it ends.

    Each tensor of ``start``, and of the end, has the shape (rows, directions * hidden); without
    a start every row begins at zeros. An empty row ends as it started.
    """
    states, *ends = batched.run(layer, projected, None, rows, start or ())
    return states, tuple(ends)
