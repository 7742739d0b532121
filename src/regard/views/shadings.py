"""The ways in which the words of a page can be shaded; a reader chooses one."""

from __future__ import annotations

from dataclasses import dataclass

from ..records.explanation import Decision
from ..records.weights import Weights
from .scale import Scale

__all__ = ["Shading", "shadings", "unit_of"]


@dataclass(frozen=True, slots=True)
class Shading:
    """One way to shade words, and how it is called on the switch and in the legend."""

    name: str
    title: str
    legend: str
    weights: Weights
    said: str = ""  # what a word's number is a share of; empty where the number alone says little

    @property
    def scale(self) -> Scale:
        """How strongly each weight is drawn."""
        return Scale.of(self.weights)


_UNITS = {
    "probability": "how far the probability falls without it",
    "log-odds": "log-odds for the label, or against it",
}


def unit_of(weights: Weights | None) -> str:
    """What the numbers of these weights are, for a legend."""
    if weights is None or weights.scores is None:
        return "share of the document"
    return _UNITS.get(weights.unit, "for the label, or against it")


def shadings(decision: Decision) -> list[Shading]:
    """The shadings that the weights allow, the usual one first; none without word weights."""
    words, shares = decision.level("word"), decision.importance()
    corrected = decision.importance(length_corrected=True)
    found: list[Shading] = []
    if shares is not None:
        said = "of the document" if shares.scores is None else shares.unit
        found.append(Shading("document", "word × sentence", unit_of(shares), shares, said))
    if words is not None and words.by == "sentence":
        if corrected is not None:
            # The words of a short sentence share its weight among few, and so look heavy.
            legend = "share of the document, made up for sentence length"
            found.append(Shading("corrected", "word × sentence × length", legend, corrected))
        found.append(
            Shading("sentence", "word alone", "share of its sentence", words, "of its sentence")
        )
    return found
