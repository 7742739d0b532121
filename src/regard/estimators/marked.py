"""Learn from what readers marked: passages beside the point, and passages that are the reason.

A passage that is beside the point can still give the label away: all praise from one shop, say,
ends with the shop's greeting. Such sentences, those marked and all that are like them, are taken
out of the training texts and dealt out again at random, so that every text has as many as before
on average, and none of them says anything about a label.

The reasons that were marked in a text become a short text of their own with its label (after
Zaidan, Eisner and Piatko, 2007). It is learnt from wherever its text is, and never where that is
held out: a model that has learnt from the best part of a text cannot be judged by it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from ..audit.plausibility import read_evidence
from ..audit.run import sample
from ..errors import DataError
from ..explain.fitted import Fitted
from ..models.reader import chunks
from ..records.marks import IRRELEVANT, REASON, Mark
from ..records.weights import Span
from ..text.document import Document, Label, single_labels
from ..text.tokenize import TextConfig, tokenize_many
from .fitting import Reason

__all__ = ["Alike", "Found", "MarkedDocuments", "measure_weight", "reasons_in", "reasons_in_column"]

CHUNK = 512  # texts that are cut into sentences together
UNMARKED = 4000  # sentences that the marked are told apart from
POOL = 20_000  # sentences that are kept to be dealt out again
ENOUGH = 0.5  # of what the marked sentences reach, in the median
LEAST = 3.0  # in logarithms: twenty times as usual among the marked as elsewhere


@dataclass(frozen=True, slots=True)
class Found:
    """What the marks led to, for a person."""

    marks: int
    reasons: int  # texts with passages that were marked as reasons
    sentences: int  # that are beside the point, in all training texts
    texts: int  # that have such a sentence
    texts_read: int

    def describe(self) -> str:
        """Say it in a line."""
        return (
            f"{self.marks:,} marks: {self.sentences:,} sentences like those marked irrelevant, in "
            f"{self.texts:,} of {self.texts_read:,} texts, are dealt out at random; the reasons "
            f"marked in {self.reasons:,} texts are learnt from as texts of their own"
        )


class Alike:
    """Tells sentences that are like those marked irrelevant.

    Each word and pair of words weighs by how much more of the marked sentences have it than of the
    others. Most sentences of the kind are unmarked, which lowers those weights alike and changes
    no sign; so a sentence is of the kind if it reaches half of what the marked ones reach, each
    judged by the others.
    """

    def __init__(self, marked: Sequence[str], unmarked: Sequence[str]) -> None:
        self._exact = {_plain(sentence) for sentence in marked}
        self._words = CountVectorizer(ngram_range=(1, 2), binary=True, token_pattern=r"\w+|[^\w\s]")
        every = self._words.fit_transform([*marked, *unmarked])
        mine, others = every[: len(marked)], every[len(marked) :]
        have = np.asarray(mine.sum(axis=0), dtype=np.float64).ravel()
        usual = (np.asarray(others.sum(axis=0)).ravel() + 0.5) / (others.shape[0] + 1)
        self._weights = _weigh(have, len(marked), usual)
        reached = []
        for place in range(len(marked)):
            own = mine[place].toarray().ravel()
            reached.append(float(own @ _weigh(have - own, len(marked) - 1, usual)))
        # One sentence alone says nothing of its kind: then the very same alone is alike.
        self._least = ENOUGH * float(np.median(reached)) if len(self._exact) > 1 else np.inf

    def __call__(self, sentences: Sequence[str]) -> list[bool]:
        """Say of each sentence whether it is like the marked ones."""
        reached = self._words.transform(sentences) @ self._weights
        return [
            _plain(sentence) in self._exact or bool(score >= max(self._least, LEAST))
            for sentence, score in zip(sentences, reached, strict=True)
        ]


def _weigh(
    have: NDArray[np.float64], total: int, usual: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How much more of ``total`` sentences have each word than is usual, as a logarithm.

    One more sentence, with its words as usual, is counted among them.
    """
    return np.log((have + usual) / (total + 1) / usual)


class MarkedDocuments:
    """Training texts as they are to be learnt from, given the marks; may be read again and again.

    ``read`` gives the documents as they were written, each time anew. ``reasons`` are those for
    labels that the documents have.
    """

    def __init__(
        self,
        read: Callable[[], Iterable[Document]],
        marks: Sequence[Mark],
        text: TextConfig,
        *,
        seed: int,
    ) -> None:
        if not marks:
            raise DataError("there are no marks to learn from; make some with regard serve --marks")
        self._read, self._text, self._seed = read, text, seed
        reasons = [mark for mark in marks if mark.kind == REASON]
        beside = [mark.text[mark.start : mark.end] for mark in marks if mark.kind == IRRELEVANT]
        self._alike = Alike(beside, self._sample_sentences()) if beside else None
        self._pool: list[str] = []
        self._spots: list[int] = []
        self._places: dict[str, int] = {}  # of the documents whose texts have reasons
        self._labels: dict[str, Label] = {}  # by their names
        self._look_through({mark.text for mark in reasons})
        self.reasons = self._join(reasons)
        self.found = Found(
            len(marks),
            len(self.reasons),
            sum(self._spots),
            sum(count > 0 for count in self._spots),
            len(self._spots),
        )

    def __iter__(self) -> Iterator[Document]:
        """Yield each text with the sentences beside the point dealt out anew."""
        draw = np.random.default_rng(self._seed)
        for documents, sentences, beside in self._chunks():
            for document, cut, marked in zip(documents, sentences, beside, strict=True):
                yield self._dealt(document, cut, marked, draw) if self._pool else document

    def _join(self, marks: Sequence[Mark]) -> list[Reason]:
        """Make a text of the reasons for each label in each text."""
        spans: dict[tuple[str, str], list[Span]] = {}
        for mark in marks:
            if mark.label in self._labels:
                spans.setdefault((mark.text, mark.label), []).append((mark.start, mark.end))
        return [
            Reason(Document(_passages(text, own), self._labels[label]), self._places.get(text))
            for (text, label), own in spans.items()
        ]

    def _dealt(
        self,
        document: Document,
        sentences: list[str],
        beside: list[bool],
        draw: np.random.Generator,
    ) -> Document:
        """The document without its own such sentences, and with as many as any text has."""
        count = self._spots[int(draw.integers(len(self._spots)))]
        if not any(beside) and not count:
            return document
        kept = [one for one, marked in zip(sentences, beside, strict=True) if not marked]
        for _ in range(count):
            given = self._pool[int(draw.integers(len(self._pool)))]
            kept.insert(int(draw.integers(len(kept) + 1)), given)
        return replace(document, text="\n".join(kept))

    def _look_through(self, with_reasons: Set[str]) -> None:
        """Collect labels, where texts stand, and the sentences that are beside the point."""
        draw, seen = np.random.default_rng(self._seed), 0
        for documents, sentences, beside in self._chunks():
            for document, cut, marked in zip(documents, sentences, beside, strict=True):
                if document.text in with_reasons:
                    self._places.setdefault(document.text, len(self._spots))
                for name in single_labels(document.label):
                    several = isinstance(document.label, tuple)
                    self._labels[str(name)] = (str(name),) if several else name
                mine = [one for one, is_beside in zip(cut, marked, strict=True) if is_beside]
                self._spots.append(len(mine))
                for one in mine:
                    seen += 1
                    if len(self._pool) < POOL:
                        self._pool.append(one)
                    elif (place := int(draw.integers(seen))) < POOL:
                        self._pool[place] = one

    def _chunks(self) -> Iterator[tuple[list[Document], list[list[str]], list[list[bool]]]]:
        """Documents with their sentences, and whether each is beside the point."""
        for documents in chunks(self._read(), CHUNK):
            sentences = self._sentences([document.text for document in documents])
            if self._alike is None:
                yield documents, sentences, [[False] * len(cut) for cut in sentences]
                continue
            flat = self._alike([one for cut in sentences for one in cut])
            ends = np.cumsum([len(cut) for cut in sentences])
            beside = [flat[end - len(cut) : end] for end, cut in zip(ends, sentences, strict=True)]
            yield documents, sentences, beside

    def _sentences(self, texts: Sequence[str]) -> list[list[str]]:
        found = tokenize_many(texts, self._text)
        return [
            [tokens.text[start:end] for start, end in tokens.sentence_spans()] for tokens in found
        ]

    def _sample_sentences(self) -> list[str]:
        """Sentences that nobody marked: each of the texts read as likely."""
        every = (
            one
            for documents in chunks(self._read(), CHUNK)
            for cut in self._sentences([document.text for document in documents])
            for one in cut
        )
        return sample(every, UNMARKED, self._seed)


def _plain(sentence: str) -> str:
    return " ".join(sentence.lower().split())


def reasons_in_column(documents: Iterable[Document], column: str) -> list[Reason]:
    """Read what people marked in the documents themselves: the spans in one of their columns."""
    return _reasons((document, read_evidence(document, column)) for document in documents)


def reasons_in(documents: Sequence[Document], marked: Sequence[Sequence[Span]]) -> list[Reason]:
    """Make a reason of the spans in each document; none where nothing is marked, or no label is."""
    if len(documents) != len(marked):
        raise DataError(f"there are {len(documents):,} texts, but reasons for {len(marked):,}")
    spans = (_spans(given, number) for number, given in enumerate(marked, 1))
    return _reasons(zip(documents, spans, strict=True))


def _spans(given: object, number: int) -> list[Span]:
    """The spans that were marked in one text, as pairs or as files have them."""
    wanted = f"the reasons of text {number:,} must be a list of (start, end), got {given!r:.60}"
    if given is None:
        return []
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise DataError(wanted)
    found = []
    for one in given:
        ends = (one.get("start_char"), one.get("end_char")) if isinstance(one, Mapping) else one
        try:
            start, end = map(operator.index, ends)
        except (TypeError, ValueError):
            raise DataError(wanted) from None
        found.append((start, end))
    return found


def _reasons(marked: Iterable[tuple[Document, Sequence[Span]]]) -> list[Reason]:
    found = []
    for place, (document, spans) in enumerate(marked):
        for start, end in spans:
            if not 0 <= start <= end <= len(document.text):
                raise DataError(
                    f"{start}:{end} is no passage of text {place + 1:,}, which has "
                    f"{len(document.text):,} characters"
                )
        if document.label is not None and any(start < end for start, end in spans):
            passages = Document(_passages(document.text, spans), document.label)
            found.append(Reason(passages, place))
    return found


def _passages(text: str, spans: Iterable[Span]) -> str:
    """The passages of a text in their order, a line each; those that touch are one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return "\n".join(text[start:end] for start, end in joined)


def measure_weight(fitted: Fitted, marks: Sequence[Mark]) -> dict[str, float]:
    """Return how much of the probability hangs on the passages, on average, for each kind of mark.

    It is what the probability of the label that was marked changes by without the passage.
    """
    names = [str(name) for name in fitted.labels.classes]
    known = [mark for mark in marks if mark.label in names]
    if not known:
        return {}
    whole = fitted.likely([mark.text for mark in known])
    without = fitted.likely([mark.text[: mark.start] + mark.text[mark.end :] for mark in known])
    places = np.arange(len(known)), [names.index(mark.label) for mark in known]
    moved = np.abs(whole[places] - without[places])
    kinds = np.array([mark.kind for mark in known])
    return {kind: float(moved[kinds == kind].mean()) for kind in sorted(set(kinds))}
