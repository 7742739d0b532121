"""Rows of different lengths in one flat array: where their items lie."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["cut_runs", "places_in_row", "places_of_rows", "row_sums"]


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
