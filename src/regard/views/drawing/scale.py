"""How strongly a weight is drawn, and how it is written."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...records.weights import Weights
from .colours import LEVELS
from .words import two_digits

__all__ = ["LEGEND_LEVELS", "Scale"]

LEGEND_LEVELS = (1, 3, 5, 7, 10)
"""The shades that a legend shows."""

# Within its own sentence a word that has half of the weight is drawn at full strength.
_IN_SENTENCE = (0.06, 0.5)


@dataclass(frozen=True, slots=True)
class Scale:
    """How weights of one kind are drawn: not at all up to ``quiet``, in full from ``full`` on."""

    quiet: float
    full: float
    signed: bool = False
    power: float = 0.5  # shades grow with the square root: a quarter of the weight still matters

    @classmethod
    def of(cls, weights: Weights | None) -> Scale:
        """The scale that suits words: fixed within sentences, else from an even share upwards.

        Weights that are spread evenly so get no shade at all, as they give no reason at all.
        """
        if weights is None or not len(weights):
            return cls(0.0, 0.0)
        signed = _is_signed(weights)
        if weights.by == "sentence" and not signed:
            # Every word has some share of its sentence; with the root they would all be loud.
            return cls(*_IN_SENTENCE, power=1.0)
        peak, mean = _peak_and_mean(weights)
        full = max(peak, min(6, len(weights)) * mean)
        return cls(min(max(1.25 * mean, 0.015 * full), full / 4), full, signed)

    @classmethod
    def of_sentences(cls, weights: Weights | None) -> Scale:
        """The scale for bars beside sentences; where none stands out, all are short."""
        if weights is None or not len(weights):
            return cls(0.0, 0.0)
        peak, mean = _peak_and_mean(weights)
        signed = _is_signed(weights)
        return cls(0.0, max(peak, min(3, len(weights)) * mean), signed)

    def length(self, value: float) -> float:
        """How long a bar is, from 0 to 1."""
        return min(1.0, abs(value) / self.full) if self.full else 0.0

    def level(self, value: float) -> int:
        """How strong a shade is, from 0 for none to ``LEVELS``."""
        if not self.full:
            return 0
        low, high = self.quiet**self.power, self.full**self.power
        strength = (min(abs(value), self.full) ** self.power - low) / (high - low)
        return max(0, round(LEVELS * strength))

    def value_at(self, level: int) -> float:
        """The weight that is drawn at such a level."""
        low, high = self.quiet**self.power, self.full**self.power
        return (low + (high - low) * level / LEVELS) ** (1 / self.power)

    def swatches(self) -> list[tuple[int, int]]:
        """The shades that a legend shows, a level and a sign each, from against to for."""
        shown = [(level, 1) for level in LEGEND_LEVELS]
        return [(level, -1) for level in LEGEND_LEVELS[:2:-1]] + shown[1:] if self.signed else shown

    def text(self, value: float) -> str:
        """The weight as it is written for people."""
        if not self.signed:
            return two_digits(value)
        # Never a false zero.
        return f"{value:+.0e}" if 0 < abs(value) < 0.0005 else f"{value:+.3f}"


def _is_signed(weights: Weights) -> bool:
    return weights.scores is not None or any(value < 0 for value in weights.values)


def _peak_and_mean(weights: Weights) -> tuple[float, float]:
    sizes = [abs(value) for value in weights.amounts]
    return max(sizes), math.fsum(sizes) / len(sizes)
