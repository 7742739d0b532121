"""Which documents go together: shuffled by seed, grouped by length, split by rank.

Rows of different lengths lie in one flat array, and here is where their items lie in it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..config import require

__all__ = [
    "cut_runs",
    "places_in_row",
    "places_of_rows",
    "plan_batches",
    "row_sums",
    "split_by_rank",
]

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


def places_in_row(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each item its place in its own row: lengths 2, 0, 3 give 0 1 0 1 2."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)


def places_of_rows(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where the items of the given rows lie: starts 5, 9 and lengths 2, 1 give 5 6 9."""
    return np.repeat(starts, lengths) + places_in_row(lengths)


def row_sums(values: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add up the items of each row; an empty row gives zero."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(values, dtype=np.int64)])
    ends = np.cumsum(lengths)
    return sums[ends] - sums[ends - lengths]


def cut_runs(sizes: NDArray[np.int64], *, most_items: int, most_total: int) -> Iterator[slice]:
    """Cut items into runs, each as long as both limits allow, but of one item at least."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    first = 0
    while first < len(sizes):
        fitting = int(np.searchsorted(sums, sums[first] + most_total, side="right")) - 1
        last = min(max(fitting, first + 1), first + most_items)
        yield slice(first, last)
        first = last
