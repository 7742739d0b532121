"""The text of an explanation, cut for drawing into lines and stretches, nothing left out.

And the ways in which its words can be shaded, of which a reader of a page chooses one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from ...records.explanation import Decision, Explanation
from ...records.weights import Span, Weights
from ..drawing.colours import Scale

__all__ = [
    "HOP_KEY",
    "KEYS",
    "MOST_HOPS",
    "Passage",
    "Shading",
    "Stretch",
    "hop_count",
    "other_bars",
    "passages",
    "shadings",
    "unit_of",
]

KEYS = ("x", "y", "z", "w", "n", "m")
"""How the style sheet calls the shadings that are no hops; the first is shown at first."""
_NGRAMS, _NETWORK = KEYS[-2:]
HOP_KEY = "h{}-"
"""How the style sheet calls the shading by one hop, counted from 1."""
MOST_HOPS = 32
"""How many hops a page can switch between; their mean is of all there are."""
_UNITS = {
    "probability": "how far the probability falls without it",
    "log-odds": "log-odds for the label, or against it",
}

# No "<" inside, so that a text of nothing but "<" is still scanned in one go.
_TAG = re.compile(r"<[/!]?[A-Za-z-][^<>]*>")
_SEPARATOR = re.compile(rf"(?:\s|{_TAG.pattern})+")

Kind = Literal["word", "between", "tag", "unread"]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of the text that is drawn alike from end to end."""

    text: str
    kind: Kind
    word: int | None = None  # its place among the word weights
    unknown: bool = False
    read_as: str | None = None  # the known word that the model takes it for


@dataclass(frozen=True, slots=True)
class Passage:
    """One line of the picture: a sentence with its quotes and what follows up to the next one."""

    sentence: int | None  # its place among the sentence weights; None where the model read nothing
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class _Mark:
    span: Span
    word: int | None
    unknown: bool


def passages(explanation: Explanation, decision: Decision) -> list[Passage]:
    """Cut the text at its sentences; all stretches joined are the text again."""
    cuts = _Cuts(explanation.source, explanation.unread)
    marks = iter(_marks(explanation, decision))
    readings = dict(explanation.read_as)
    following = next(marks, None)
    found: list[Passage] = []
    for sentence, (start, end) in _lines(cuts, decision):
        stretches: list[Stretch] = []
        place = start
        while following is not None and following.span[0] < end:
            stretches += cuts.between(place, following.span[0])
            text = explanation.source[following.span[0] : following.span[1]]
            reading = readings.get(following.span)
            stretches.append(Stretch(text, "word", following.word, following.unknown, reading))
            place, following = following.span[1], next(marks, None)
        stretches += cuts.between(place, end)
        found.append(Passage(sentence, tuple(stretches)))
    return found


def _marks(explanation: Explanation, decision: Decision) -> list[_Mark]:
    """What is marked in the text, in order: the weighed words, and words that are unknown."""
    words = decision.level("word")
    unknown = set(explanation.unknown)
    marks: list[_Mark] = []
    if words is not None:
        for place, (start, end) in enumerate(words.pieces):
            marks.append(_Mark((start, end), place, (start, end) in unknown))
            unknown.discard((start, end))
    marks += [_Mark(span, None, True) for span in unknown]
    return sorted(marks, key=lambda mark: mark.span)


def _lines(cuts: _Cuts, decision: Decision) -> Iterator[tuple[int | None, Span]]:
    """Where each line of the picture begins and ends, and the sentence in it."""
    sentences = decision.level("sentence")
    spans = [(start, end) for start, end in sentences.pieces] if sentences is not None else []
    size = len(cuts.text)
    # What a cap cut off behind the last sentence has a line of its own.
    stop = next((start for start, _ in cuts.within(spans[-1][1], size)), size) if spans else size
    starts = [0] + [cuts.line_start(before[1], after[0]) for before, after in pairwise(spans)]
    ends = [*starts[1:], stop]
    for place, line in enumerate(zip(starts, ends, strict=True)):
        yield (place if spans else None), line
    if stop < size:
        yield None, (stop, size)


class _Cuts:
    """A text with the spans of it that were not read."""

    def __init__(self, text: str, unread: Sequence[Span]) -> None:
        self.text = text
        self._unread = sorted(unread)
        self._ends = [end for _, end in self._unread]

    def within(self, start: int, end: int) -> Iterator[Span]:
        """The unread parts of a span."""
        for place in range(bisect_right(self._ends, start), len(self._unread)):
            cut_start, cut_end = self._unread[place]
            if cut_start >= end:
                return
            yield max(start, cut_start), min(end, cut_end)

    def line_start(self, start: int, end: int) -> int:
        """Where the line of the next sentence begins, with its opening quote and indentation."""
        for _, cut_end in self.within(start, end):
            start = cut_end
        separators = list(_SEPARATOR.finditer(self.text, start, end))
        if not separators:
            return end
        first, last = separators[-1].span()
        line_break = self.text.rfind("\n", first, last)
        return last if line_break < 0 else line_break + 1

    def between(self, start: int, end: int) -> Iterator[Stretch]:
        """Cut what stands between two words: unread parts, tags and the rest."""
        for cut_start, cut_end in self.within(start, end):
            yield from _tags(self.text[start:cut_start])
            yield Stretch(self.text[cut_start:cut_end], "unread")
            start = cut_end
        yield from _tags(self.text[start:end])


def _tags(text: str) -> Iterator[Stretch]:
    place = 0
    for tag in _TAG.finditer(text):
        if tag.start() > place:
            yield Stretch(text[place : tag.start()], "between")
        yield Stretch(tag.group(), "tag")
        place = tag.end()
    if place < len(text):
        yield Stretch(text[place:], "between")


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


def unit_of(weights: Weights | None) -> str:
    """What the numbers of these weights are, for a legend."""
    if weights is None or weights.scores is None:
        return "share of the document"
    return _UNITS.get(weights.unit, "for the label, or against it")


def hop_count(weights: Weights | None) -> int:
    """How many hops of these weights a page can switch between."""
    return 0 if weights is None else min(len(weights.hops), MOST_HOPS)


def other_bars(decision: Decision) -> dict[str, Weights]:
    """What the bars of sentences can show instead, by the name on the switch."""
    sentences, means = decision.level("sentence"), decision.sentences_per_word
    if count := hop_count(sentences):
        assert sentences is not None
        return {str(hop + 1): sentences.at_hop(hop) for hop in range(count)}
    return {"per word": means} if means is not None and len(means) > 1 else {}


def shadings(decision: Decision) -> list[Shading]:
    """The shadings that the weights allow, the usual one first; none without word weights."""
    words, shares = decision.level("word"), decision.importance()
    corrected = decision.importance(length_corrected=True)
    keys = iter(KEYS)
    found: list[Shading] = []
    if shares is not None:
        said = "of the document" if shares.scores is None else shares.unit
        shared = words is not None and words.by == "sentence"
        title = "word × sentence" if shared else "word"
        found.append(Shading(next(keys), title, unit_of(shares), shares, said))
        about = decision.phrases
        if about is not None and len(about) > 1:
            legend = f"{unit_of(shares)}, mean of the words about it"
            found.append(Shading(next(keys), "phrase", legend, about))
    if words is not None and words.by == "sentence":
        if corrected is not None:
            # The words of a short sentence share its weight among few, and so look heavy.
            legend = "share of the document, made up for sentence length"
            found.append(Shading(next(keys), "word × sentence × length", legend, corrected))
        said = "of its sentence"
        found.append(Shading(next(keys), "word alone", f"share {said}", words, said))
    return found + _parts(decision) + _hops(words, shares)


def _parts(decision: Decision) -> list[Shading]:
    """The shadings by what n-grams and network each put into the answer, where both answer."""
    shares = decision.shares
    if shares is None or not len(shares.ngrams):
        return []
    exact = "log-odds that its n-grams add, exactly"
    found = [Shading(_NGRAMS, "n-grams", exact, shares.ngrams, "by n-grams, exactly")]
    if shares.network_words is not None:
        left = "log-odds of the network, as the method has it"
        found.append(Shading(_NETWORK, "network", left, shares.network_words, "by the network"))
    return found


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
