"""Two fitted classifiers and the same documents to where they differ, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..config import require
from ..errors import DataError
from ..explain.methods import DEFAULT_METHOD
from ..explain.overlap import overlap
from ..records.difference import Answer, ChangedDocument, Difference
from ..records.explanation import ClassName, Explanation
from ..text.document import Document
from .explaining import Question, explain
from .reader import chunks

if TYPE_CHECKING:
    from .classifier import DocumentClassifier

__all__ = ["Comparison", "compare"]

CHUNK = 256  # explanations of so many documents are held at once
BINS = 20
START = 160  # characters that tell a document from others


@dataclass(frozen=True, slots=True)
class Comparison:
    """How to compare two models, and what to call them."""

    old: str = "old"
    new: str = "new"
    method: str = "default"  # of explanation, the same for both; by default the old model's
    least_overlap: float = 0.5  # below this share in common reasons count as changed
    shown: int = 20  # how many changes keep both explanations

    def __post_init__(self) -> None:
        require(
            0 <= self.least_overlap <= 1,
            f"least_overlap must be from 0 to 1, got {self.least_overlap}",
        )


def compare(
    old: DocumentClassifier,
    new: DocumentClassifier,
    documents: Iterable[Document],
    settings: Comparison = Comparison(),  # noqa: B008  (frozen)
) -> Difference:
    """Return the documents whose label, or whose reasons, are not the same with both models."""
    method = settings.method
    if method == "default":
        method = str(old.facts_.get("explain_method") or DEFAULT_METHOD)
    question = Question(method)
    tally = _Tally(settings)
    for chunk in chunks(documents, CHUNK):
        texts = [document.text for document in chunk]
        before, after = (explain(classifier, texts, question) for classifier in (old, new))
        answers = [_labels(old, one) for one in before], [_labels(new, one) for one in after]
        for place, document in enumerate(chunk):
            pair = (
                Answer(answers[0][place], before[place].probability, before[place]),
                Answer(answers[1][place], after[place].probability, after[place]),
            )
            tally.add(document, *pair, overlap(before[place], _about(new, pair, question)))
    if not tally.overlaps:
        raise DataError("there are no documents to compare the models on")
    return tally.difference(method)


class _Tally:
    """What has been compared so far: numbers of every document, texts of the shown ones alone."""

    def __init__(self, settings: Comparison) -> None:
        self._settings = settings
        self._changes: list[ChangedDocument] = []
        self.overlaps: list[float] = []

    def add(self, document: Document, old: Answer, new: Answer, share: float) -> None:
        """Compare the two answers about one document, whose reasons overlap by that share."""
        truth = _truth(document)
        old, new = (_with_truth(answer, truth) for answer in (old, new))
        relabelled = set(map(str, old.labels)) != set(map(str, new.labels))
        if relabelled or share < self._settings.least_overlap:
            start = " ".join(document.text[: 4 * START].split())[:START]
            self._changes.append(
                ChangedDocument(len(self.overlaps), start, old, new, share, relabelled, truth)
            )
            if len(self._changes) > 2 * self._settings.shown + CHUNK:
                self._changes = self._ordered()
        self.overlaps.append(share)

    def difference(self, method: str) -> Difference:
        """Return what was found."""
        changes, settings = self._ordered(), self._settings
        outcomes = [change.outcome for change in changes]
        relabelled = sum(change.label_changed for change in changes)
        return Difference(
            old=settings.old,
            new=settings.new,
            documents=len(self.overlaps),
            changes=tuple(changes),
            label_changes=relabelled,
            reason_changes=len(changes) - relabelled,
            mended=outcomes.count("mended"),
            broken=outcomes.count("broken"),
            mean_overlap=float(np.mean(self.overlaps)),
            overlaps=tuple(np.histogram(self.overlaps, BINS, (0.0, 1.0))[0].tolist()),
            least_overlap=settings.least_overlap,
            method=method,
        )

    def _ordered(self) -> list[ChangedDocument]:
        """The changes in their order; behind those that are shown, explanations are let go."""
        order = sorted(
            self._changes, key=lambda one: (not one.label_changed, one.overlap, one.index)
        )
        shown = self._settings.shown
        return order[:shown] + [_without_explanations(change) for change in order[shown:]]


def _about(new: DocumentClassifier, pair: tuple[Answer, Answer], question: Question) -> Explanation:
    """The new model's reasons about the label that the old one explained, if it knows that label.

    Reasons for one label and reasons for another are not to be compared.
    """
    before, after = pair[0].explanation, pair[1].explanation
    assert before is not None and after is not None
    known = new.labels_.number(before.label) is not None
    if not known or str(before.label) == str(after.label):
        return after
    return explain(new, [before.source], replace(question, label=before.label))[0]


def _without_explanations(change: ChangedDocument) -> ChangedDocument:
    old, new = (replace(answer, explanation=None) for answer in (change.old, change.new))
    return replace(change, old=old, new=new)


def _with_truth(answer: Answer, truth: tuple[ClassName, ...] | None) -> Answer:
    if truth is None or answer.explanation is None:
        return answer
    return replace(answer, explanation=replace(answer.explanation, true_labels=truth))


def _labels(classifier: DocumentClassifier, explanation: Explanation) -> tuple[ClassName, ...]:
    if not classifier.labels_.multilabel:
        return (explanation.label,)
    return tuple(label for label, likely in explanation.probabilities if likely > 0.5)


def _truth(document: Document) -> tuple[ClassName, ...] | None:
    if document.label is None:
        return None
    return document.label if isinstance(document.label, tuple) else (document.label,)
