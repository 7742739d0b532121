"""Faster versions of functions of ``nn`` for CPUs, in C: when they can be used, and the calls."""

from __future__ import annotations

import torch
from torch import Tensor

from ..native import library, why_absent
from .attention import ContextAttention, attend, attend_context, attend_rows
from .dropout import Draw, drop
from .recurrence import GATES, Cell, Recurrent, recur
from .table_rows import AdamNumbers, distinct, drift_rows, project, project_into, step_rows

__all__ = [
    "AdamNumbers",
    "ContextAttention",
    "Draw",
    "Recurrent",
    "attend",
    "attend_context",
    "attend_rows",
    "can_attend",
    "can_compute",
    "can_count",
    "can_recur",
    "describe",
    "distinct",
    "drift_rows",
    "drop",
    "project",
    "project_into",
    "recur",
    "step_rows",
]


# Hidden units of all directions together; above, their weights do not fit into the cache and
# torch's products over all rows at once are as quick.
_MOST_UNITS = 1024


def can_recur(cell: Cell, projected: Tensor) -> bool:
    """Say whether ``recur`` can take this, and is the quickest way to do so."""
    return (
        cell in GATES and can_attend(projected) and projected.shape[1] <= GATES[cell] * _MOST_UNITS
    )


def can_attend(items: Tensor) -> bool:
    """Say whether ``attend_rows`` and ``attend_context`` can take such items, (items, size)."""
    return items.ndim == 2 and can_compute(items)


def can_compute(values: Tensor) -> bool:
    """Say whether there are kernels for values of this type where they are."""
    return values.dtype == torch.float32 and _in_reach(values)


def can_count(ids: Tensor) -> bool:
    """Say whether ``distinct`` can take such ids."""
    return ids.dtype == torch.int64 and ids.ndim == 1 and _in_reach(ids)


def _in_reach(values: Tensor) -> bool:
    # A graph that is being recorded must see operations of torch, not one call into C.
    recording = torch.jit.is_tracing() or torch.compiler.is_compiling()  # type: ignore[attr-defined]
    return values.device.type == "cpu" and not recording and library() is not None


def describe() -> str:
    """Say in a line which instructions the native kernels use, or why they do not run."""
    native = library()
    if native is None:
        return f"native: not used, {why_absent()}; PyTorch runs instead"
    return f"native: {native.instructions_name(1 << 30)} on {torch.get_num_threads()} threads"
