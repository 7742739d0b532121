"""The needle test with the same sentence several times: is evidence missed where it is repeated?

Attention is shared out, and without one of two equal sentences the answer hardly moves. So an
explanation may find a sentence that stands alone, and lose it where it stands twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..records.explanation import Explanation
from ..records.weights import Span
from .needle import Haystack
from .tally import Measured, Protocol

__all__ = ["COPIES", "LENGTH", "PROTOCOLS", "Repeated", "recalled", "repeated"]

COPIES = (2, 4)
LENGTH = 20

PROTOCOLS = {
    f"needle_recall_{copies}": Protocol(
        f"a sentence is planted {copies} times in {LENGTH}: the share of them that are among the "
        f"{copies} with the largest scores",
        baseline="random sentences",
    )
    for copies in COPIES
}


@dataclass(frozen=True, slots=True)
class Repeated:
    """A document that holds one telling sentence several times, and where."""

    text: str
    spans: tuple[Span, ...]
    number: int  # of the class that the sentence tells


def repeated(
    stack: Haystack, copies: int, *, count: int, draw: np.random.Generator
) -> Iterator[Repeated]:
    """Make documents of ``LENGTH`` sentences with a needle so many times, at places drawn."""
    for _ in range(count):
        needle, number = stack.needles[draw.integers(len(stack.needles))]
        chosen = draw.choice(len(stack.hay), LENGTH, replace=len(stack.hay) < LENGTH)
        sentences = [stack.hay[place] for place in chosen.tolist()]
        places = sorted(draw.choice(LENGTH, copies, replace=False).tolist())
        for place in places:
            sentences[place] = needle
        # A blank line stands between two sentences.
        starts = np.cumsum([0, *(len(sentence) + 2 for sentence in sentences)]).tolist()
        spans = tuple((starts[place], starts[place] + len(needle)) for place in places)
        yield Repeated("\n\n".join(sentences), spans, number)


def recalled(planted: Repeated, explanation: Explanation) -> Measured:
    """Return the share of the copies that are among as many heaviest sentences."""
    copies = len(planted.spans)
    chance = copies / LENGTH
    sentences = explanation.decisions[0].level("sentence")
    if sentences is None:
        return Measured(0.0, chance)
    inside = np.array(
        [
            any(start < last and end > first for first, last in planted.spans)
            for start, end in sentences.pieces
        ],
        dtype=bool,
    )
    amounts = np.array(sentences.amounts)
    # Of equal scores the hay comes first: where all are equal nothing has been found.
    heaviest = np.lexsort((inside, -amounts))[:copies]
    return Measured(float(inside[heaviest].sum()) / copies, chance)
