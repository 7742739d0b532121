"""The ways in which the words of a page can be shaded; a reader chooses one."""

from __future__ import annotations

from dataclasses import dataclass

from ...records.explanation import Decision
from ...records.weights import Weights
from ..drawing.scale import Scale

__all__ = ["HOP_KEY", "KEYS", "MOST_HOPS", "Shading", "hop_count", "shadings", "unit_of"]

KEYS = ("x", "y", "z")
"""How the style sheet calls the shadings that are no hops; the first is shown at first."""


HOP_KEY = "h{}-"
"""How the style sheet calls the shading by one hop, counted from 1."""


MOST_HOPS = 32
"""How many hops a page can switch between; their mean is of all there are."""


@dataclass(frozen=True, slots=True)
class Shading:
    """One way to shade words, and how it is called on the switch and in the legend."""

    key: str
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


def hop_count(weights: Weights | None) -> int:
    """How many hops of these weights a page can switch between."""
    return 0 if weights is None else min(len(weights.hops), MOST_HOPS)


def shadings(decision: Decision) -> list[Shading]:
    """The shadings that the weights allow, the usual one first; none without word weights."""
    words, shares = decision.level("word"), decision.importance()
    corrected = decision.importance(length_corrected=True)
    keys = iter(KEYS)
    found: list[Shading] = []
    if shares is not None:
        said = "of the document" if shares.scores is None else shares.unit
        found.append(Shading(next(keys), "word × sentence", unit_of(shares), shares, said))
    if words is not None and words.by == "sentence":
        if corrected is not None:
            # The words of a short sentence share its weight among few, and so look heavy.
            legend = "share of the document, made up for sentence length"
            found.append(Shading(next(keys), "word × sentence × length", legend, corrected))
        said = "of its sentence"
        found.append(Shading(next(keys), "word alone", f"share {said}", words, said))
    return found + _hops(words, shares)


def _hops(words: Weights | None, shares: Weights | None) -> list[Shading]:
    """One shading a hop: of the document where that can be said, else of the sentence."""
    source = shares if shares is not None and shares.hops else words
    if source is None:
        return []
    whole = source.by == "document"
    said = "share of the document" if whole else "share of its sentence"
    return [
        Shading(
            HOP_KEY.format(hop + 1), str(hop + 1), f"{said} in hop {hop + 1}", source.at_hop(hop)
        )
        for hop in range(hop_count(source))
    ]
