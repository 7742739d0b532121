"""Saying "I do not know": what is gained by withholding answers of little confidence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..records.evaluation import CoveragePoint
from .predictions import Floats

__all__ = ["coverage_curve", "threshold_for"]


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
