"""How faithful an explanation was measured to be: plain data."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "CHANCE",
    "FAITHFUL",
    "NOT_MEASURED",
    "TOO_SHORT",
    "WEAK",
    "Curve",
    "Judgement",
    "Measure",
    "Receipt",
]

FAITHFUL, WEAK, CHANCE = "faithful", "weak", "no better than chance"
TOO_SHORT, NOT_MEASURED = "too short to tell", "not measured"


@dataclass(frozen=True, slots=True)
class Measure:
    """One number about an explanation, beside what random rankings of the pieces get on average."""

    name: str  # "comprehensiveness", "sufficiency", "flip", "agreement"
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
class Judgement:
    """What can be said of the scores of one level, and how likely chance alone would say it.

    The model was asked without many random sets of pieces. ``agreement`` is the correlation of
    what the answer lost with what the scores of each set add up to; ``p_value`` is the share of
    shuffles of the scores, their own order counted, that agree as well.
    """

    level: str  # "word" or "sentence"
    verdict: str  # one of the five that this module names
    p_value: float | None = None  # None: nothing was tested
    agreement: float | None = None  # from -1 to 1
    lead: float | None = None  # how much more probability hangs on the heaviest than on random ones
    sets: int = 0  # how many were taken away
    shuffles: int = 0  # how many orders of the scores were tried


@dataclass(frozen=True, slots=True)
class Receipt:
    """How faithful an explanation was measured to be, by asking the model again without pieces."""

    verdict: str  # words and sentences together: where they differ, "weak"
    measures: tuple[Measure, ...]
    bins: tuple[float, ...] = ()  # the shares of the pieces that were erased
    curves: tuple[Curve, ...] = ()
    random_rankings: int = 0  # how many the baseline is the mean of
    margin: float = 0.0  # by how many of their standard deviations the random ones are beaten
    rivals: float | None = None  # the share of random rankings that do as well
    erasure: str = "delete"  # how the pieces were taken away
    judgements: tuple[Judgement, ...] = ()  # words and sentences apart

    def measure(self, name: str, level: str = "") -> Measure | None:
        """The measure of that name, at that level, if it was taken."""
        return next((one for one in self.measures if (one.name, one.level) == (name, level)), None)

    def judgement(self, level: str) -> Judgement | None:
        """What is said of the words or of the sentences, if they were looked at."""
        return next((one for one in self.judgements if one.level == level), None)

    def curve(self, level: str) -> Curve | None:
        """The curve of the words or of the sentences, if it was taken."""
        return next((curve for curve in self.curves if curve.level == level), None)
