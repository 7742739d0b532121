"""Whether probabilities mean what they say, one number that helps them to, and what is gained by
withholding answers of little confidence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..records.evaluation import Calibration, CoveragePoint, ReliabilityBin
from .predictions import Floats, Integers, Predictions

__all__ = [
    "calibration",
    "coverage_curve",
    "fit_temperature",
    "log_loss",
    "log_losses",
    "reliability",
    "threshold_for",
]

BIN_COUNT = 15  # as in Guo et al., "On Calibration of Modern Neural Networks" (2017)
HOTTEST = 20.0


def calibration(predictions: Predictions, temperature: float = 1.0) -> Calibration:
    """Compare confidence with accuracy: of the answers given, or of each label on its own."""
    probabilities = predictions.probabilities(temperature)
    if predictions.multilabel:
        confidences, right = probabilities.ravel(), predictions.labels.ravel() == 1
        brier = float(np.mean((probabilities - predictions.labels) ** 2))
    else:
        confidences, right = probabilities.max(axis=1), predictions.correct()
        truth = np.eye(len(predictions.classes))[predictions.labels]
        brier = float(np.mean(((probabilities - truth) ** 2).sum(axis=1)))
    bins = reliability(confidences, right)
    gaps = sum(part.count * abs(part.confidence - part.accuracy) for part in bins)
    return Calibration(
        expected_error=gaps / len(confidences),
        log_loss=log_loss(predictions.logits, predictions.labels, temperature),
        brier=brier,
        bins=bins,
    )


def reliability(
    confidences: Floats, right: NDArray[np.bool_], *, bin_count: int = BIN_COUNT
) -> tuple[ReliabilityBin, ...]:
    """Sort answers into bins of equal width by confidence; a bin holds its upper edge."""
    edges = np.linspace(0, 1, bin_count + 1)
    places = np.clip(np.searchsorted(edges, confidences) - 1, 0, bin_count - 1)
    counts = np.bincount(places, minlength=bin_count)
    confidence_sums = np.bincount(places, weights=confidences, minlength=bin_count)
    right_sums = np.bincount(places, weights=right, minlength=bin_count)
    return tuple(
        ReliabilityBin(
            low=float(edges[place]),
            high=float(edges[place + 1]),
            count=int(count),
            confidence=float(confidence_sums[place] / max(count, 1)),
            accuracy=float(right_sums[place] / max(count, 1)),
        )
        for place, count in enumerate(counts)
    )


def fit_temperature(logits: Floats, labels: Integers) -> float:
    """Return the temperature that makes these labels likeliest; 1 if none is better, or no data.

    Fit it on validation data. It divides the logits, so it changes no decision. ``labels`` are
    class numbers, or zeros and ones (documents, classes). Where every answer is right, the colder
    the better without end: nobody is made surer than so many right answers in a row allow.
    """
    from scipy.optimize import minimize_scalar

    if not len(labels):
        return 1.0
    # The loss is convex in the inverse temperature, so it has one valley on this scale too.
    found = minimize_scalar(
        lambda coldness: log_loss(logits, labels, float(np.exp(-coldness))),
        bounds=(-np.log(HOTTEST), np.log(HOTTEST)),
        method="bounded",
        options={"xatol": 1e-6},
    )
    temperature = float(np.exp(-found.x))
    if log_loss(logits, labels, temperature) >= log_loss(logits, labels, 1.0):
        return 1.0
    return temperature if temperature >= 1 else _not_too_sure(logits, temperature, labels.ndim == 2)


def _not_too_sure(logits: Floats, coldest: float, multilabel: bool) -> float:
    """Return the least temperature up to 1 at which doubt is left, as of so many right answers.

    The rule of succession: after n right answers in a row the next is wrong once in n + 2 times.
    """
    from scipy.special import expit, softmax

    def confidences(temperature: float) -> Floats:
        scaled = np.asarray(logits, dtype=np.float64) / temperature
        found: Floats = expit(np.abs(scaled)) if multilabel else softmax(scaled, axis=1).max(axis=1)
        return found

    count = confidences(1.0).size
    most = (count + 1) / (count + 2)
    cold, warm = np.log(coldest), 0.0
    if confidences(coldest).mean() <= most:
        return coldest
    for _ in range(40):  # the warmer, the less sure
        middle = (cold + warm) / 2
        cold, warm = (
            (cold, middle) if confidences(np.exp(middle)).mean() <= most else (middle, warm)
        )
    return float(np.exp(warm))


def log_loss(logits: Floats, labels: Integers, temperature: float = 1.0) -> float:
    """Return the mean negative log probability of the true labels, in nats.

    It is taken from the logits, so that a probability that rounds to zero still counts. For
    multi-label data it is the mean over single labels.
    """
    return float(np.mean(log_losses(logits, labels, temperature)))


def log_losses(logits: Floats, labels: Integers, temperature: float = 1.0) -> Floats:
    """Return what ``log_loss`` is the mean of, (documents,)."""
    from scipy.special import log_softmax

    scaled = np.asarray(logits, dtype=np.float64) / temperature
    if np.ndim(labels) == 2:
        losses: Floats = np.mean(np.logaddexp(0, scaled) - scaled * labels, axis=1)
    else:
        losses = -log_softmax(scaled, axis=1)[np.arange(len(labels)), labels]
    return losses


def coverage_curve(
    confidences: Floats, correct: NDArray[np.bool_], *, point_count: int = 100
) -> tuple[CoveragePoint, ...]:
    """Return what thresholds of rising confidence keep; the first point keeps every document."""
    points = _points(confidences, correct)[::-1]
    if len(points) > point_count:
        # Even steps of coverage; the two ends are always among them.
        wanted = np.linspace(1, points[-1].coverage, point_count)
        offered = -np.array([point.coverage for point in points])
        chosen = np.searchsorted(offered, -wanted, side="right") - 1
        points = [points[place] for place in np.unique(chosen)]
    return tuple(points)


def threshold_for(
    confidences: Floats, correct: NDArray[np.bool_], accuracy: float, *, fewest: int = 20
) -> CoveragePoint | None:
    """Return the threshold that answers most documents with at least ``accuracy``, if one does.

    A document is answered where its confidence reaches the threshold; one that leaves less than
    ``fewest`` documents is luck and does not count. Set it on validation data.
    """
    least = (fewest - 0.5) / max(len(confidences), 1)
    enough = [
        point
        for point in _points(confidences, correct)
        if point.accuracy >= accuracy and point.coverage > least
    ]
    return max(enough, key=lambda point: point.coverage, default=None)


def _points(confidences: Floats, correct: NDArray[np.bool_]) -> list[CoveragePoint]:
    """One point for each confidence that occurs, from the highest down."""
    order = np.argsort(-np.asarray(confidences), kind="stable")
    falling = np.asarray(confidences, dtype=np.float64)[order]
    right = np.cumsum(np.asarray(correct)[order])
    # Documents of equal confidence are answered together, so only the last of them counts.
    last = np.flatnonzero(np.append(falling[:-1] > falling[1:], [True] * (len(falling) > 0)))
    return [
        CoveragePoint(
            threshold=float(falling[place]),
            coverage=float((place + 1) / len(falling)),
            accuracy=float(right[place] / (place + 1)),
        )
        for place in last.tolist()
    ]
