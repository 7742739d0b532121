"""Whether probabilities mean what they say, and one number that helps them to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..records.evaluation import Calibration, ReliabilityBin
from .predictions import Floats, Integers, Predictions

__all__ = ["calibration", "fit_temperature", "log_loss", "reliability"]

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
    class numbers, or zeros and ones (documents, classes).
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
    better = log_loss(logits, labels, temperature) < log_loss(logits, labels, 1.0)
    return temperature if better else 1.0


def log_loss(logits: Floats, labels: Integers, temperature: float = 1.0) -> float:
    """Return the mean negative log probability of the true labels, in nats.

    It is taken from the logits, so that a probability that rounds to zero still counts. For
    multi-label data it is the mean over single labels.
    """
    from scipy.special import log_softmax

    scaled = np.asarray(logits, dtype=np.float64) / temperature
    if np.ndim(labels) == 2:
        return float(np.mean(np.logaddexp(0, scaled) - scaled * labels))
    return float(-np.mean(log_softmax(scaled, axis=1)[np.arange(len(labels)), labels]))
