"""A model's answers to labelled documents, as arrays: what every score is computed from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..records.explanation import ClassName

__all__ = [
    "BaselineAnswers",
    "Floats",
    "Integers",
    "Predictions",
    "confidences",
    "decide",
    "soften",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """A model's answers to labelled documents, before any temperature.

    ``labels`` are class numbers (documents,), or for multi-label data zeros and ones
    (documents, classes). For probabilities instead of logits use ``from_probabilities``.
    """

    classes: tuple[ClassName, ...]
    labels: Integers
    logits: Floats  # (documents, classes)

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels).astype(np.int64)
        logits = np.asarray(self.logits, dtype=np.float64)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "logits", logits)
        if logits.shape != (len(labels), len(self.classes)) or labels.ndim not in (1, 2):
            raise DataError(
                f"{len(labels)} labels and {len(self.classes)} classes need logits of shape "
                f"({len(labels)}, {len(self.classes)}), got {logits.shape}"
            )
        highest = 1 if labels.ndim == 2 else len(self.classes) - 1
        if labels.size and not 0 <= labels.min() <= labels.max() <= highest:
            raise DataError(f"labels must lie between 0 and {highest}, got {labels.max()}")
        if not np.isfinite(logits).all():
            raise DataError("some logits are not finite numbers; was the training stable?")

    @classmethod
    def from_probabilities(
        cls, classes: tuple[ClassName, ...], labels: Integers, probabilities: Floats
    ) -> Predictions:
        """Take probabilities, (documents, classes), from a method that has no logits."""
        sure = np.clip(np.asarray(probabilities, dtype=np.float64), 1e-12, 1 - 1e-12)
        odds = np.log(sure) - np.log1p(-sure) if np.ndim(labels) == 2 else np.log(sure)
        return cls(classes, labels, odds)

    def __len__(self) -> int:
        """How many documents there are."""
        return len(self.labels)

    @property
    def multilabel(self) -> bool:
        """Whether a document may have several labels, or none."""
        return self.labels.ndim == 2

    def probabilities(self, temperature: float = 1.0) -> Floats:
        """Return the probability of each class, (documents, classes)."""
        return soften(self.logits, multilabel=self.multilabel, temperature=temperature)

    def decisions(self) -> Integers:
        """Return the labels given, in the form of ``labels``; no temperature changes them."""
        return decide(self.logits, multilabel=self.multilabel)

    def correct(self) -> NDArray[np.bool_]:
        """Whether each document's answer is right, for multi-label data in every label."""
        same = self.decisions() == self.labels
        return same.all(axis=1) if self.multilabel else same

    def confidences(self, temperature: float = 1.0) -> Floats:
        """Return the probability the model gives its whole answer, (documents,)."""
        return confidences(self.probabilities(temperature), multilabel=self.multilabel)


@dataclass(frozen=True, slots=True, eq=False)
class BaselineAnswers:
    """What another method says about the same documents."""

    name: str
    probabilities: Floats  # (documents, classes)
    note: str = ""  # such as which documents it learned from


def soften(logits: Floats, *, multilabel: bool, temperature: float = 1.0) -> Floats:
    """Return probabilities from logits over ``temperature``: softmax, or one sigmoid a label."""
    from scipy.special import expit, softmax

    scaled = np.asarray(logits, dtype=np.float64) / temperature
    return expit(scaled) if multilabel else softmax(scaled, axis=1)


def confidences(probabilities: Floats, *, multilabel: bool) -> Floats:
    """Return the probability of the whole answer, (documents,); several labels are independent."""
    if multilabel:
        return np.maximum(probabilities, 1 - probabilities).prod(axis=1)
    return probabilities.max(axis=1)


def decide(logits: Floats, *, multilabel: bool) -> Integers:
    """Return the class of the largest logit, or for multi-label data a one where it is positive."""
    if multilabel:
        return (np.asarray(logits) > 0).astype(np.int64)
    return np.asarray(logits).argmax(axis=1)
