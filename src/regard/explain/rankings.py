"""What becomes of a document when its pieces are taken away in the order of a ranking."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .erasing import Mask

__all__ = [
    "BINS",
    "Erased",
    "Floats",
    "Ranks",
    "distinct_rows",
    "kendall",
    "random_ranks",
    "random_sets",
    "ranks_of",
    "shuffled",
    "taken",
    "tops",
]

Floats = NDArray[np.float64]
Ranks = NDArray[np.int64]
"""The place of each piece in one ranking or several, 0 for the heaviest, (rankings, pieces)."""

_Number = TypeVar("_Number", bound=np.generic)

SHORT = 150  # numbers of a list, up to which all pairs of them are looked at
MANY = 60  # pieces from which on two random bins are hardly ever the same
BINS = (0.01, 0.05, 0.1, 0.2, 0.5)
"""The shares of the pieces that are taken away or left alone, those of ERASER's authors."""


@dataclass(frozen=True, slots=True, eq=False)
class Erased:
    """The probabilities that a ranking's bins leave: without them, and of them alone."""

    without: Tensor  # (rankings, bins, classes)
    alone: Tensor  # (rankings, bins, classes)

    def through(self, function: Callable[[Tensor], Tensor]) -> Erased:
        """Put every row of either through a function of rows."""
        shape = self.without.shape[:2]
        both = torch.stack([self.without, self.alone]).flatten(0, 2)
        found = function(both).view(2, *shape, -1)
        return Erased(found[0], found[1])

    def gains(self, number: int) -> Floats:
        """What each ranking's bins keep of a class over what is left without them, (rankings,)."""
        return (self.alone - self.without)[..., number].mean(1).numpy()


def taken(piece_count: int) -> list[int]:
    """How many pieces each bin is: its share rounded up, so at least one where there is one."""
    # Rounded first, because 0.1 x 30 is a little more than 3 in binary fractions.
    return [math.ceil(round(share * piece_count, 6)) for share in BINS]


def ranks_of(amounts: Floats, draw: np.random.Generator) -> Ranks:
    """Rank pieces, the largest amount first, equal ones in random order, (1, pieces)."""
    shuffled = draw.permutation(len(amounts))
    order = shuffled[np.argsort(-amounts[shuffled], kind="stable")]
    return np.argsort(order)[None]


def random_ranks(piece_count: int, count: int, draw: np.random.Generator) -> Ranks:
    """Rank pieces at random, so many times, (count, pieces)."""
    return shuffled(np.arange(piece_count), count, draw)


def shuffled(values: NDArray[_Number], count: int, draw: np.random.Generator) -> NDArray[_Number]:
    """So many orders of some values, (count, values)."""
    rows = np.empty((count, len(values)), values.dtype)
    rows[:] = values
    draw.permuted(rows, axis=1, out=rows)  # in place: much of the time would go into a copy
    return rows


def tops(ranks: Ranks) -> Mask:
    """Which pieces each bin of each ranking takes, (rankings, bins, pieces)."""
    found: Mask = ranks[:, None, :] < np.array(taken(ranks.shape[1]))[:, None]
    return found


def random_sets(piece_count: int, count: int, draw: np.random.Generator) -> Mask:
    """Draw sets of the size of each bin, each by itself, so many times, (count, bins, pieces)."""
    ranks = random_ranks(piece_count, count * len(BINS), draw).reshape(count, len(BINS), -1)
    found: Mask = ranks < np.array(taken(piece_count))[:, None]
    return found


def distinct_rows(rows: Mask) -> tuple[Mask, NDArray[np.int64]]:
    """The rows that differ, and which of them each row is: of few pieces many bins are the same."""
    count = rows.shape[1]
    if count >= MANY:
        return rows, np.arange(len(rows))
    codes = rows @ (1 << np.arange(count, dtype=np.int64))
    _, first, places = np.unique(codes, return_index=True, return_inverse=True)
    return rows[first], places.ravel()


def kendall(first: Floats, second: Floats) -> float | None:
    """Return Kendall's tau-b of two lists of numbers; None where either is all the same."""
    if len(first) > SHORT:
        from scipy.stats import kendalltau

        tau = float(kendalltau(first, second).statistic)
        return None if math.isnan(tau) else tau
    # All pairs at once: of short lists that is quicker, and SciPy takes a second to import.
    one, two = (np.sign(values[:, None] - values) for values in (first, second))
    pairs = np.sqrt(np.square(one).sum() * np.square(two).sum())
    return float((one * two).sum() / pairs) if pairs else None
