"""How faithful an explanation was measured to be: plain data."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Curve", "Measure", "Receipt"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One number about an explanation, beside what random rankings of the pieces get on average."""

    name: str  # "comprehensiveness", "sufficiency", "tau", "flip"
    value: float
    random: float | None = None
    level: str = ""  # what was ranked: "word" or "sentence"


@dataclass(frozen=True, slots=True)
class Curve:
    """The probability of the label while pieces are taken away, the heaviest first.

    One number for each bin of the receipt; those of random rankings are means.
    """

    level: str  # "word" or "sentence"
    piece_count: int  # of the document
    taken: tuple[int, ...]  # how many pieces each bin is
    without: tuple[float, ...]  # the probability without them
    alone: tuple[float, ...]  # the probability of them alone
    random_without: tuple[float, ...]
    random_alone: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Receipt:
    """How faithful an explanation was measured to be, by asking the model again without pieces."""

    verdict: str  # "faithful", "weak", "no better than chance"
    measures: tuple[Measure, ...]
    bins: tuple[float, ...] = ()  # the shares of the pieces that were erased
    curves: tuple[Curve, ...] = ()
    random_rankings: int = 0  # how many the baseline is the mean of
    margin: float = 0.0  # by how many of their standard deviations the random ones are beaten
    rivals: float | None = None  # the share of random rankings that do as well
    erasure: str = "delete"  # how the pieces were taken away

    def measure(self, name: str, level: str = "") -> Measure | None:
        """The measure of that name, at that level, if it was taken."""
        return next((one for one in self.measures if (one.name, one.level) == (name, level)), None)

    def curve(self, level: str) -> Curve | None:
        """The curve of the words or of the sentences, if it was taken."""
        return next((curve for curve in self.curves if curve.level == level), None)
