"""Which documents go together: shuffled by seed, grouped by length, split by rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..config import require
from .runs import cut_runs

__all__ = ["plan_batches", "split_by_rank"]

_BATCHES_IN_A_WINDOW = 64


def plan_batches(
    lengths: ArrayLike, *, batch_size: int, batch_tokens: int, seed: int, epoch: int
) -> list[NDArray[np.int64]]:
    """Put each document into one batch within the limits on its documents and its tokens.

    A document with more than ``batch_tokens`` is a batch of its own. Documents are grouped by
    length inside windows of the shuffled order, so that the work inside a batch is even and
    still no two epochs are alike; ``seed`` and ``epoch`` decide everything.
    """
    require(batch_size >= 1, f"batch_size must be at least 1, got {batch_size}")
    require(batch_tokens >= 1, f"batch_tokens must be at least 1, got {batch_tokens}")
    sizes = np.asarray(lengths, dtype=np.int64)
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(len(sizes))
    window = batch_size * _BATCHES_IN_A_WINDOW
    batches: list[NDArray[np.int64]] = []
    for first in range(0, len(order), window):
        chosen = order[first : first + window]
        # Stable, so that the shuffled order still decides among equal lengths.
        ordered = chosen[np.argsort(sizes[chosen], kind="stable")]
        runs = cut_runs(sizes[ordered], most_items=batch_size, most_total=batch_tokens)
        batches += [ordered[run] for run in runs]
    return [batches[place] for place in random.permutation(len(batches)).tolist()]


def split_by_rank(batch: NDArray[np.int64], *, rank: int, world: int) -> NDArray[np.int64]:
    """Return the documents of a batch that one process of ``world`` takes; possibly none.

    Every ``world``-th document is taken, so that all processes get about the same lengths.
    """
    require(0 <= rank < world, f"rank must be from 0 to {world - 1}, got {rank}")
    return batch[rank::world]
