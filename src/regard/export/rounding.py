"""A model in fewer bits: word vectors and n-gram weights as coarse as the answers allow.

Most of a model is word vectors, and most of a vector hardly moves the answer. How much each
direction does is read off the slopes of the log-odds along the vectors of many documents. In a
basis in which all directions move the answer alike, turned so that its numbers are independent,
every number is rounded to the same step: directions that matter keep many digits, others few or
none. The basis is folded into the network's input weights, so nothing is turned back.

A word that is rare is in few documents and there but once, so it may be rounded more coarsely.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from ..data.batch import Batch
from ..explain.fitted import Fitted
from ..explain.gradients import differentiating, log_odds
from ..models.wide import WidePart

__all__ = ["RoundedVectors", "RoundedWeights", "round_vectors", "round_weights", "sensitivity"]

Floats = NDArray[np.float64]

_RARER = (2_000, 8_000, 20_000)
"""Words beyond each of these ranks are rounded twice as coarsely as those before."""
_FLOOR = 1e-4
"""What a direction matters at least, as a share of the mean: no sample shows all that matters."""


@dataclass(frozen=True, slots=True, eq=False)
class RoundedVectors:
    """Word vectors as whole numbers: that of a word is ``basis @ (numbers * 2**shift)``."""

    numbers: NDArray[np.int64]  # (words, rank)
    shifts: NDArray[np.uint8]  # (words,)
    basis: Floats  # (size, rank)

    @property
    def vectors(self) -> Floats:
        """The vectors that they stand for, (words, size)."""
        found: Floats = (self.numbers * np.exp2(self.shifts)[:, None]) @ self.basis.T
        return found


def word_shifts(words: int) -> NDArray[np.uint8]:
    """By how many powers of two each word is rounded more coarsely than the commonest, (words,)."""
    return np.searchsorted(_RARER, np.arange(words), side="right").astype(np.uint8)


def sensitivity(fitted: Fitted, batch: Batch, shifts: NDArray[np.uint8]) -> list[Floats]:
    """How much errors of word vectors move the log-odds of a document, the mean of g gᵀ.

    ``g``, (size,), is the slope along the vector of a word in all its places together, times how
    coarsely the word is rounded. Of networks that answer together each has vectors of its own.
    """
    answers = fitted.answer(batch)
    labels = len(answers.classes)
    numbers = torch.arange(len(batch)) % labels
    with differentiating():
        vectors = fitted.model.embed(batch).values.detach().requires_grad_()
        output = fitted.model.from_vectors(batch.ids.with_values(vectors), batch)
        total = log_odds(output.logits, numbers, answers).sum()
        (slopes,) = torch.autograd.grad(total, vectors)
    ids = batch.ids.values
    pairs, places = torch.unique(batch.by_document.row_ids * len(shifts) + ids, return_inverse=True)
    coarseness = torch.from_numpy(np.exp2(shifts.astype(float)))[pairs % len(shifts)]
    found = []
    for part in slopes.split(fitted.model.embedding.weight.shape[1], 1):
        sums = torch.zeros(len(pairs), part.shape[1], dtype=torch.float64)
        sums.index_add_(0, places, part.double())
        weighed: Floats = (sums * coarseness[:, None]).numpy()
        found.append(weighed.T @ weighed / max(len(batch), 1))
    return found


def round_vectors(
    vectors: Floats, matter: Floats, shifts: NDArray[np.uint8], *, step: float
) -> RoundedVectors:
    """Round vectors to steps of so many log-odds; ``matter`` is their ``sensitivity``."""
    values, turns = np.linalg.eigh(matter)
    strengths = np.sqrt(np.maximum(values, _FLOOR * max(values.mean(), 1e-30)))
    root, back = (turns * strengths) @ turns.T, (turns / strengths) @ turns.T
    seen = vectors @ root
    _, axes = np.linalg.eigh(seen.T @ seen)
    axes = axes[:, ::-1]  # those along which words differ most first
    coordinates = seen @ axes
    numbers = np.rint(coordinates / (step * np.exp2(shifts.astype(float)))[:, None]).astype(
        np.int64
    )
    kept = numbers.any(0)
    basis = (back @ axes)[:, kept] * step
    return RoundedVectors(numbers[:, kept], shifts, basis)


@dataclass(frozen=True, slots=True, eq=False)
class RoundedWeights:
    """Weights of n-grams in whole steps; of two labels, what the second gets more."""

    numbers: NDArray[np.int64]  # (features, columns)
    step: float
    class_count: int

    @property
    def weights(self) -> NDArray[np.float32]:
        """The weights that they stand for, (features, classes)."""
        found = self.numbers * self.step
        if found.shape[1] != self.class_count:
            found = np.concatenate([-found / 2, found / 2], axis=1)
        return found.astype(np.float32)

    def beside(self, part: WidePart) -> WidePart:
        """The same features with these weights."""
        return replace(part, weights=self.weights)


def round_weights(part: WidePart, *, step: float, multilabel: bool) -> RoundedWeights:
    """Round the weights of n-grams; what all labels get alike, and no answer shows, is left out."""
    weights = part.weights.astype(np.float64)
    classes = weights.shape[1]
    if not multilabel and classes == 2:
        weights = weights[:, 1:] - weights[:, :1]
    elif not multilabel:
        weights = weights - weights.mean(1, keepdims=True)
    return RoundedWeights(np.rint(weights / step).astype(np.int64), step, classes)
