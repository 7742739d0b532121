"""Which ids occur, in C: one mark an id instead of a sort; ``nn.distinct`` says what it returns."""

from __future__ import annotations

import torch
from torch import Tensor

from .native import required_library

__all__ = ["distinct"]


def distinct(ids: Tensor, limit: int) -> tuple[Tensor, Tensor]:
    """Return the ids that occur, ascending, and which of them stands where, (ids,)."""
    if ids.ndim != 1 or ids.dtype != torch.int64 or ids.device.type != "cpu":
        kind = f"{ids.dtype} {tuple(ids.shape)} on {ids.device}"
        raise ValueError(f"ids must be torch.int64 of shape (ids,) on cpu, got {kind}")
    ids = ids.contiguous()
    marks = torch.zeros(limit // 64 + 1, dtype=torch.int64)
    ranks = torch.empty(limit, dtype=torch.int32)
    found, index = torch.empty(min(len(ids), limit), dtype=torch.int64), torch.empty_like(ids)
    addresses = [tensor.data_ptr() for tensor in (marks, ranks, found, index)]
    count = required_library().call("find_distinct", ids.data_ptr(), len(ids), limit, *addresses)
    if count < 0:
        raise IndexError(
            f"ids must be from 0 to {limit - 1}, got {int(ids.min())} to {int(ids.max())}"
        )
    return found[:count], index
