"""An overview of a long text: a strip of its sentences, and links to those that count most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..records.explanation import Decision, Explanation
from ..records.weights import Weights
from .drawing.page import escaped
from .drawing.scale import Scale
from .lines import anchor, deciding, is_long, opposing

__all__ = ["overview"]

_CELLS = 400  # of a strip; where there are more sentences, neighbours share one
_WIDTH, _HEIGHT = 1000, 30


def overview(explanation: Explanation, decision: Decision) -> str:
    """Return the strip and the links; nothing for a text that is short enough without."""
    sentences = decision.level("sentence")
    if sentences is None or not is_long(decision):
        return ""
    name = anchor(explanation, decision)
    scale = Scale.of_sentences(sentences)
    cells = "".join(_cell(cell, name, scale) for cell in _cells(explanation, sentences))
    lists = {"Deciding sentences": deciding(decision), "Speaks against it": opposing(decision)}
    found = " ".join(
        f"<span>{title}</span> {_links(places, name, sentences)}"
        for title, places in lists.items()
        if places
    )
    found = found or "<span>Nothing stands out</span>"
    return (
        '<nav class="rg-overview" aria-label="Overview of the text">'
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" aria-hidden="true">'
        f'{cells}</svg><p>{found}<span class="rg-hint"><kbd>d</kbd> heaviest <kbd>n</kbd> next '
        "<kbd>p</kbd> previous <kbd>f</kbd> unfold</span></p></nav>"
    )


def _links(places: Sequence[int], name: str, sentences: Weights) -> str:
    scale = Scale.of_sentences(sentences)
    return " ".join(
        f'<a{" class=rg-minus" * (sentences.amounts[place] < 0)} href="#{name}-{place + 1}">'
        f"{place + 1:,}<small>{escaped(scale.text(sentences.amounts[place]))}</small></a>"
        for place in places
    )


@dataclass(frozen=True, slots=True)
class _Cell:
    """A stretch of the text, and the sentence in it that counts most, for or against the label."""

    start: float  # from 0 to 1
    end: float
    place: int
    value: float


def _cells(explanation: Explanation, sentences: Weights) -> Iterator[_Cell]:
    size = max(1, len(explanation.source))
    step = -(-len(sentences) // _CELLS)
    for first in range(0, len(sentences), step):
        some = range(first, min(first + step, len(sentences)))
        place = max(some, key=lambda one: abs(sentences.amounts[one]))
        start, end = sentences.pieces[some[0]][0], sentences.pieces[some[-1]][1]
        yield _Cell(start / size, end / size, place, sentences.amounts[place])


def _cell(cell: _Cell, name: str, scale: Scale) -> str:
    left, width = _WIDTH * cell.start, max(_WIDTH * (cell.end - cell.start), 1.0)
    height = max(1.5, _HEIGHT * scale.length(cell.value))
    minus = " class=rg-minus" * (cell.value < 0)
    return (
        f'<a href="#{name}-{cell.place + 1}" tabindex="-1"><rect class="rg-back" x="{left:.1f}" '
        f'width="{width:.1f}" height="{_HEIGHT}"/><rect{minus} x="{left:.1f}" '
        f'y="{_HEIGHT - height:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
        f"<title>sentence {cell.place + 1:,}, {escaped(scale.text(cell.value))}</title></a>"
    )
