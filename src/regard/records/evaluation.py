"""How good a classifier is on labelled documents: plain data that ``views`` draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from .data import ReadCounts, TruncationReport
from .encoding import Record
from .explanation import Explanation
from .history import History

__all__ = [
    "FEWEST_ANSWERS",
    "MAJORITY",
    "Advantage",
    "Baseline",
    "Calibration",
    "ClassScore",
    "CoveragePoint",
    "DataNotes",
    "Evaluation",
    "Fresh",
    "Interval",
    "LengthBin",
    "Mistake",
    "MixUp",
    "ModelFacts",
    "ReliabilityBin",
]

FEWEST_ANSWERS = 20
"""A threshold that leaves fewer answers is right by luck."""

MAJORITY = "most frequent class"
"""The method that guesses: it looks at no text."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a number would lie for 95 of 100 samples of as many documents."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ClassScore:
    """How well one class is found."""

    label: str
    precision: float
    recall: float
    f1: float
    support: int  # documents that have this label
    predicted: int  # documents that were given it
    correct: int  # documents of which both are true

    @property
    def absent(self) -> bool:
        """Whether no document has it and no answer gives it, so that nothing was measured."""
        return not self.support and not self.predicted


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Answers given with about the same confidence, and the share of them that was right."""

    low: float
    high: float
    count: int
    confidence: float  # mean over the bin; zero where it is empty
    accuracy: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Whether probabilities mean what they say."""

    expected_error: float  # ECE: the mean gap between confidence and accuracy
    log_loss: float
    brier: float
    bins: tuple[ReliabilityBin, ...]


@dataclass(frozen=True, slots=True)
class CoveragePoint:
    """What is left when answers below a confidence are withheld."""

    threshold: float
    coverage: float  # share of documents that still get an answer
    accuracy: float  # of those


@dataclass(frozen=True, slots=True)
class Advantage:
    """Ours minus theirs on the same documents; below zero, theirs is better."""

    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a plain method scores on the same documents."""

    name: str
    accuracy: float
    accuracy_interval: Interval
    macro_f1: float
    macro_f1_interval: Interval
    micro_f1: float
    accuracy_difference: Advantage
    macro_f1_difference: Advantage
    constant_answer: str | None = None  # what it always answers, where it does so
    note: str = ""  # such as which documents it learned from

    @property
    def learned(self) -> bool:
        """Whether it looks at the texts, even where it answers all of them alike."""
        return self.name != MAJORITY


@dataclass(frozen=True, slots=True)
class LengthBin:
    """The documents of between ``low`` and ``high`` tokens, both included."""

    low: int
    high: int
    count: int
    accuracy: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Mistake:
    """A document that was given a wrong label with confidence.

    ``index`` counts the evaluated documents from zero. ``text`` may be only the beginning:
    ``characters_left_out`` says how much is missing.
    """

    index: int
    true: str
    predicted: str
    probability: float  # of the predicted label
    true_probability: float
    text: str = ""
    characters_left_out: int = 0
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True)
class MixUp:
    """How often documents of one class were taken for another."""

    true: str
    predicted: str
    count: int
    share: float  # of the documents of the true class


@dataclass(frozen=True, slots=True)
class Fresh:
    """What is right of the documents whose text is not in the training data."""

    document_count: int
    accuracy: float
    accuracy_interval: Interval
    baseline_accuracies: tuple[float, ...] = ()  # in the order of the evaluation's baselines


@dataclass(frozen=True, slots=True)
class DataNotes:
    """What was read and what was not; ``None`` where it was not looked at."""

    source: str = ""
    rows: ReadCounts | None = None
    truncation: TruncationReport | None = None
    unknown_label_rows: int = 0  # their label is none that the model knows, so they are not scored
    seen_in_training: int | None = None  # texts that are also in the training data
    unknown_token_share: float | None = None  # tokens that are read as no known word
    unknown_labels: tuple[str, ...] = ()  # some of those that the model does not know
    fresh: Fresh | None = None  # where some texts, and not all, are also in the training data


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What was evaluated, and what it cost."""

    name: str = ""
    parameter_count: int | None = None
    vocabulary_size: int | None = None
    training_documents: int | None = None
    training_seconds: float | None = None
    evaluation_seconds: float | None = None
    device: str = ""
    version: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Evaluation(Record):
    """How good a classifier is on labelled documents, beside plain methods on the same ones.

    For multi-label data ``accuracy`` is the share of documents whose labels are all right and
    none too many, ``hamming_loss`` the share of single decisions that are wrong, ``confusion``
    is empty, and calibration is about each label on its own.
    """

    task: Literal["single-label", "multi-label"]
    document_count: int
    accuracy: float
    accuracy_interval: Interval
    macro_f1: float
    macro_f1_interval: Interval
    micro_f1: float
    micro_f1_interval: Interval
    hamming_loss: float
    log_loss: float  # this and the next two with the temperature
    brier: float
    expected_calibration_error: float
    temperature: float
    classes: tuple[str, ...]
    per_class: tuple[ClassScore, ...]
    confusion: tuple[tuple[int, ...], ...]  # [true][predicted], in the order of classes
    calibration: Calibration  # with the temperature
    raw_calibration: Calibration  # without it
    coverage: tuple[CoveragePoint, ...]
    baselines: tuple[Baseline, ...] = ()
    lengths: tuple[LengthBin, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    history: History | None = None
    data: DataNotes = DataNotes()
    model: ModelFacts = ModelFacts()
    title: str = ""

    def threshold_for(
        self, accuracy: float, *, fewest: int = FEWEST_ANSWERS
    ) -> CoveragePoint | None:
        """Return the point that answers most documents with at least ``accuracy``, if there is one.

        A threshold that leaves less than ``fewest`` documents is luck and does not count. Read
        off these documents it flatters a little; for use, set the threshold on validation data
        with ``tasks.calibration.threshold_for``.
        """
        enough = [
            point
            for point in self.coverage
            if point.accuracy >= accuracy and point.coverage * self.document_count > fewest - 0.5
        ]
        return max(enough, key=lambda point: point.coverage, default=None)

    def never_answered(self) -> list[str]:
        """Return the classes that some documents have and the model gives to none."""
        return [score.label for score in self.per_class if score.support and not score.predicted]

    def absent(self) -> list[str]:
        """Return the classes that no document has and no answer gives.

        They count in no score, but where a document may have several labels as 0 in the macro F1.
        """
        return [score.label for score in self.per_class if score.absent]

    def mix_ups(self) -> list[MixUp]:
        """Return which classes were taken for which, the commonest first."""
        found = [
            MixUp(self.classes[true], self.classes[predicted], count, count / total)
            for true, row in enumerate(self.confusion)
            if (total := sum(row)) > row[true]
            for predicted, count in enumerate(row)
            if true != predicted and count
        ]
        return sorted(found, key=lambda pair: -pair.count)

    def with_texts(
        self,
        texts: Mapping[int, str],
        explanations: Mapping[int, Explanation] | None = None,
        *,
        limit: int = 2000,
    ) -> Evaluation:
        """Give the mistakes their texts by index, cut to ``limit`` characters, and explanations."""
        found = explanations or {}
        mistakes = tuple(
            replace(
                mistake,
                text=texts[mistake.index][:limit],
                characters_left_out=max(0, len(texts[mistake.index]) - limit),
                explanation=found.get(mistake.index),
            )
            for mistake in self.mistakes
        )
        return replace(self, mistakes=mistakes)

    def to_html(self) -> str:
        """Return a whole HTML page that needs nothing else."""
        from ..views.evaluation.page import render

        return render(self)

    def _repr_html_(self) -> str:
        from ..views.evaluation.terminal import summary
        from ..views.notebook import card

        return card(summary(self), whole=self.to_html())
