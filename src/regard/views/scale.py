"""How strongly a weight is drawn, and how it is written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..records.weights import Weights
from .colours import LEVELS

__all__ = ["Scale", "percent"]

# Below this share of the full strength nothing is drawn: a page tinted all over says nothing.
_QUIET = 0.12

# Within its own sentence a word that has half of the weight is drawn at full strength.
_FULL_IN_SENTENCE = 0.5


@dataclass(frozen=True, slots=True)
class Scale:
    """How the weights of one kind are drawn: in full from ``full`` on, and as shares or signed."""

    full: float
    signed: bool = False
    power: float = 0.5  # shades grow with the square root: a quarter of the weight still matters

    @classmethod
    def of(cls, weights: Weights) -> Scale:
        """The scale that suits the weights: fixed within sentences, by the heaviest otherwise."""
        signed = any(value < 0 for value in weights.values)
        if weights.by == "sentence" and not signed:
            # Every word has some share of its sentence; with the root they would all be loud.
            return cls(_FULL_IN_SENTENCE, power=1.0)
        return cls(_standing_out(weights.values, factor=10), signed)

    @classmethod
    def of_sentences(cls, weights: Weights) -> Scale:
        """The scale for bars beside sentences, of which there are fewer than words."""
        signed = any(value < 0 for value in weights.values)
        return cls(_standing_out(weights.values, factor=3), signed)

    def length(self, value: float) -> float:
        """How long a bar is, from 0 to 1."""
        return min(1.0, abs(value) / self.full) if self.full else 0.0

    def level(self, value: float) -> int:
        """How strong a shade is, from 0 for none to ``LEVELS``."""
        strength = (self.length(value) ** self.power - _QUIET) / (1 - _QUIET)
        return max(0, round(LEVELS * strength))

    def value_at(self, level: int) -> float:
        """The weight that is drawn at such a level."""
        return self.full * (_QUIET + (1 - _QUIET) * level / LEVELS) ** (1 / self.power)

    def text(self, value: float) -> str:
        """The weight as it is written for people."""
        return f"{value:+.3f}" if self.signed else percent(value)


def percent(share: float) -> str:
    """A share as it is written for people: two digits that matter, and never a false zero or hundred."""
    hundredths = 100 * share
    if hundredths >= 99.95:
        return "100 %" if share >= 1 - 1e-9 else ">99.9 %"
    if hundredths >= 9.95:
        return f"{hundredths:.0f} %"
    if hundredths >= 0.05:
        return f"{hundredths:.1f} %"
    return "0 %" if share <= 0 else "<0.1 %"


def _standing_out(values: Sequence[float], factor: int) -> float:
    """The heaviest weight, or ``factor`` times the mean where none stands out as much.

    So weights that are spread evenly look as pale as they are.
    """
    sizes = [abs(value) for value in values]
    if not sizes:
        return 0.0
    return max(max(sizes), min(factor, len(sizes)) * math.fsum(sizes) / len(sizes))
