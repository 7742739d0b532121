"""Faster versions of functions of ``nn`` for CPUs, in C: when they can be used, and the calls."""

from __future__ import annotations

import torch
from torch import Tensor

from .cpu_recurrence import GATES, Cell, recur
from .native import library, why_absent

__all__ = ["available", "describe", "recur"]


def available(cell: Cell, projected: Tensor) -> bool:
    """Say whether ``recur`` can be used for these inputs here."""
    fits = projected.device.type == "cpu" and projected.dtype == torch.float32
    return fits and cell in GATES and library() is not None


def describe() -> str:
    """Say which version of the native kernels is used, or why none is."""
    native = library()
    if native is None:
        return f"native kernels {why_absent()}; PyTorch is used"
    return f"native kernels for {native.level_name(1 << 30)}, {torch.get_num_threads()} threads"
