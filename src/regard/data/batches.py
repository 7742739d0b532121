"""Which documents go together: shuffled by seed, grouped by length, split by rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..config import require

__all__ = ["plan_batches", "split_by_rank"]

_BATCHES_IN_A_WINDOW = 64


def plan_batches(
    lengths: ArrayLike, *, batch_size: int, batch_tokens: int, seed: int, epoch: int
) -> list[NDArray[np.int64]]:
    """Put each document into one batch within the limits on its documents and its tokens.

    A document with more than ``batch_tokens`` is a batch of its own. Documents are grouped by length
    inside windows of the shuffled order, so that the work inside a batch is even and still no
    two epochs are alike; ``seed`` and ``epoch`` decide everything.
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
        batches += _cut(ordered, sizes[ordered], batch_size, batch_tokens)
    return [batches[place] for place in random.permutation(len(batches)).tolist()]


def split_by_rank(batch: NDArray[np.int64], *, rank: int, world: int) -> NDArray[np.int64]:
    """Return the documents of a batch that one process of ``world`` takes; possibly none.

    Every ``world``-th document is taken, so that all processes get about the same lengths.
    """
    require(0 <= rank < world, f"rank must be from 0 to {world - 1}, got {rank}")
    return batch[rank::world]


def _cut(
    documents: NDArray[np.int64], sizes: NDArray[np.int64], batch_size: int, batch_tokens: int
) -> list[NDArray[np.int64]]:
    """Cut a run of documents into batches, each as large as the limits allow."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    batches = []
    first = 0
    while first < len(documents):
        fitting = int(np.searchsorted(sums, sums[first] + batch_tokens, side="right")) - 1
        last = min(max(fitting, first + 1), first + batch_size)
        batches.append(documents[first:last])
        first = last
    return batches
