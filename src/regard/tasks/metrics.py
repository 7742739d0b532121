"""From a model's answers to how good they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import DataError
from ..records.evaluation import (
    Advantage,
    Baseline,
    ClassScore,
    Evaluation,
    Interval,
    LengthBin,
    Mistake,
)
from ..records.explanation import ClassName
from .bootstrap import Outcomes, Scores, percentiles, proportion_interval, resampled_scores
from .calibration import calibration, coverage_curve
from .predictions import BaselineAnswers, Floats, Integers, Predictions

__all__ = ["evaluate", "length_effect", "per_class", "worst_mistakes"]


def evaluate(
    predictions: Predictions,
    *,
    temperature: float = 1.0,
    lengths: Integers | None = None,
    baselines: Sequence[BaselineAnswers] = (),
    seed: int = 0,
) -> Evaluation:
    """Score a model's answers, beside those of plain methods to the same documents.

    ``lengths`` are tokens per document. The mistakes come without their texts: add these with
    ``Evaluation.with_texts``; history, data notes and facts with ``dataclasses.replace``.
    """
    if not len(predictions):
        raise DataError("there is nothing to evaluate: no labelled documents were given")
    answers = [predictions.decisions(), *(_decisions(part, predictions) for part in baselines)]
    outcomes = Outcomes.of(predictions.labels, answers, len(predictions.classes))
    draws = resampled_scores(outcomes, seed=seed)
    ours, *theirs = [
        _Method.of(predictions.labels, *pair) for pair in zip(answers, draws, strict=True)
    ]
    softened = calibration(predictions, temperature)
    return Evaluation(
        task="multi-label" if predictions.multilabel else "single-label",
        document_count=len(predictions),
        accuracy=ours.accuracy,
        accuracy_interval=ours.accuracy_interval,
        macro_f1=ours.macro_f1,
        macro_f1_interval=percentiles(ours.draws.macro_f1),
        micro_f1=ours.micro_f1,
        micro_f1_interval=percentiles(ours.draws.micro_f1),
        hamming_loss=ours.hamming_loss,
        log_loss=softened.log_loss,
        brier=softened.brier,
        expected_calibration_error=softened.expected_error,
        temperature=temperature,
        classes=tuple(map(str, predictions.classes)),
        per_class=per_class(predictions),
        confusion=_confusion(predictions),
        calibration=softened,
        raw_calibration=calibration(predictions),
        coverage=coverage_curve(predictions.confidences(temperature), predictions.correct()),
        baselines=tuple(
            _baseline(part, ours, method, predictions.classes)
            for part, method in zip(baselines, theirs, strict=True)
        ),
        lengths=() if lengths is None else length_effect(lengths, predictions),
        mistakes=worst_mistakes(predictions, temperature=temperature),
    )


def per_class(predictions: Predictions) -> tuple[ClassScore, ...]:
    """Return precision, recall and F1 of each class; zero where there is nothing to divide by."""
    from sklearn.metrics import multilabel_confusion_matrix, precision_recall_fscore_support

    numbers = list(range(len(predictions.classes)))
    true, given = predictions.labels, predictions.decisions()
    precision, recall, f1, support = precision_recall_fscore_support(
        true, given, labels=numbers, zero_division=0
    )
    matrices = multilabel_confusion_matrix(true, given, labels=numbers)
    return tuple(
        ClassScore(
            label=str(label),
            precision=float(precision[number]),
            recall=float(recall[number]),
            f1=float(f1[number]),
            support=int(support[number]),
            predicted=int(matrices[number, :, 1].sum()),
            correct=int(matrices[number, 1, 1]),
        )
        for number, label in enumerate(predictions.classes)
    )


def length_effect(
    lengths: Integers, predictions: Predictions, *, bin_count: int = 6
) -> tuple[LengthBin, ...]:
    """Return accuracy by text length, in bins of about equally many documents, twenty at least."""
    lengths = np.asarray(lengths)
    if lengths.shape != (len(predictions),):
        raise DataError(f"{len(predictions)} documents need as many lengths, got {lengths.shape}")
    count = int(np.clip(len(lengths) // 20, 1, bin_count))
    shares = np.linspace(0, 1, count + 1)[1:]
    highs = np.unique(np.quantile(lengths, shares, method="inverted_cdf"))
    places = np.searchsorted(highs, lengths)
    correct = predictions.correct()
    bins = []
    for place in range(len(highs)):
        inside = places == place
        size, right = int(inside.sum()), int(correct[inside].sum())
        bins.append(
            LengthBin(
                low=int(lengths[inside].min()),
                high=int(lengths[inside].max()),
                count=size,
                accuracy=right / size,
                interval=proportion_interval(right, size),
            )
        )
    return tuple(bins)


def worst_mistakes(
    predictions: Predictions, *, temperature: float = 1.0, count: int = 10
) -> tuple[Mistake, ...]:
    """Return the wrong answers that the model was surest of, the worst first."""
    confidences = predictions.confidences(temperature)
    wrong = np.flatnonzero(~predictions.correct())
    worst = wrong[np.argsort(-confidences[wrong], kind="stable")][:count]
    probabilities = predictions.probabilities(temperature)
    decisions = predictions.decisions()
    return tuple(
        Mistake(
            index=index,
            true=_name_classes(predictions.labels[index], predictions.classes),
            predicted=_name_classes(decisions[index], predictions.classes),
            probability=float(confidences[index]),
            true_probability=_probability(probabilities[index], predictions.labels[index]),
        )
        for index in worst.tolist()
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Method:
    """The scores of one method, and what they are over redrawn documents."""

    accuracy: float
    macro_f1: float
    micro_f1: float
    hamming_loss: float
    document_count: int
    draws: Scores
    constant: Integers | None  # the one answer given to all documents, if it is one

    @classmethod
    def of(cls, labels: Integers, decisions: Integers, draws: Scores) -> _Method:
        from sklearn.metrics import accuracy_score, f1_score, hamming_loss

        return cls(
            accuracy=float(accuracy_score(labels, decisions)),
            macro_f1=float(f1_score(labels, decisions, average="macro", zero_division=0)),
            micro_f1=float(f1_score(labels, decisions, average="micro", zero_division=0)),
            hamming_loss=float(hamming_loss(labels, decisions)),
            document_count=len(labels),
            draws=draws,
            constant=decisions[0] if (decisions == decisions[0]).all() else None,
        )

    @property
    def accuracy_interval(self) -> Interval:
        if 0 < self.accuracy < 1:
            return percentiles(self.draws.accuracy)
        # Redrawing documents that are all right gives all right again, which says too much.
        right = round(self.accuracy * self.document_count)
        return proportion_interval(right, self.document_count)


def _baseline(
    answers: BaselineAnswers, ours: _Method, theirs: _Method, classes: tuple[ClassName, ...]
) -> Baseline:
    constant = None if theirs.constant is None else _name_classes(theirs.constant, classes)
    return Baseline(
        name=answers.name,
        accuracy=theirs.accuracy,
        accuracy_interval=theirs.accuracy_interval,
        macro_f1=theirs.macro_f1,
        macro_f1_interval=percentiles(theirs.draws.macro_f1),
        micro_f1=theirs.micro_f1,
        accuracy_difference=Advantage(
            ours.accuracy - theirs.accuracy,
            percentiles(ours.draws.accuracy - theirs.draws.accuracy),
        ),
        macro_f1_difference=Advantage(
            ours.macro_f1 - theirs.macro_f1,
            percentiles(ours.draws.macro_f1 - theirs.draws.macro_f1),
        ),
        constant_answer=constant,
        note=answers.note,
    )


def _decisions(answers: BaselineAnswers, predictions: Predictions) -> Integers:
    if np.shape(answers.probabilities) != predictions.logits.shape:
        raise DataError(
            f"{answers.name} answered {np.shape(answers.probabilities)}, but there are "
            f"{predictions.logits.shape} documents and classes"
        )
    if predictions.multilabel:
        return (np.asarray(answers.probabilities) > 0.5).astype(np.int64)
    return np.asarray(answers.probabilities).argmax(axis=1)


def _confusion(predictions: Predictions) -> tuple[tuple[int, ...], ...]:
    if predictions.multilabel:
        return ()
    count = len(predictions.classes)
    pairs = predictions.labels * count + predictions.decisions()
    matrix = np.bincount(pairs, minlength=count * count).reshape(count, count)
    return tuple(map(tuple, matrix.tolist()))


def _name_classes(label: Integers, classes: tuple[ClassName, ...]) -> str:
    if np.ndim(label) == 0:
        return str(classes[int(label)])
    return ", ".join(str(classes[number]) for number in np.flatnonzero(label)) or "none"


def _probability(probabilities: Floats, label: Integers) -> float:
    """The probability of one document's true label, or of its whole set of labels."""
    if np.ndim(label) == 0:
        return float(probabilities[int(label)])
    return float(np.where(label == 1, probabilities, 1 - probabilities).prod())
