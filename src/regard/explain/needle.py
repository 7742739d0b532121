"""The needle test: a telling sentence is planted among others, and must be found again.

Both come from the reader's own texts. A needle is a sentence that alone gets its label with great
certainty; the hay are those that alone say least. So where the evidence is, is known exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..records.audit import NeedleCell
from ..records.explanation import Explanation
from ..records.weights import Span
from .rankings import Floats
from .tally import Protocol

__all__ = ["LENGTHS", "PROTOCOLS", "Haystack", "Planted", "Sought", "cell", "places", "sought"]

LENGTHS = (5, 10, 20, 40)
NEEDLES = 5
"""How many sentences of each class are planted, the surest ones."""
POSITIONS = 5

PROTOCOLS = {
    "needle_recall": Protocol(
        "share of documents in which a planted sentence is the one with the largest score",
        baseline="random sentence",
    ),
}


@dataclass(frozen=True, slots=True)
class Planted:
    """A document with one telling sentence, and where it stands."""

    text: str
    span: Span
    number: int  # of the class that the sentence tells
    length: int
    position: int


@dataclass(frozen=True, slots=True)
class Sought:
    """What became of one planted sentence."""

    planted: Planted
    found: bool  # it has the largest score
    read: bool  # the model saw it
    answered: bool  # the document got its label


@dataclass(frozen=True, slots=True)
class Haystack:
    """Sentences that say little, and for each class some that say much."""

    hay: tuple[str, ...]
    needles: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, sentences: Sequence[str], likely: Floats) -> Haystack:
        """Sort sentences by what each alone makes the model say, (sentences, classes)."""
        surest = [np.argsort(-likely[:, number])[:NEEDLES] for number in range(likely.shape[1])]
        needles = tuple(
            (sentences[place], number)
            for number, places in enumerate(surest)
            for place in places.tolist()
            if likely[place].argmax() == number
        )
        usual = np.median(likely, axis=0)
        telling = np.abs(likely - usual).max(1)
        quiet = np.argsort(telling, kind="stable")[: max(1, len(sentences) // 2)]
        taken = {text for text, _ in needles}
        hay = tuple(sentences[place] for place in quiet.tolist() if sentences[place] not in taken)
        return cls(hay, needles)

    def planted(
        self, length: int, position: int, *, count: int, draw: np.random.Generator
    ) -> Iterator[Planted]:
        """Make documents of so many sentences with a needle at one position, from 0."""
        for _ in range(count):
            needle, number = self.needles[draw.integers(len(self.needles))]
            rest = draw.choice(len(self.hay), length - 1, replace=length - 1 > len(self.hay))
            sentences = [self.hay[place] for place in rest.tolist()]
            sentences.insert(position, needle)
            # A blank line ends a sentence, whatever it is made of.
            before = "".join(f"{sentence}\n\n" for sentence in sentences[:position])
            span = (len(before), len(before) + len(needle))
            yield Planted("\n\n".join(sentences), span, number, length, position)


def places(length: int, cap: int | None) -> list[int]:
    """The positions to try in documents of one length; both sides of a cap are among them."""
    found = {round(step * (length - 1) / (POSITIONS - 1)) for step in range(POSITIONS)}
    if cap is not None and cap < length:
        found |= {cap - 1, cap}
    return sorted(found)


def sought(planted: Planted, explanation: Explanation, *, answered: bool) -> Sought:
    """See whether an explanation gives the planted sentence more than any other."""
    sentences = explanation.decisions[0].level("sentence")
    if sentences is None:
        return Sought(planted, found=False, read=False, answered=answered)
    inside = np.array(
        [start < planted.span[1] and end > planted.span[0] for start, end in sentences.pieces],
        dtype=bool,
    )
    amounts = np.array(sentences.amounts)
    read = bool(inside.any())
    # More than any other: where all are equal nothing has been found.
    others = float(amounts[~inside].max(initial=-np.inf))
    found = read and float(amounts[inside].max()) > others
    return Sought(planted, found=found, read=read, answered=answered)


def cell(found: Sequence[Sought]) -> NeedleCell:
    """Count what became of the sentences planted at one position of one length."""
    return NeedleCell(
        length=found[0].planted.length,
        position=found[0].planted.position,
        documents=len(found),
        found=sum(one.found for one in found),
        unread=sum(not one.read for one in found),
        answered=sum(one.answered for one in found),
    )
