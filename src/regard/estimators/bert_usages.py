"""The four usages of BERT as estimators: of one text, of two, of a span, of every piece."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ..data.labels import LabelIndex
from ..data.masking import UNASKED
from ..data.spans import Marked
from ..data.tuning import (
    Example,
    TuningRow,
    cut_middle,
    fit_both,
    windows,
)
from ..errors import ConfigError, DataError
from ..models.bert import BertConfig
from ..models.tuned_bert import Scored
from ..records.tuning import FoundSpan, TuningScores
from ..tasks.spans import score_answers, score_segments
from ..tasks.tuning import BEGINS, ENDS, best_span
from ..text.vocab import CutText, cut_texts
from .tuning import BertUsage, Scores

__all__ = [
    "USAGES",
    "BertClassifying",
    "BertPairClassifier",
    "BertSpanFinder",
    "BertTagger",
    "BertTextClassifier",
]

Integers = NDArray[np.int64]


class BertClassifying(BertUsage):
    """Gives each row a class."""

    scored: ClassVar[Scored] = "rows"
    reads_at_once: ClassVar[bool] = True

    @property
    def classes_(self) -> NDArray[np.generic]:
        """The classes, in the order of the probabilities."""
        return self.labels_.array

    def probabilities(self, examples: Sequence[Example]) -> NDArray[np.float64]:
        """How likely each class is, (examples, classes)."""
        self._require_fitted()
        found, cut = self._likely(examples)
        self._warn_cut(cut, len(examples))
        return found

    def _likely(self, examples: Sequence[Example]) -> tuple[NDArray[np.float64], int]:
        """How likely each class is, and how many texts were cut."""
        rows = [one for (one,) in self._rows(examples)]
        cut = self._count_cut(rows)
        scores = np.array(self._scores(rows), dtype=np.float64)
        stacked = scores.reshape(len(examples), len(self.labels_))
        grown = np.exp(stacked - stacked.max(1, keepdims=True, initial=-np.inf))
        return np.asarray(grown / grown.sum(1, keepdims=True)), cut

    def evaluate_examples(self, examples: Iterable[Example], *, title: str = "") -> TuningScores:
        """Accuracy and macro-F1, beside those of the commonest class."""
        given = list(examples)
        truth = self.labels_.encode([_label(one) for one in given])
        self._require_fitted()
        found, cut = self._likely(given)
        guess = found.argmax(1)
        counts = np.bincount(truth.astype(np.int64), minlength=1)
        most = np.full(len(truth), counts.argmax())
        return TuningScores(
            task=self.task,
            examples=len(given),
            scores=_class_scores(truth, guess),
            baseline=_class_scores(truth, most),
            baseline_name="commonest class",
            cut=cut,
            title=title,
        )

    def _answers(self, example: Example) -> Integers:
        number = None if example.label is None else self.labels_.number(example.label)
        return np.array([UNASKED if number is None else number], dtype=np.int64)


class BertTextClassifier(BertClassifying):
    """Gives each text a class, by its first piece, as Devlin et al. (2019) do for one sentence."""

    task: ClassVar[str] = "bert-text"

    def fit(self, texts: Iterable[str], labels: Iterable[str | int]) -> Self:
        """Tune on texts and their labels."""
        return self._fit_shown(
            [Example(text, label=label) for text, label in zip(texts, labels, strict=True)]
        )

    def predict(self, texts: Iterable[str]) -> NDArray[np.generic]:
        """Return the class of each text."""
        return self.classes_[self.predict_proba(texts).argmax(1)]

    def predict_proba(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """Return how likely each class is, (texts, classes)."""
        return self.probabilities([Example(text) for text in texts])

    def score(self, texts: Iterable[str], labels: Iterable[str | int]) -> float:
        """Return the accuracy."""
        pairs = zip(texts, labels, strict=True)
        return self.evaluate_examples([Example(t, label=one) for t, one in pairs]).scores[
            "accuracy"
        ]

    def _rows(self, examples: Sequence[Example]) -> list[list[TuningRow]]:
        ids, room = self.pieces_.ids([one.text for one in examples]), self._room - 2
        rows = []
        for example, own in zip(examples, ids, strict=True):
            answers, cut = self._answers(example), len(own) > room
            kept = cut_middle(own, room)
            rows.append([TuningRow.around(self.pieces_, kept, answers=answers, cut=cut)])
        return rows


class BertPairClassifier(BertClassifying):
    """Gives each pair of texts a class, such as whether the first says the second."""

    task: ClassVar[str] = "bert-pair"

    def fit(self, first: Iterable[str], second: Iterable[str], labels: Iterable[str | int]) -> Self:
        """Tune on pairs of texts and their labels."""
        given = zip(first, second, labels, strict=True)
        return self._fit_shown([Example(one, other, label) for one, other, label in given])

    def predict(self, first: Iterable[str], second: Iterable[str]) -> NDArray[np.generic]:
        """Return the class of each pair."""
        return self.classes_[self.predict_proba(first, second).argmax(1)]

    def predict_proba(self, first: Iterable[str], second: Iterable[str]) -> NDArray[np.float64]:
        """Return how likely each class is, (pairs, classes)."""
        return self.probabilities([Example(*both) for both in zip(first, second, strict=True)])

    def _rows(self, examples: Sequence[Example]) -> list[list[TuningRow]]:
        _require_segments(self.settings_.network)
        firsts = self.pieces_.ids([one.text for one in examples])
        seconds = self.pieces_.ids([one.other or "" for one in examples])
        rows = []
        for example, one, other in zip(examples, firsts, seconds, strict=True):
            first, second = fit_both(one, other, self._room - 3)
            answers, cut = self._answers(example), len(first) + len(second) < len(one) + len(other)
            row = TuningRow.around(self.pieces_, first, second, answers=answers, cut=cut)
            rows.append([row])
        return rows


class BertSpanFinder(BertUsage):
    """Finds the span of a text that answers a question, as in SQuAD; the question may be missing.

    A long text is read in windows; the best span of all of them is the answer. Where some training
    texts have no answer, it may say that there is none.
    """

    task: ClassVar[str] = "bert-span"
    scored: ClassVar[Scored] = "pieces"
    asked: ClassVar[Literal["classes", "spans"]] = "spans"
    reads_at_once: ClassVar[bool] = False

    def fit(
        self,
        texts: Iterable[str],
        spans: Iterable[Iterable[tuple[int, int]]],
        questions: Iterable[str] | None = None,
    ) -> Self:
        """Tune on texts, the spans that are right in each, and what was asked."""
        given = list(texts)
        asked: Sequence[str | None] = [None] * len(given) if questions is None else list(questions)
        rows = zip(given, asked, spans, strict=True)
        return self._fit_shown(
            [
                Example(text, question, marked=tuple(Marked(*span) for span in own))
                for text, question, own in rows
            ]
        )

    def predict(
        self, texts: Iterable[str], questions: Iterable[str] | None = None
    ) -> list[FoundSpan | None]:
        """Return the answer in each text; None where there seems to be none."""
        given = list(texts)
        asked: Sequence[str | None] = [None] * len(given) if questions is None else list(questions)
        return self.find([Example(*both) for both in zip(given, asked, strict=True)])

    def find(self, examples: Sequence[Example]) -> list[FoundSpan | None]:
        """Return the answer to each example."""
        self._require_fitted()
        cut = self._cut(examples)
        rows = [self._windows(*both) for both in cut]
        scores = iter(self._scores([window.row for own in rows for window in own]))
        found: list[FoundSpan | None] = []
        for example, own in zip(examples, rows, strict=True):
            best, nothing = None, np.inf
            for window in own:
                score = next(scores)
                nothing = min(nothing, float(score[0].sum()))
                if window.spans.shape[0]:
                    one = self._best(example.text, window, score)
                    best = one if best is None or one.score > best.score else best
            silent = bool(self.facts_["leaves_out"]) and best is not None and nothing > best.score
            found.append(None if silent else best)
        return found

    def evaluate_examples(self, examples: Iterable[Example], *, title: str = "") -> TuningScores:
        """Exact match and token F1, beside those of the first words of each text."""
        given = list(examples)
        found = [one.text if one else "" for one in self.find(given)]
        right = [[one.text[m.start : m.end] for m in one.marked] for one in given]
        lengths = [len(answer.split()) for answers in right for answer in answers]
        words = round(median(lengths)) if lengths else 0
        first = [" ".join(one.text.split()[:words]) for one in given]
        return TuningScores(
            task=self.task,
            examples=len(given),
            scores=score_answers(found, right),
            baseline=score_answers(first, right),
            baseline_name=f"the first {words} words",
            title=title,
        )

    @classmethod
    def _outputs(cls, labels: LabelIndex) -> int:
        return 2  # where a span begins, and where it ends

    def _find_labels(self, examples: Sequence[Example]) -> LabelIndex:
        if not any(one.marked for one in examples):
            raise DataError("none of the examples has a span; training needs some")
        return LabelIndex(())

    def _rows(self, examples: Sequence[Example]) -> list[list[TuningRow]]:
        return [[window.row for window in self._windows(*both)] for both in self._cut(examples)]

    def _cut(self, examples: Sequence[Example]) -> list[tuple[Example, CutText, Integers]]:
        _require_segments(self.settings_.network)
        texts = cut_texts([one.text for one in examples], self.pieces_)
        asked = self.pieces_.ids([one.other or "" for one in examples])
        most = self._room // 2
        for ids in asked:
            if len(ids) > most:
                raise DataError(f"a question has {len(ids):,} pieces; at most {most} can be read")
        return list(zip(examples, texts, [ids.astype(np.int64) for ids in asked], strict=True))

    def _windows(self, example: Example, text: CutText, asked: Integers) -> list[_Window]:
        made = []
        room = self._room - len(asked) - 3
        for part in windows(len(text.ids), room, self.settings_.tuning.stride):
            ids, spans = text.ids[part], text.tokens.spans[part]
            first = len(asked) + 2
            answers = np.zeros(first + len(ids) + 1, dtype=np.int64)
            for marked in example.marked:
                inside = np.flatnonzero((spans[:, 0] < marked.end) & (spans[:, 1] > marked.start))
                whole = len(inside) and _holds(spans, marked, text.tokens.spans)
                if whole:
                    answers[first + inside[0]] |= BEGINS
                    answers[first + inside[-1]] |= ENDS
            if not answers.any():
                answers[0] = BEGINS | ENDS
            row = TuningRow.around(self.pieces_, asked.astype(np.int32), ids, answers=answers)
            made.append(_Window(row, first, spans))
        return made

    def _best(self, text: str, window: _Window, scores: Scores) -> FoundSpan:
        first, last = window.first, window.first + len(window.spans)
        scores = scores.copy()
        # Of several pieces of one letter the last has it: an answer ends with one that has some.
        scores[first:last][window.spans[:, 0] == window.spans[:, 1], 1] = -np.inf
        answer = best_span(scores, first, last, self.settings_.tuning.longest_answer)
        start = int(window.spans[answer.first - first, 0])
        end = int(window.spans[answer.last - first, 1])
        return FoundSpan(start, end, text[start:end], answer.score)


def _holds(spans: NDArray[np.int32], marked: Marked, every: NDArray[np.int32]) -> bool:
    """Whether a window holds all pieces of a marked stretch that the text has."""
    within = (every[:, 0] < marked.end) & (every[:, 1] > marked.start)
    own = (spans[:, 0] < marked.end) & (spans[:, 1] > marked.start)
    return int(own.sum()) == int(within.sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Window:
    """A row about a part of a text: where that begins in it, and the spans of its pieces."""

    row: TuningRow
    first: int
    spans: NDArray[np.int32]


class BertTagger(BertUsage):
    """Tags every piece of a text, and makes spans of tags: names, terms, sentences.

    A long text is read in windows; a piece is tagged by the one in which it stands farthest from
    an edge.
    """

    task: ClassVar[str] = "bert-tag"
    scored: ClassVar[Scored] = "pieces"
    reads_at_once: ClassVar[bool] = False

    def fit(self, texts: Iterable[str], spans: Iterable[Iterable[tuple[int, int, str]]]) -> Self:
        """Tune on texts and their spans, each with a label."""
        given = zip(texts, spans, strict=True)
        return self._fit_shown(
            [Example(text, marked=tuple(Marked(*span) for span in own)) for text, own in given]
        )

    def predict(self, texts: Iterable[str]) -> list[tuple[Marked, ...]]:
        """Return the spans that were found in each text."""
        self._require_fitted()
        return [self._spans(text, tags) for text, tags in self._tags(list(texts))]

    def evaluate_examples(self, examples: Iterable[Example], *, title: str = "") -> TuningScores:
        """Segment F1 and the accuracy of tokens, beside those of the commonest tag everywhere."""
        given = list(examples)
        texts = [one.text for one in given]
        right = [one.marked for one in given]
        cut = cut_texts(texts, self.pieces_)
        tags = [self._true_tags(*both) for both in zip(given, cut, strict=True)]
        common = Counter(int(tag) for row in tags for tag in row).most_common(1)
        same = [np.full(len(row), common[0][0] if common else 0) for row in tags]
        always = [self._spans(*both) for both in zip(cut, same, strict=True)]
        return TuningScores(
            task=self.task,
            examples=len(given),
            scores=score_segments(texts, self.predict(texts), right),
            baseline=score_segments(texts, always, right),
            baseline_name="commonest tag",
            title=title,
        )

    @classmethod
    def _outputs(cls, labels: LabelIndex) -> int:
        return 1 + 2 * len(labels)  # outside; for each label, its first piece and its others

    def _find_labels(self, examples: Sequence[Example]) -> LabelIndex:
        found = sorted({marked.label for one in examples for marked in one.marked})
        if not found:
            raise DataError("none of the examples has a span; training needs some")
        return LabelIndex(tuple(found))

    def _rows(self, examples: Sequence[Example]) -> list[list[TuningRow]]:
        texts = cut_texts([one.text for one in examples], self.pieces_)
        rows = []
        for example, text in zip(examples, texts, strict=True):
            tags = self._true_tags(example, text)
            rows.append([self._row(text, part, tags) for part in self._parts(text)])
        return rows

    def _parts(self, text: CutText) -> list[slice]:
        room = self._room - 2
        return windows(len(text.ids), room, self.settings_.tuning.stride)

    def _row(self, text: CutText, part: slice, tags: Integers) -> TuningRow:
        answers = np.concatenate([[UNASKED], tags[part], [UNASKED]]).astype(np.int64)
        return TuningRow.around(self.pieces_, text.ids[part], answers=answers)

    def _true_tags(self, example: Example, text: CutText) -> Integers:
        """The tag of each piece: 0 outside, then first and others of each label."""
        tags, spans = np.zeros(len(text.ids), dtype=np.int64), text.tokens.spans
        reached = 0
        for marked in sorted(example.marked):
            if marked.start < reached:
                raise DataError(
                    f"tags cannot overlap: {marked.start}:{marked.end} begins inside one"
                )
            reached = marked.end
            number = self.labels_.number(marked.label)
            inside = np.flatnonzero((spans[:, 0] < marked.end) & (spans[:, 1] > marked.start))
            if number is not None and len(inside):
                tags[inside] = 2 + 2 * number
                tags[inside[0]] = 1 + 2 * number
        return tags

    def _tags(self, texts: Sequence[str]) -> list[tuple[CutText, Integers]]:
        cut = cut_texts(texts, self.pieces_)
        parts = [self._parts(text) for text in cut]
        unknown = [np.zeros(len(text.ids), dtype=np.int64) for text in cut]
        rows = [
            self._row(text, part, tags)
            for text, own, tags in zip(cut, parts, unknown, strict=True)
            for part in own
        ]
        scores = iter(self._scores(rows))
        found = []
        for text, own in zip(cut, parts, strict=True):
            best = np.full(len(text.ids), -1)
            tags = np.zeros(len(text.ids), dtype=np.int64)
            for part in own:
                guess = next(scores)[1:-1].argmax(1)
                places = np.arange(len(guess))
                inward = np.minimum(places, places[::-1])  # how far from the nearest edge
                better = inward > best[part]
                tags[part] = np.where(better, guess, tags[part])
                best[part] = np.maximum(best[part], inward)
            found.append((text, tags))
        return found

    def _spans(self, text: CutText, tags: Integers) -> tuple[Marked, ...]:
        """Join the pieces of each span; one that goes on with nothing begins."""
        found: list[Marked] = []
        open_label, classes = None, self.labels_.classes
        for tag, (start, end) in zip(tags.tolist(), text.tokens.spans.tolist(), strict=True):
            if tag == 0:
                open_label = None
                continue
            label, begins = str(classes[(tag - 1) // 2]), tag % 2 == 1
            if begins or label != open_label:
                found.append(Marked(start, end, label))
            else:
                found[-1] = replace(found[-1], end=end)
            open_label = label
        # Of several pieces of one letter the last has it: the others are no span by themselves.
        return tuple(one for one in found if one.start < one.end)


USAGES: dict[str, type[BertUsage]] = {
    usage.task: usage
    for usage in (BertTextClassifier, BertPairClassifier, BertSpanFinder, BertTagger)
}
"""Every usage by the name of its task."""


def _class_scores(truth: NDArray[np.generic], guess: NDArray[np.generic]) -> dict[str, float]:
    """Accuracy, and the mean F1 of the classes that occur or were guessed."""
    if not len(truth):
        return {"accuracy": 0.0, "macro_f1": 0.0}
    f1 = []
    for one in np.unique(np.concatenate([truth, guess])):
        hits = int(((truth == one) & (guess == one)).sum())
        f1.append(2 * hits / int((truth == one).sum() + (guess == one).sum()))
    return {"accuracy": float((truth == guess).mean()), "macro_f1": float(np.mean(f1))}


def _label(example: Example) -> str | int:
    if example.label is None:
        raise DataError("some examples have no label, so they cannot be scored")
    return example.label


def _require_segments(network: BertConfig) -> None:
    if network.segments < 2:
        raise ConfigError("this BERT knows one segment, and a pair of texts needs two")
