"""From how an explanation fared against random rankings to a plain word about it.

The gain of a ranking is what its heaviest pieces alone keep of the probability over what is left
without them: sufficiency's loss taken from comprehensiveness's. In a few words even the ranking by
leave-one-out exceeds random ones by little, so no more is asked for than most of what it reaches.
The thresholds were fixed once, on reviews held out from IMDB's training data, by
``benchmarks/verdict.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CHANCE",
    "FAITHFUL",
    "MARGIN",
    "REACH",
    "RIVALS",
    "WEAK",
    "Gains",
    "margin",
    "rivals",
    "verdict",
]

FAITHFUL, WEAK, CHANCE = "faithful", "weak", "no better than chance"

MARGIN = 3.0
"""By how many standard deviations of the random rankings' gains theirs must be exceeded."""
RIVALS = 0.05
"""What share of random rankings may do as well."""
REACH = 0.75
"""What share of the lead that exact leave-one-out has over them makes an explanation faithful."""


@dataclass(frozen=True, slots=True, eq=False)
class Gains:
    """The gains at one level: of the explanation, of random rankings, and of leave-one-out."""

    own: float
    random: NDArray[np.float64]  # (rankings,)
    left_out: float | None  # None where not every piece was left out


def margin(gains: Sequence[Gains]) -> float:
    """By how many standard deviations the random gains are exceeded; 0 for a tie."""
    return _margin(gains, [level.own for level in gains])


def rivals(gains: Sequence[Gains]) -> float:
    """The share of random rankings that do as well; of no rankings all."""
    if not gains:
        return 1.0
    random = np.mean([level.random for level in gains], axis=0)
    return float(np.mean(random >= np.mean([level.own for level in gains])))


def verdict(gains: Sequence[Gains]) -> str:
    """Judge an explanation: has it more to say than chance, and most of what there is to say?"""
    lead = margin(gains)
    if lead <= 0 or lead < _needed(gains) or rivals(gains) > RIVALS:
        return CHANCE
    leads = [
        (level.own - level.random.mean(), level.left_out - level.random.mean())
        for level in gains
        if level.left_out is not None
    ]
    own, possible = np.sum(leads, axis=0) if leads else (0.0, 1.0)
    return FAITHFUL if own >= REACH * possible else WEAK


def _needed(gains: Sequence[Gains]) -> float:
    """The margin to reach: less where the text is so short that leave-one-out hardly reaches it."""
    best = [level.left_out for level in gains if level.left_out is not None]
    return min(MARGIN, REACH * _margin(gains, best)) if len(best) == len(gains) else MARGIN


def _margin(gains: Sequence[Gains], values: Sequence[float]) -> float:
    if not gains:
        return 0.0
    random = np.mean([level.random for level in gains], axis=0)
    spread = float(random.std(ddof=1))
    lead = float(np.mean(values) - random.mean())
    # Differences below the rounding of a model's single precision are none.
    return lead / spread if spread > 1e-7 else 0.0
