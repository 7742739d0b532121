"""From how an explanation fared against random rankings to a plain word about it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["CHANCE", "FAITHFUL", "GAIN", "MARGIN", "WEAK", "margin", "verdict"]

FAITHFUL, WEAK, CHANCE = "faithful", "weak", "no better than chance"

MARGIN = 2.5
"""By how many standard deviations of the random rankings they must be beaten."""
GAIN = 0.1
"""By how much probability they must be beaten for the explanation to be called faithful."""


def margin(gain: float, random_gains: NDArray[np.float64]) -> float:
    """By how many of their standard deviations a gain is above the random ones; 0 where all tie."""
    spread = float(random_gains.std(ddof=1))
    lead = gain - float(random_gains.mean())
    # Differences below the rounding of a model's single precision are none.
    return lead / spread if spread > 1e-7 else 0.0


def verdict(gain: float, random_gains: NDArray[np.float64]) -> str:
    """Judge an explanation by its gain, what its heaviest pieces alone keep over what is left."""
    if margin(gain, random_gains) < MARGIN:
        return CHANCE
    return FAITHFUL if gain - random_gains.mean() >= GAIN else WEAK
