"""How far apart two distributions are."""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = ["BOUND", "jensen_shannon", "total_variation"]

BOUND = math.log(2)
"""The largest Jensen-Shannon divergence there is, in nats."""


def jensen_shannon(one: Tensor, other: Tensor) -> Tensor:
    """Return the divergence of rows that each sum to one, (...), from 0 to ``BOUND``."""
    middle = (one + other) / 2
    return (_relative(one, middle) + _relative(other, middle)) / 2


def total_variation(one: Tensor, other: Tensor) -> Tensor:
    """Return half the sum of the differences, (...): the largest change of any event."""
    return (one - other).abs().sum(-1) / 2


def _relative(one: Tensor, other: Tensor) -> Tensor:
    # Where a share is zero its term is zero; the floor keeps the gradient there finite.
    ratio = torch.log(one.clamp_min(1e-12)) - torch.log(other.clamp_min(1e-12))
    return (one * ratio).sum(-1)
