"""The distinct ids among many."""

from __future__ import annotations

import torch
from torch import Tensor

from ..kernels import cpu

__all__ = ["distinct"]


def distinct(ids: Tensor, limit: int) -> tuple[Tensor, Tensor]:
    """Return the ids that occur, ascending, and which of them stands where, (ids,).

    They lie between 0 and ``limit``, which is not one of them.
    """
    if cpu.can_count(ids):
        return cpu.distinct(ids, limit)
    return torch.unique(ids, return_inverse=True)
