"""Is one model better than another on the same documents? Tests that pair their answers.

Every model answers the same documents, and may have been trained with several seeds. ``right`` is
one row a training: ones where it answered rightly, zeros elsewhere, (trainings, documents). A row
that stands for all seeds, of a model that draws nothing, is paired with each of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .predictions import Floats

__all__ = ["correct_for_many", "flip_signs", "redraw_accuracies", "seeds_won"]

Right = NDArray[np.float64]
"""Which answers are right, (trainings, documents)."""

DRAWS = 2000
FLIPS = 20_000
_AT_ONCE = 20  # draws; bounds the memory: draws x documents


def flip_signs(first: Right, second: Right, *, seed: int = 0) -> float:
    """Return how likely chance alone gives as large a difference of the accuracies.

    Were both models the same, each document's difference could as well have the other sign. With
    one training each this is McNemar's test; with several, a document counts by its mean.
    """
    count = max(len(first), len(second))
    # Whole numbers, so that equal sums are equal.
    totals = first.sum(0) * (count // len(first)) - second.sum(0) * (count // len(second))
    sizes, counts = np.unique(np.abs(totals[totals != 0]).astype(np.int64), return_counts=True)
    found = abs(int(totals.sum()))
    draw = np.random.default_rng(seed)
    # So many of the documents of one size get a plus: all that the sum needs to know of them.
    pluses = draw.binomial(counts, 0.5, size=(FLIPS, len(counts)))
    sums = np.abs((2 * pluses - counts) @ sizes)
    # The signs as they are count as one of the draws: no test can be surer than its draws.
    return float((1 + (sums >= found).sum()) / (1 + FLIPS))


def correct_for_many(values: Sequence[float]) -> list[float]:
    """Correct p values for how many there are, by Holm's method; in their order."""
    order = np.argsort(values, kind="stable")
    found, highest = [0.0] * len(values), 0.0
    for rank, place in enumerate(order.tolist()):
        highest = max(highest, min(1.0, (len(values) - rank) * values[place]))
        found[place] = highest
    return found


def redraw_accuracies(
    right: Mapping[str, Right], *, seed: int = 0, draws: int = DRAWS
) -> dict[str, Floats]:
    """Return the accuracies of each model, (draws,), over documents and seeds drawn again.

    The draws are the same for all models, so the difference of two of them is paired.
    """
    draw = np.random.default_rng(seed)
    trainings = max(len(rows) for rows in right.values())
    documents = next(iter(right.values())).shape[1]
    found: dict[str, list[Floats]] = {name: [] for name in right}
    for start in range(0, draws, _AT_ONCE):
        size = min(_AT_ONCE, draws - start)
        chosen = draw.integers(documents, size=(size, documents))
        seeds = draw.integers(trainings, size=(size, trainings))
        for name, rows in right.items():
            means = _means_of_seeds(rows, seeds)  # (size, documents)
            found[name].append(np.take_along_axis(means, chosen, 1).mean(1))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _means_of_seeds(rows: Right, seeds: NDArray[np.int64]) -> Floats:
    """The share of the drawn trainings that answer each document rightly, (draws, documents)."""
    if len(rows) == 1:
        return np.broadcast_to(rows, (len(seeds), rows.shape[1]))
    counts = np.stack([np.bincount(one % len(rows), minlength=len(rows)) for one in seeds])
    means: Floats = counts @ rows / seeds.shape[1]
    return means


def seeds_won(first: Right, second: Right) -> tuple[int, int]:
    """Return in how many seeds the first is the more accurate, and of how many."""
    ours, theirs = np.broadcast_arrays(first.mean(1), second.mean(1))
    return int((ours > theirs).sum()), len(ours)
