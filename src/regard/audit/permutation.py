"""How far an answer moves when its attention is dealt out anew (Jain and Wallace, 2019)."""

from __future__ import annotations

import numpy as np
import torch

from .reweighing import LastAttention
from .tally import Measured

__all__ = ["PERMUTATIONS", "permuted"]

PERMUTATIONS = 100


def permuted(attention: LastAttention, seed: int = 0) -> dict[str, Measured]:
    """Return the median movement of the answer, beside that under even attention."""
    if attention.count < 2:
        return {}
    own = attention.weights
    draw = np.random.default_rng([seed, attention.count])
    rows = np.tile(np.arange(attention.count), (PERMUTATIONS, 1))
    orders = torch.from_numpy(draw.permuted(rows, axis=1)).to(own.device)
    even = torch.full_like(own, 1 / attention.count)[None]
    likely = attention.likely(torch.cat([own[None], even, own[orders]]))
    moved = attention.movement(likely[1:], likely[0])
    return {"permutation_change": Measured(float(moved[1:].quantile(0.5)), float(moved[0]))}
