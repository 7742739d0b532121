"""A fitted classifier and labelled documents to an evaluation, in bounded memory."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..data.caps import CutTally
from ..data.fingerprints import fingerprint
from ..errors import DataError
from ..models.reader import chunks
from ..records.data import TruncationReport
from ..records.evaluation import DataNotes, Evaluation, Fresh, ModelFacts
from ..tasks.metrics import evaluate as score
from ..tasks.predictions import BaselineAnswers, Floats, Predictions
from ..text.document import Document, Label, single_labels
from ..training.devices import device_of

if TYPE_CHECKING:
    from .classifier import DocumentClassifier

__all__ = ["evaluate"]

CHUNK = 4096
SHOWN_LABELS = 5  # of those that the classifier does not know
KEPT_TEXTS = 40  # of the surest mistakes; the evaluation shows ten


def evaluate(
    classifier: DocumentClassifier, documents: Iterable[Document], *, title: str = ""
) -> Evaluation:
    """Score the classifier beside the baselines it has; the worst mistakes are explained.

    A document whose label the classifier does not know is not scored; the data notes count it.
    """
    began = time.perf_counter()
    tally = _Tally(classifier)
    for chunk in chunks(documents, CHUNK):
        tally.add(chunk)
    found = tally.score()
    indices = [mistake.index for mistake in found.mistakes]
    texts = {index: tally.texts[index] for index in indices}
    explained = (
        dict(zip(indices, classifier.explain(list(texts.values())), strict=True)) if texts else {}
    )
    facts = ModelFacts(
        name=classifier.settings_.network.name,
        parameter_count=sum(weight.numel() for weight in classifier.model_.parameters()),
        vocabulary_size=len(classifier.vocab_),
        training_documents=_whole(classifier.facts_.get("training_documents")),
        training_seconds=_number(classifier.facts_.get("training_seconds")),
        evaluation_seconds=time.perf_counter() - began,
        device=device_of(classifier.model_).type,
        version=__version__,
        date=time.strftime("%Y-%m-%d"),
    )
    notes = DataNotes(
        source=title,
        truncation=tally.truncation,
        unknown_label_rows=tally.unknown,
        unknown_labels=tuple(tally.unknown_labels),
        seen_in_training=tally.seen,
        unknown_token_share=tally.unknown_token_share,
        fresh=tally.fresh(),
    )
    return replace(
        found.with_texts(texts, explained),
        history=classifier.history_,
        data=notes,
        model=facts,
        title=title,
    )


class _Tally:
    """What has been read so far: the numbers of every document, the texts of the worst alone."""

    def __init__(self, classifier: DocumentClassifier) -> None:
        self.classifier = classifier
        self.texts: dict[int, str] = {}
        self.unknown = 0  # documents whose label is none of the classes
        self.unknown_labels: dict[str, None] = {}  # some of them, in the order they were met
        self._unknown_tokens = 0
        self._sureness: dict[int, float] = {}
        self._count = 0
        self._labels: list[NDArray[np.generic]] = []
        self._logits: list[Floats] = []
        self._lengths: list[NDArray[np.int64]] = []
        self._seen: list[NDArray[np.bool_]] = []  # whether the training data have the text
        self._baselines: list[tuple[BaselineAnswers, ...]] = []
        self._cuts = CutTally(classifier.reader_.caps)

    def add(self, chunk: list[Document]) -> None:
        """Let the model, and the baseline if there is one, answer some documents."""
        known = [document for document in chunk if self._is_known(document.label)]
        self.unknown += len(chunk) - len(known)
        for document in chunk if len(known) < len(chunk) else ():
            self._note_unknown(document.label)
        if not known:
            return
        classifier = self.classifier
        texts = [document.text for document in known]
        labels = classifier.labels_.encode([document.label for document in known])  # type: ignore[misc]
        answered = classifier.reader_.answer(classifier.model_, texts)
        self._labels.append(labels)
        self._logits.append(answered.logits.double().numpy())
        self._lengths.append(answered.lengths)
        self._unknown_tokens += answered.unknown
        if answered.cuts is not None:
            for document, counts in zip(known, answered.cuts, strict=True):
                self._cuts.add(
                    counts[None], tuple(map(str, classifier.labels_.named(document.label)))
                )
        if classifier.seen_ is not None:
            prints = np.array([fingerprint(text) for text in texts], dtype=np.uint64)
            self._seen.append(np.isin(prints, classifier.seen_))
        if classifier.baseline_ is not None:
            self._baselines.append(classifier.baseline_.answers(texts))
        self._keep_worst(texts, self._predictions(labels, self._logits[-1]))
        self._count += len(texts)

    @property
    def unknown_token_share(self) -> float | None:
        """The share of tokens that are read as no known word, where there are any."""
        tokens = sum(int(lengths.sum()) for lengths in self._lengths)
        return self._unknown_tokens / tokens if tokens else None

    @property
    def seen(self) -> int | None:
        """How many texts are in the training data too; None where that is not known."""
        if self.classifier.seen_ is None:
            return None
        return sum(int(part.sum()) for part in self._seen)

    @property
    def truncation(self) -> TruncationReport | None:
        """What caps took from the documents, if there are caps."""
        return self._cuts.report() if self.classifier.reader_.caps else None

    def score(self) -> Evaluation:
        """Turn all answers into scores."""
        if not self._count and not self.unknown:
            raise DataError("there is nothing to evaluate: no labelled documents were given")
        if not self._count:
            known = [str(name) for name in self.classifier.classes_]
            shown = ", ".join(known[:10]) + (", ..." if len(known) > 10 else "")
            theirs = ", ".join(self.unknown_labels)
            raise DataError(
                f"there is nothing to evaluate: of {self.unknown:,} documents none has a label "
                f"that the model knows ({shown})" + (f"; they have {theirs}" if theirs else "")
            )
        predictions = self._predictions(np.concatenate(self._labels), np.concatenate(self._logits))
        return score(
            predictions,
            temperature=self.classifier.temperature_,
            lengths=np.concatenate(self._lengths),
            baselines=self._joined_baselines(),
        )

    def fresh(self) -> Fresh | None:
        """Score the documents that are not in the training data, where only some of them are."""
        if not self.seen or self.seen == self._count:
            return None
        new = ~np.concatenate(self._seen)
        labels, logits = np.concatenate(self._labels)[new], np.concatenate(self._logits)[new]
        found = score(
            self._predictions(labels, logits),
            baselines=[
                replace(part, probabilities=part.probabilities[new])
                for part in self._joined_baselines()
            ],
        )
        return Fresh(
            document_count=found.document_count,
            accuracy=found.accuracy,
            accuracy_interval=found.accuracy_interval,
            baseline_accuracies=tuple(part.accuracy for part in found.baselines),
        )

    def _predictions(self, labels: NDArray[np.generic], logits: Floats) -> Predictions:
        return Predictions(self.classifier.labels_.classes, labels.astype(np.int64), logits)

    def _joined_baselines(self) -> list[BaselineAnswers]:
        return [
            replace(parts[0], probabilities=np.concatenate([part.probabilities for part in parts]))
            for parts in zip(*self._baselines, strict=True)
        ]

    def _keep_worst(self, texts: list[str], predictions: Predictions) -> None:
        confidences = predictions.confidences(self.classifier.temperature_)
        for place in np.flatnonzero(~predictions.correct()).tolist():
            self.texts[self._count + place] = texts[place]
            self._sureness[self._count + place] = float(confidences[place])
        # Equal sureness: the earlier document, as the evaluation orders them.
        worst = heapq.nsmallest(
            KEPT_TEXTS, self._sureness, key=lambda index: (-self._sureness[index], index)
        )
        self.texts = {index: self.texts[index] for index in worst}
        self._sureness = {index: self._sureness[index] for index in worst}

    def _note_unknown(self, label: Label | None) -> None:
        for one in single_labels(label):
            if len(self.unknown_labels) < SHOWN_LABELS and not self._is_known(one):
                name = str(one)
                self.unknown_labels[name if len(name) < 40 else f"{name[:37]}..."] = None

    def _is_known(self, label: Label | None) -> bool:
        number = self.classifier.labels_.number
        return label is not None and all(number(one) is not None for one in single_labels(label))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None
