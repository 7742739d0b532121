"""Two fitted classifiers and the same documents to where they differ, in bounded memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..config import require
from ..errors import ConfigError, DataError
from ..explain.fitted import Fitted, HasFitted, Question
from ..models.reader import chunks
from ..records.explanation import ClassName, Decision, Explanation
from ..records.look import Answer, ChangedDocument, Difference, Usual
from ..records.weights import Weights
from ..text.document import Document, single_labels

__all__ = ["Comparison", "compare", "learn_usual", "overlap", "require_shared_labels"]

CHUNK = 256  # explanations of so many documents are held at once
BINS = 20
START = 160  # characters that tell a document from others
SOME = 10  # labels that an error names
MOST_TO_LEARN = 500  # documents by which the usual overlap is learnt
RARE = 0.05  # the share of documents whose reasons another seed changes, as we count it


@dataclass(frozen=True, slots=True)
class Comparison:
    """How to compare two models, and what to call them."""

    old: str = "old"
    new: str = "new"
    method: str = "default"  # of explanation, the same for both; by default the old model's
    least_overlap: float = 0.5  # below this share in common reasons count as changed
    shown: int = 20  # how many changes keep both explanations
    usual: Usual | None = None  # what another seed changes, where that was learnt

    def __post_init__(self) -> None:
        require(
            0 <= self.least_overlap <= 1,
            f"least_overlap must be from 0 to 1, got {self.least_overlap}",
        )


def compare(
    old: HasFitted,
    new: HasFitted,
    documents: Iterable[Document],
    settings: Comparison = Comparison(),
) -> Difference:
    """Return the documents whose label, or whose reasons, are not the same with both models."""
    require_shared_labels(old, new, settings)
    one, two = old.fitted_, new.fitted_
    method = one.default_method if settings.method == "default" else settings.method
    question = Question(method, receipt=False)
    tally = _Tally(settings)
    for chunk in chunks(documents, CHUNK):
        _compare_some(one, two, chunk, question, tally)
    if not tally.overlaps:
        raise DataError("there are no documents to compare the models on")
    found = tally.difference(method)
    changes = tuple(_measure(change, one, two) for change in found.changes)
    return replace(
        found, changes=changes, only_old=_own_labels(one, two), only_new=_own_labels(two, one)
    )


def require_shared_labels(
    old: HasFitted, new: HasFitted, settings: Comparison = Comparison()
) -> None:
    """Raise ``ConfigError`` where two models share no label: every answer would be another."""
    one, two = old.fitted_.labels.classes, new.fitted_.labels.classes
    if set(map(str, one)).isdisjoint(map(str, two)):
        raise ConfigError(
            f"{settings.old} and {settings.new} share no label: {settings.old} has "
            f"{_list_some(one)}, {settings.new} has {_list_some(two)}; compare models that learnt "
            "the same labels"
        )


def learn_usual(
    old: HasFitted,
    others: Sequence[HasFitted],
    documents: Iterable[Document],
    settings: Comparison = Comparison(),
) -> Comparison:
    """Return the settings with the overlap below which reasons differ more than a seed explains.

    ``others`` were trained as the old model was, with other seeds. Of their documents one in
    twenty lies below that overlap.
    """
    method = old.fitted_.default_method if settings.method == "default" else settings.method
    question = Question(method, receipt=False)
    tally = _Tally(replace(settings, least_overlap=0.0, shown=0))
    one, known = old.fitted_, list(itertools.islice(documents, MOST_TO_LEARN))
    for other in others:
        for chunk in chunks(known, CHUNK):
            _compare_some(one, other.fitted_, chunk, question, tally)
    if not tally.overlaps:
        raise DataError("there are no documents to learn the usual overlap from")
    least = float(np.quantile(tally.overlaps, RARE))
    found = tally.difference(method)
    usual = Usual(
        models=len(others),
        documents=found.documents,
        label_changes=found.label_changes,
        reason_changes=sum(share < least for share in tally.overlaps),
        mean_overlap=found.mean_overlap,
    )
    return replace(settings, least_overlap=least, usual=usual)


def _compare_some(
    one: Fitted, two: Fitted, documents: Sequence[Document], question: Question, tally: _Tally
) -> None:
    """Answer some documents with both models, and add what differs to the tally."""
    texts = [document.text for document in documents]
    before, after = one.explain(texts, question), two.explain(texts, question)
    answers = (
        [_list_labels(one, told) for told in before],
        [_list_labels(two, told) for told in after],
    )
    for place, document in enumerate(documents):
        pair = (
            Answer(answers[0][place], before[place].probability, before[place]),
            Answer(answers[1][place], after[place].probability, after[place]),
        )
        same = _explain_same_label(two, pair, question)
        tally.add(_with_known_labels(one, document), *pair, overlap(before[place], same))


class _Tally:
    """What has been compared so far: numbers of every document, texts of the shown ones alone."""

    def __init__(self, settings: Comparison) -> None:
        self._settings = settings
        self._changes: list[ChangedDocument] = []
        self.overlaps: list[float] = []

    def add(self, document: Document, old: Answer, new: Answer, share: float) -> None:
        """Compare the two answers about one document, whose reasons overlap by that share."""
        truth = _read_truth(document)
        old, new = (_add_truth(answer, truth) for answer in (old, new))
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
            corrected=outcomes.count("corrected"),
            broken=outcomes.count("broken"),
            mean_overlap=float(np.mean(self.overlaps)),
            overlaps=tuple(np.histogram(self.overlaps, BINS, (0.0, 1.0))[0].tolist()),
            least_overlap=settings.least_overlap,
            method=method,
            usual=settings.usual,
        )

    def _ordered(self) -> list[ChangedDocument]:
        """The changes in their order; behind those that are shown, explanations are let go."""
        order = sorted(
            self._changes, key=lambda one: (not one.label_changed, one.overlap, one.index)
        )
        shown = self._settings.shown
        return order[:shown] + [_drop_explanations(change) for change in order[shown:]]


def _explain_same_label(
    new: Fitted, pair: tuple[Answer, Answer], question: Question
) -> Explanation:
    """The new model's reasons about the label that the old one explained, if it knows that label.

    Reasons for one label and reasons for another are not to be compared.
    """
    before, after = pair[0].explanation, pair[1].explanation
    assert before is not None and after is not None
    known = new.labels.number(before.label) is not None
    if not known or str(before.label) == str(after.label):
        return after
    return new.explain([before.source], replace(question, label=before.label))[0]


def _measure(change: ChangedDocument, old: Fitted, new: Fitted) -> ChangedDocument:
    """Add receipts to the explanations that are shown; the others need none."""
    pair = []
    for fitted, answer in ((old, change.old), (new, change.new)):
        told = answer.explanation
        if told is not None:
            (known,) = fitted.explain([told.source], Question(told.method))
            told = replace(told, decisions=known.decisions)
        pair.append(replace(answer, explanation=told))
    return replace(change, old=pair[0], new=pair[1])


def _drop_explanations(change: ChangedDocument) -> ChangedDocument:
    old, new = (replace(answer, explanation=None) for answer in (change.old, change.new))
    return replace(change, old=old, new=new)


def _add_truth(answer: Answer, truth: tuple[ClassName, ...] | None) -> Answer:
    if truth is None or answer.explanation is None:
        return answer
    return replace(answer, explanation=replace(answer.explanation, true_labels=truth))


def _own_labels(one: Fitted, other: Fitted) -> tuple[ClassName, ...]:
    """The labels of a model that the other does not know."""
    known = set(map(str, other.labels.classes))
    return tuple(label for label in one.labels.classes if str(label) not in known)


def _list_some(labels: Sequence[ClassName]) -> str:
    return ", ".join(map(str, labels[:SOME])) + (", ..." if len(labels) > SOME else "")


def _list_labels(fitted: Fitted, explanation: Explanation) -> tuple[ClassName, ...]:
    if not fitted.labels.multilabel:
        return (explanation.label,)
    return tuple(label for label, likely in explanation.probabilities if likely > 0.5)


def _with_known_labels(fitted: Fitted, document: Document) -> Document:
    """The document with its labels as the model writes them."""
    if document.label is None:
        return document
    named = fitted.labels.named(document.label)
    several = isinstance(document.label, tuple)
    return replace(document, label=tuple(map(str, named)) if several else named[0])


def _read_truth(document: Document) -> tuple[ClassName, ...] | None:
    return None if document.label is None else single_labels(document.label)


def overlap(first: Explanation, second: Explanation) -> float:
    """Return the share of the weight that both put on the same words, from 0 to 1.

    It is one minus the total variation of the two weightings of the text's characters, so that
    models that cut words otherwise can be compared. Where a method knows signs, what speaks for
    the label in one and against it in the other is not shared. Two explanations without any
    weight agree.
    """
    if first.source != second.source:
        raise DataError("two explanations can only be compared if they are of the same text")
    one, two = (
        _by_character(explanation.decisions[0], len(first.source))
        for explanation in (first, second)
    )
    if not one.any() and not two.any():
        return 1.0
    return min(1.0, float(np.minimum(one, two).sum()))  # a hair above one by rounding


def _by_character(decision: Decision, size: int) -> NDArray[np.float64]:
    """The share of the weight on each character, for the label and against it, (2, characters)."""
    found = np.zeros((2, size))
    weights = decision.importance() or decision.level("word") or decision.level("sentence")
    if weights is None or not len(weights):
        return found
    starts, ends = np.array(weights.pieces, dtype=np.int64).reshape(-1, 2).T
    lengths = ends - starts
    shares = _shares(weights)
    homes = np.repeat(np.arange(len(weights)), lengths)
    within = np.arange(len(homes)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    against = (np.array(weights.amounts) < 0).astype(np.int64)
    values = shares[homes] / lengths[homes]
    np.add.at(found, (against[homes], starts[homes] + within), values)
    return found


def _shares(weights: Weights) -> NDArray[np.float64]:
    sizes: NDArray[np.float64] = np.abs(np.array(weights.values))
    total = sizes.sum()
    return sizes / total if total else sizes
