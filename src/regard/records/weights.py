"""How much each piece of an input counted: plain data, and what can be read off it."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import ge, itemgetter

from ..errors import DataError

__all__ = [
    "PHRASE",
    "Span",
    "Weights",
    "importance",
    "per_word",
    "phrases",
    "pieces_holding_half",
    "require_inside",
    "sum_by",
]

PHRASE = 4.0
"""How far the words about a word belong to its phrase: the standard deviation, in words."""

Span = tuple[int, int]
"""Where a piece of a text begins and ends: ``text[start:end]``."""


@dataclass(frozen=True, slots=True, repr=False)
class Weights:
    """How much each piece of the input counted, by one layer or one method.

    ``by`` says what the weights are shares of: with ``"sentence"`` the words of each sentence
    sum to one, with ``"document"`` all pieces together do. A layer with several hops, or heads,
    gives one column of values each in ``hops``; ``values`` is then their mean.

    A method that tells what speaks for the label from what speaks against it gives ``scores``,
    positive and negative, in its own ``unit``; ``values`` are then the shares of their sizes.
    """

    name: str  # "word", "sentence", "cross", "layer 3"
    pieces: tuple[
        tuple[int, ...], ...
    ]  # (start, end) in a text; (left, top, right, bottom) in a picture
    values: tuple[float, ...]
    by: str = "document"
    hops: tuple[tuple[float, ...], ...] = ()
    scores: tuple[float, ...] | None = None  # None: the method knows no sign
    unit: str = ""  # of the scores: "probability", "log-odds"
    measured: int | None = None  # how many scores were measured, the rest estimated; None: all

    @classmethod
    def from_scores(
        cls,
        name: str,
        pieces: Sequence[tuple[int, ...]],
        scores: Sequence[float],
        *,
        unit: str,
        measured: int | None = None,
    ) -> Weights:
        """The weights that signed scores stand for; all are zero where every score is."""
        found = tuple(scores)
        shares = _shares(tuple(map(abs, found)))
        return cls(name, tuple(pieces), shares, scores=found, unit=unit, measured=measured)

    def __post_init__(self) -> None:
        for values in (self.values, *self.hops, *([] if self.scores is None else [self.scores])):
            if len(values) != len(self.pieces):
                raise DataError(
                    f"{len(values)} {self.name} weights do not fit {len(self.pieces)} pieces"
                )
            if not all(map(math.isfinite, values)):
                raise DataError(
                    f"some {self.name} weights are not finite numbers; has the model diverged?"
                )

    def __repr__(self) -> str:
        hops = f", {len(self.hops)} hops" if self.hops else ""
        return f"Weights({self.name!r} by {self.by}, {len(self.pieces)} pieces{hops})"

    def __len__(self) -> int:
        """How many pieces there are."""
        return len(self.pieces)

    @property
    def amounts(self) -> tuple[float, ...]:
        """What pieces are ranked and drawn by: the scores where there are any, else the values."""
        return self.values if self.scores is None else self.scores

    def heaviest(self, count: int | None = None) -> list[int]:
        """The places of the pieces that speak for the label, the heaviest first.

        A piece that has no weight is none of them, nor is one that speaks against the label,
        however much; of equal pieces the one that comes first in the text is first.
        """
        found = [place for place, amount in enumerate(self.amounts) if amount > 0]
        return sorted(found, key=lambda place: -self.amounts[place])[:count]

    def opposing(self, count: int | None = None) -> list[int]:
        """The places of the pieces that speak against the label, the strongest first."""
        found = [place for place, amount in enumerate(self.amounts) if amount < 0]
        return sorted(found, key=lambda place: self.amounts[place])[:count]

    def at_hop(self, hop: int) -> Weights:
        """The weights of one hop alone."""
        return replace(self, values=self.hops[hop], hops=())


def require_inside(spans: Sequence[tuple[int, ...]], text: str) -> None:
    """Raise ``DataError`` where a span does not lie in the text; cells of pictures are no spans."""
    if set(map(len, spans)) != {2}:
        return
    starts, ends = zip(*spans, strict=True)
    if min(starts) >= 0 and max(ends) <= len(text) and all(map(ge, ends, starts)):
        return
    for start, end in spans:
        if not 0 <= start <= end <= len(text):
            raise DataError(f"{start}:{end} is no span of a text of {len(text)} characters")


def importance(words: Weights, sentences: Weights, *, length_corrected: bool = False) -> Weights:
    """Word weight x sentence weight: the share of the document that each word has; sums to one.

    A word of a long sentence must share with many others. ``length_corrected`` multiplies by the
    number of words in the sentence as well, then makes the sum one again.
    """
    homes = _homes(words, sentences)
    factors = list(sentences.values)
    if length_corrected:
        for home, count in enumerate(_counts(homes, len(sentences))):
            factors[home] *= count
    values = _products(words.values, homes, factors)
    hops = tuple(_products(column, homes, factors) for column in words.hops)
    if sentences.hops:
        # Hops of words and of sentences are no pairs: only the product of their means is kept.
        hops = ()
    if length_corrected:
        values, hops = _shares(values), tuple(map(_shares, hops))
    return Weights("importance", words.pieces, values, by="document", hops=hops)


def sum_by(words: Weights, sentences: Sequence[Span]) -> Weights:
    """Add up the weights, or the signed scores, of the words in each sentence."""
    frame = Weights("sentence", tuple(sentences), (0.0,) * len(sentences))
    homes = _homes(words, frame)

    def totals(values: Sequence[float]) -> tuple[float, ...]:
        found: list[list[float]] = [[] for _ in sentences]
        for home, value in zip(homes, values, strict=True):
            found[home].append(value)
        return tuple(map(math.fsum, found))

    if words.scores is not None:
        return Weights.from_scores("sentence", sentences, totals(words.scores), unit=words.unit)
    return replace(frame, values=totals(words.values), hops=tuple(map(totals, words.hops)))


def phrases(words: Weights, sentences: Weights | None = None) -> Weights:
    """Weigh each word by the phrase about it: the mean of its sentence, near words counting most.

    Words count by a bell as wide as ``PHRASE``. One strong word marks the words beside it; words
    for and against the label that stand together make up for each other.
    """
    import numpy as np

    homes = [0] * len(words) if sentences is None else _homes(words, sentences)
    reach = int(4 * PHRASE)
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / PHRASE) ** 2)
    found: list[float] = []
    for _, run in groupby(zip(homes, words.amounts, strict=True), key=itemgetter(0)):
        amounts = np.array([amount for _, amount in run])
        # Where the sentence ends the bell does too: what is left of it counts as the whole.
        sums, whole = (np.convolve(row, bell) for row in (amounts, np.ones(len(amounts))))
        found += (sums / whole)[reach : reach + len(amounts)].tolist()
    if words.scores is None:
        return Weights("phrase", words.pieces, _shares(found))
    sizes = _shares([abs(score) for score in found])
    return Weights("phrase", words.pieces, sizes, scores=tuple(found), unit=words.unit)


def per_word(sentences: Weights, words: Weights) -> Weights:
    """Weigh each sentence by what it says a word: a long one has no lead by its length.

    It is not what is lost without the sentence, but tells better where in a text the reasons lie.
    """
    counts = _counts(_homes(words, sentences), len(sentences))
    means = [
        amount / max(count, 1) for amount, count in zip(sentences.amounts, counts, strict=True)
    ]
    if sentences.scores is None:
        return Weights("sentence, per word", sentences.pieces, _shares(means))
    spans = [(piece[0], piece[1]) for piece in sentences.pieces]
    return Weights.from_scores("sentence, per word", spans, means, unit=sentences.unit)


def pieces_holding_half(values: Sequence[float]) -> int:
    """How few pieces hold half of all the weight; the sign of a weight does not count."""
    sizes = sorted(map(abs, values), reverse=True)
    # A hair less than half, so that two equal pieces need one and not, by rounding, both.
    wanted, held = math.fsum(sizes) / 2 * (1 - 1e-9), 0.0
    for count, size in enumerate(sizes):
        if held >= wanted:
            return count
        held += size
    return len(sizes)


def _homes(words: Weights, sentences: Weights) -> list[int]:
    """The sentence that each word stands in."""
    starts, ends = ([piece[side] for piece in sentences.pieces] for side in (0, 1))
    homes = [bisect_right(starts, piece[0]) - 1 for piece in words.pieces]
    inside = map(ge, map(ends.__getitem__, homes), map(itemgetter(1), words.pieces))
    if not all(inside) or min(homes, default=0) < 0:
        for home, (start, end) in zip(homes, words.pieces, strict=True):
            if home < 0 or end > ends[home]:
                raise DataError(f"the word at {start}:{end} stands in no sentence")
    return homes


def _counts(homes: Sequence[int], sentence_count: int) -> list[int]:
    counts = Counter(homes)
    return [counts[home] for home in range(sentence_count)]


def _products(
    values: Sequence[float], homes: Sequence[int], factors: Sequence[float]
) -> tuple[float, ...]:
    return tuple(value * factors[home] for value, home in zip(values, homes, strict=True))


def _shares(values: Sequence[float]) -> tuple[float, ...]:
    total = math.fsum(values)
    return tuple(map(total.__rtruediv__, values)) if total else tuple(values)
