"""How the weight of a word changes with its context: by what the model answers around it.

The figures of the HAN paper (Yang et al. 2016, 3 and 4) for any word; where none is chosen, for
those whose weight depends most on the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..explain.answers import Answers
from ..explain.attention import pooling_layer, shares
from ..records.explanation import ClassName
from ..records.look import WordContext, WordUse
from ..text.document import Tokens
from ..text.vocab import UNKNOWN

__all__ = ["ContextTally"]

BINS = 20
CHOSEN = 6
"""How many words are shown where none were asked for."""
SAMPLE = 2_000_000
"""Of how many words, the first of the corpus, those are chosen from."""
FEWEST = 10
"""Uses under an answer below which the answer says nothing about a word."""

NO_ACCIDENT = 10.0

Uses = NDArray[np.void]
NO_ANSWER = -1
_USE = np.dtype([("id", "i4"), ("answer", "i4"), ("again", "?"), ("weight", "f4"), ("lift", "f4")])


class ContextTally:
    """Collects the weights of words batch by batch, of some words or at first of all."""

    def __init__(self, words: Sequence[str], asked: Sequence[str] = ()) -> None:
        """Take the vocabulary's ``words``, and those ``asked`` for; none: choose by the corpus."""
        self._words = list(words)
        self._numbers: dict[str, int] = {}  # of words that are several tokens, and of those asked
        known = {word: id for id, word in enumerate(words)} if asked else {}
        for word in asked:
            if word in known:
                self._numbers[word] = known[word]
        self._ids = np.array([self._number(word) for word in asked], dtype=np.int32)
        self._by = "document"
        self._parts: list[Uses] = []
        self._held = 0

    def add(self, answers: Answers) -> None:
        """Take in the words of one batch."""
        layer = pooling_layer(answers, "token")
        if layer is None:
            return
        self._by = layer.by
        uses = _list_uses(answers, self._number)
        if len(self._ids):
            uses = uses[np.isin(uses["id"], self._ids)]
        self._parts.append(uses)
        self._held += len(uses)
        if not len(self._ids) and self._held >= SAMPLE:
            self._choose()

    def contexts(self, classes: Sequence[ClassName]) -> tuple[WordContext, ...]:
        """Return the words that were asked for or chosen, and occur."""
        if not len(self._ids) and self._parts:
            self._choose()
        if not self._parts:
            return ()
        uses = np.concatenate(self._parts)
        found = ((number, uses[uses["id"] == number]) for number in self._ids.tolist())
        return tuple(
            _describe_word(self._words[number], some, by=self._by, classes=classes)
            for number, some in found
            if len(some)
        )

    def _number(self, word: str) -> int:
        """The number of a word: its id, or for one of several tokens the next behind all ids."""
        if word not in self._numbers:
            self._numbers[word] = len(self._words)
            self._words.append(word)
        return self._numbers[word]

    def _choose(self) -> None:
        uses = np.concatenate(self._parts)
        self._ids = _choose_most_dependent(uses, self._words)
        self._parts = [uses[np.isin(uses["id"], self._ids)]]


def _list_uses(answers: Answers, number_of: Callable[[str], int]) -> Uses:
    """Every word of the batch once for each answer about its document, or once without any.

    A word of several tokens has the sum of their weights, and its even share is theirs.
    """
    layer = pooling_layer(answers, "token")
    assert layer is not None
    rows = shares(layer)
    weights = rows.values.mean(1).numpy()
    sizes = rows.lengths.numpy()[rows.row_ids.numpy()]
    ends = np.cumsum(answers.batch.by_document.host_lengths)
    starts = ends - answers.batch.by_document.host_lengths
    ids = answers.batch.ids.values.cpu().numpy()
    found = [np.zeros(0, dtype=_USE)]
    for place in range(len(answers.chosen)):
        part = slice(starts[place], ends[place])
        text = answers.batch.texts[place]
        tokens = text.sum_by_word(np.ones(len(text)))  # in each word
        for count, number in enumerate(answers.answered(place) or (NO_ANSWER,)):
            uses = np.zeros(len(tokens), dtype=_USE)
            uses["again"] = count > 0
            uses["id"], uses["answer"] = _number_words(text, ids[part], number_of), number
            uses["weight"] = text.sum_by_word(weights[part])
            uses["lift"] = text.sum_by_word(weights[part] * sizes[part]) / tokens
            found.append(uses)
    return np.concatenate(found)


def _number_words(
    text: Tokens, ids: NDArray[np.int64], number_of: Callable[[str], int]
) -> NDArray[np.int64]:
    """The id of each word, or for one of several tokens the number of how it is written."""
    if text.per_word is None:
        return ids
    found = ids[np.cumsum(text.per_word) - text.per_word]
    spans = text.word_spans()
    for place in np.flatnonzero(text.per_word > 1).tolist():
        start, end = spans[place]
        found[place] = number_of(text.text[start:end])
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """The uses of words under each answer: their counts, sums and sums of squares of lifts."""

    ids: NDArray[np.int64]
    counts: NDArray[np.float64]
    sums: NDArray[np.float64]
    squares: NDArray[np.float64]

    def per_word(self, homes: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many groups each word has; ``homes`` numbers the word of each group."""
        return np.bincount(homes)

    def variance_ratio(self, homes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The F of each word: variance between the answers over that within them."""
        groups, counts = self.per_word(homes), np.bincount(homes, self.counts)
        means = np.bincount(homes, self.sums) / counts
        between = np.bincount(homes, self.counts * (self.sums / self.counts - means[homes]) ** 2)
        within = np.bincount(homes, self.squares) - counts * means**2 - between
        free = np.maximum(counts - groups, 1)
        ratio = between / np.maximum(groups - 1, 1) / np.maximum(within / free, 1e-12)
        return ratio.astype(np.float64)


def _choose_most_dependent(uses: Uses, words: Sequence[str]) -> NDArray[np.int32]:
    """The words whose mean lifts under two answers lie furthest apart, where that is no accident.

    What is no accident comes first: an F of the analysis of variance of at least ``NO_ACCIDENT``.
    """
    groups = _group_uses(uses[(uses["id"] != UNKNOWN) & (uses["answer"] != NO_ANSWER)])
    ids, starts, homes = np.unique(groups.ids, return_index=True, return_inverse=True)
    spoken = [any(map(str.isalnum, words[number])) for number in ids.tolist()]
    found = (groups.per_word(homes) > 1) & np.array(spoken, dtype=bool)
    if not found.any():
        return np.zeros(0, dtype=np.int32)
    means = groups.sums / groups.counts
    apart = np.maximum.reduceat(means, starts) - np.minimum.reduceat(means, starts)
    sure = groups.variance_ratio(homes) >= NO_ACCIDENT
    order = np.lexsort((-apart, ~sure, ~found))[: min(CHOSEN, int(found.sum()))]
    return ids[order].astype(np.int32)


def _group_uses(uses: Uses) -> _Groups:
    """Group uses by word and answer; groups that are too small are left out."""
    answers = int(uses["answer"].max(initial=0)) + 1
    keys = uses["id"].astype(np.int64) * answers + uses["answer"]
    found, homes = np.unique(keys, return_inverse=True)
    counts = np.bincount(homes, minlength=len(found)).astype(np.float64)
    lifts = uses["lift"].astype(np.float64)
    sums = np.bincount(homes, lifts, minlength=len(found)).astype(np.float64)
    squares = np.bincount(homes, lifts**2, minlength=len(found)).astype(np.float64)
    kept = counts >= FEWEST
    return _Groups(found[kept] // answers, counts[kept], sums[kept], squares[kept])


def _describe_word(word: str, uses: Uses, *, by: str, classes: Sequence[ClassName]) -> WordContext:
    edges = np.linspace(0.0, _round_above(float(uses["weight"].max())), BINS + 1)
    numbers = np.unique(uses["answer"][uses["answer"] != NO_ANSWER]).tolist()
    found = [_describe_use(None, uses[~uses["again"]], edges)]
    found += [
        _describe_use(classes[number], uses[uses["answer"] == number], edges) for number in numbers
    ]
    return WordContext(word, by, tuple(edges.tolist()), tuple(found))


def _describe_use(label: ClassName | None, uses: Uses, edges: NDArray[np.float64]) -> WordUse:
    counts, _ = np.histogram(uses["weight"], edges)
    mean, lift = (float(uses[name].astype(np.float64).mean()) for name in ("weight", "lift"))
    return WordUse(label, len(uses), mean, lift, tuple(counts.tolist()))


def _round_above(value: float) -> float:
    """The next of 1, 2, 5, 10, ... times a power of ten; 1 for nothing at all."""
    if value <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    # A hair more than a round number, by rounding, is that number.
    return float(next(power * step for step in (1, 2, 5, 10) if power * step >= value * (1 - 1e-6)))
