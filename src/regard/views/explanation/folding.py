"""Which sentences of a long text are shown at once, and which wait behind a line to be opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...records.explanation import Decision
from ...records.weights import Weights, pieces_holding_half
from ..drawing.colours import Scale
from .passages import Passage

__all__ = ["LONG", "QUIET", "Run", "deciding", "fold", "is_even", "is_long", "opposing", "runs"]

LONG = 40
"""From so many sentences on a text gets an overview, and its quiet parts are folded."""


QUIET = 0.2
"""Below this share of the longest bar a sentence is quiet."""

EVEN = 0.4
"""Where half of the weight lies on more than this share of the sentences, none stands out."""

_FEWEST = 10  # sentences; of fewer each is seen anyway
_DECIDING = 8  # sentences that can be jumped to
_MOST_SHOWN = 24  # sentences of a long text that are not folded, neighbours aside
_FOLDED = 5  # quiet sentences in a row from which on they are folded


def is_long(decision: Decision) -> bool:
    """Whether the text is too long to be taken in without help."""
    sentences = decision.level("sentence")
    return sentences is not None and len(sentences) >= LONG


def is_even(decision: Decision) -> bool:
    """Whether the weight is spread so evenly over many sentences that none stands out."""
    sentences = decision.level("sentence")
    if sentences is None or len(sentences) < _FEWEST or not any(sentences.values):
        return False
    return pieces_holding_half(sentences.values) >= EVEN * len(sentences)


def deciding(decision: Decision) -> list[int]:
    """The places of the few sentences that speak most for the label; quiet ones are none."""
    sentences = decision.level("sentence")
    return [] if sentences is None else _loud(sentences, sentences.heaviest(_DECIDING))


def opposing(decision: Decision) -> list[int]:
    """The places of the few sentences that speak most against the label; quiet ones are none."""
    sentences = decision.level("sentence")
    return [] if sentences is None else _loud(sentences, sentences.opposing(_DECIDING))


def _loud(sentences: Weights, places: Sequence[int]) -> list[int]:
    scale = Scale.of_sentences(sentences)
    return [place for place in places if scale.length(sentences.amounts[place]) >= QUIET]


@dataclass(frozen=True, slots=True)
class Run:
    """Lines that follow each other and are all shown or all folded."""

    first: int
    after: int
    quiet: bool


def fold(found: Sequence[Passage], decision: Decision) -> list[Run]:
    """Cut the lines of a long text into runs that are shown and runs that are folded.

    Where no sentence stands out, the few heaviest are shown all the same, and no more.
    """
    sentences = decision.level("sentence")
    if sentences is None:
        return [Run(0, len(found), quiet=False)]
    if is_even(decision):
        shown = {*deciding(decision), *opposing(decision)}
    else:
        order = sorted(range(len(sentences)), key=lambda place: -abs(sentences.amounts[place]))
        shown = set(_loud(sentences, order[:_MOST_SHOWN]))
    return list(runs([one.sentence is not None and one.sentence not in shown for one in found]))


def runs(quiet: Sequence[bool]) -> Iterator[Run]:
    """Cut lines into runs; beside each loud line one quiet line stays, to read it in."""
    near = [
        not (any(not other for other in quiet[max(0, place - 1) : place + 2]))
        for place in range(len(quiet))
    ]
    first = 0
    for place in range(1, len(near) + 1):
        if place == len(near) or near[place] != near[first]:
            yield Run(first, place, near[first] and place - first >= _FOLDED)
            first = place
