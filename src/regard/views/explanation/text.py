"""The text of an explanation as HTML: a line a sentence, its bar, its words, quiet parts folded.

A long text has an overview as well: a strip of its sentences, and links to those that count.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...records.explanation import Decision, Explanation
from ...records.weights import Weights
from ..drawing.colours import Scale
from ..drawing.page import escape
from ..drawing.words import two_digits
from ..drawing.wrapping import is_right_to_left
from .folding import QUIET, deciding, fold, is_long, opposing
from .passages import Passage, Stretch, other_bars, passages, shadings

__all__ = ["anchor", "overview", "text"]

_FOCUSABLE = 10  # words that the tab key reaches; more would be a burden, not a help


def anchor(explanation: Explanation, decision: Decision) -> str:
    """A name for the text of one decision; the same text explained otherwise has another."""
    amounts = [weights.amounts for weights in decision.weights if weights.name == "sentence"]
    told = f"{explanation.source}\0{explanation.method}\0{decision.label}\0{amounts}"
    return "rg-" + hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:10]


def text(explanation: Explanation, decision: Decision) -> str:
    """Return the whole text, nothing left out."""
    sentences = decision.level("sentence")
    direction = "rtl" if is_right_to_left(explanation.source) else "ltr"
    plain = " rg-plain" if sentences is None else ""
    writer = _Writer(explanation, decision)
    found = passages(explanation, decision)
    body = writer.folded(found) if is_long(decision) else "".join(map(writer.line, found))
    return f'<div class="rg-text{plain}" dir="{direction}">{body}</div>'


class _Writer:
    """Writes the lines of one text."""

    def __init__(self, explanation: Explanation, decision: Decision) -> None:
        self._decision = decision
        self._ink = _WordInk(decision)
        self._sentences = decision.level("sentence")
        self._scale = Scale.of_sentences(self._sentences)
        self._others = [(Scale.of_sentences(one), one) for one in other_bars(decision).values()]
        loud = {*deciding(decision), *opposing(decision)}
        self._loud = loud if is_long(decision) else set()
        self._anchor = anchor(explanation, decision) if is_long(decision) else ""

    def line(self, passage: Passage) -> str:
        words = "".join(map(self._ink.draw, passage.stretches))
        if self._sentences is None:
            return f'<div class="rg-line"><p dir="auto">{words}</p></div>'
        place = passage.sentence
        bars, gutter = "--v:0.00", '<span class="rg-gutter rg-none">not read</span>'
        if place is not None:
            bars, gutter = self._bars(place), self._gutter(self._sentences, place)
        return (
            f'<div class="rg-line{" rg-loud" * (place in self._loud)}"{self._name(place)} '
            f'style="{bars}">{gutter}<p dir="auto"><span>{words}</span></p></div>'
        )

    def folded(self, found: Sequence[Passage]) -> str:
        """All lines, those of long quiet runs behind a line that can be opened."""
        parts = []
        for run in fold(found, self._decision):
            some = found[run.first : run.after]
            lines = "".join(map(self.line, some))
            if run.quiet:
                lines = f'<details class="rg-fold">{self._summary(some)}{lines}</details>'
            parts.append(lines)
        return "".join(parts)

    def _name(self, place: int | None) -> str:
        if not self._anchor or place is None:
            return ""
        return f' id="{self._anchor}-{place + 1}"' + ' tabindex="-1"' * (place in self._loud)

    def _bars(self, place: int) -> str:
        """The lengths of a sentence's bar, of the usual one and of the others."""
        assert self._sentences is not None
        lengths = [f"--v:{self._scale.length(self._sentences.amounts[place]):.2f}"]
        lengths += [
            f"--v{number}:{scale.length(weights.amounts[place]):.2f}"
            for number, (scale, weights) in enumerate(self._others, start=1)
        ]
        return ";".join(lengths)

    def _gutter(self, sentences: Weights, place: int) -> str:
        value = sentences.amounts[place]
        quiet = self._scale.length(value) < QUIET
        kinds = "rg-gutter" + " rg-quiet" * quiet + " rg-minus" * (value < 0)
        others = "".join(
            f' data-b{number}="{escape(scale.text(weights.amounts[place]))}"'
            for number, (scale, weights) in enumerate(self._others, start=1)
        )
        said = f'title="sentence {place + 1}"{others}>{escape(self._scale.text(value))}'
        return f'<span class="{kinds}" {said}</span>'

    def _summary(self, folded: Sequence[Passage]) -> str:
        assert self._sentences is not None
        weight = sum(self._sentences.values[one.sentence or 0] for one in folded)
        start = " ".join("".join(part.text for part in folded[0].stretches).split())
        return (
            f"<summary>{len(folded):,} quiet sentences, {escape(two_digits(weight))} of the "
            f"weight <span><bdi>{escape(start[:80])}…</bdi></span></summary>"
        )


class _WordInk:
    """Draws the stretches of a text; a word that hardly counts gets no markup of its own."""

    def __init__(self, decision: Decision) -> None:
        found = shadings(decision)
        self._columns = [(one.key, one.scale, one.weights.amounts, one.said) for one in found]
        first = found[0].weights.amounts if found else ()
        order = sorted(range(len(first)), key=lambda place: -abs(first[place]))
        self._focusable = frozenset(order[:_FOCUSABLE])

    def draw(self, stretch: Stretch) -> str:
        text = escape(stretch.text)
        if stretch.kind in ("tag", "unread"):
            return f'<span class="rg-{stretch.kind}">{text}</span>'
        if stretch.kind == "word" and stretch.word is not None:
            return self._word(stretch.word, text, stretch)
        return f"<u>{text}</u>" if stretch.unknown else text

    def _word(self, place: int, text: str, stretch: Stretch) -> str:
        unknown = stretch.unknown
        kinds: list[str] = []
        for key, scale, values, _ in self._columns:
            level = scale.level(values[place])
            if level > 0:
                # Each shading has its own sign: a word for the label may stand in a phrase against.
                kinds += [f"{key}{level}"] + [f"{key}-minus"] * (values[place] < 0)
        if not kinds:
            return f"<u>{text}</u>" if unknown else text
        kinds += ["rg-unknown"] * unknown
        focus = " tabindex=0" if place in self._focusable else ""
        told = [
            f"{escape(scale.text(values[place]))} {said}"
            for _, scale, values, said in self._columns
            if said
        ]
        told += ["not in the vocabulary"] * unknown
        told += [] if stretch.read_as is None else [f"read as {escape(stretch.read_as)}"]
        return f'<mark class="{" ".join(kinds)}" data-w="{"&#10;".join(told)}"{focus}>{text}</mark>'


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
        f"{place + 1:,}<small>{escape(scale.text(sentences.amounts[place]))}</small></a>"
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
        f"<title>sentence {cell.place + 1:,}, {escape(scale.text(cell.value))}</title></a>"
    )
