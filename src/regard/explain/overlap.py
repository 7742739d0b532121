"""How much two explanations of the same text have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..records.explanation import Decision, Explanation
from ..records.weights import Weights

__all__ = ["overlap"]


def overlap(first: Explanation, second: Explanation) -> float:
    """Return the share of the weight that both put on the same words, from 0 to 1.

    It is one minus the total variation of the two weightings of the text's characters, so that
    models that cut words otherwise can be compared. Where a method knows signs, what speaks for
    the label in one and against it in the other is not shared. Two explanations without any
    weight agree.
    """
    if first.source != second.source:
        raise DataError("two explanations can only be compared if they are of the same text")
    one, two = (
        _by_character(explanation.decisions[0], len(first.source))
        for explanation in (first, second)
    )
    if not one.any() and not two.any():
        return 1.0
    return min(1.0, float(np.minimum(one, two).sum()))  # a hair above one by rounding


def _by_character(decision: Decision, size: int) -> NDArray[np.float64]:
    """The share of the weight on each character, for the label and against it, (2, characters)."""
    found = np.zeros((2, size))
    weights = decision.importance() or decision.level("word") or decision.level("sentence")
    if weights is None or not len(weights):
        return found
    starts, ends = np.array(weights.pieces, dtype=np.int64).reshape(-1, 2).T
    lengths = ends - starts
    shares = _shares(weights)
    homes = np.repeat(np.arange(len(weights)), lengths)
    within = np.arange(len(homes)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    against = (np.array(weights.amounts) < 0).astype(np.int64)
    values = shares[homes] / lengths[homes]
    np.add.at(found, (against[homes], starts[homes] + within), values)
    return found


def _shares(weights: Weights) -> NDArray[np.float64]:
    sizes: NDArray[np.float64] = np.abs(np.array(weights.values))
    total = sizes.sum()
    return sizes / total if total else sizes
