"""Explain as LIME does (Ribeiro, Singh and Guestrin, 2016): by many samples of the words.

A yardstick only: it really reads every sample again, and what it finds is an estimate where the
other methods compute.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..records.explanation import Explanation
from .answers import Answers, explanations, levels
from .erasing import Eraser, Mask, documents
from .erasure import POLICY

__all__ = ["explain", "sampled"]

SAMPLES = 1000
KERNEL_WIDTH = 0.25  # of the distance, one minus the cosine: that of the authors' code for texts
SEED = 0


def explain(answers: Answers, samples: int = SAMPLES) -> list[Explanation]:
    """Return an explanation of each document: a linear model fitted to samples of its words."""
    found = []
    for place, ids in enumerate(documents(answers.batch)):
        text = answers.batch.texts[place]
        eraser = Eraser(answers.model, ids, POLICY, per_word=text.per_word)
        kept = sampled(eraser.word_count, samples)
        likely = answers.likely(eraser.reread(kept)).numpy()  # (samples, classes)
        decisions = []
        for number in answers.chosen[place]:
            slopes = _fitted(kept, likely[:, number])
            weights = levels(text, slopes, unit="probability")
            decisions.append(answers.decision(place, number, weights))
        found.append(decisions)
    return explanations(answers, "lime", found, erasure=POLICY)


def sampled(word_count: int, count: int) -> Mask:
    """Draw versions: the whole document, then many without a random number of random words."""
    draw = np.random.default_rng(SEED)
    kept = np.ones((count, word_count), dtype=bool)
    for row in kept[1:] if word_count else ():
        size = draw.integers(1, word_count + 1)
        row[draw.choice(word_count, size, replace=False)] = False
    return kept


def _fitted(kept: Mask, probabilities: NDArray[np.float64]) -> list[float]:
    """Fit a ridge regression to samples weighted by how near they are to the document."""
    from sklearn.linear_model import Ridge

    if not kept.shape[1]:
        return []
    distances = 1 - np.sqrt(kept.mean(1))  # one minus the cosine between a sample and the document
    nearness = np.sqrt(np.exp(-((distances / KERNEL_WIDTH) ** 2)))
    line = Ridge(alpha=1.0).fit(kept, probabilities, sample_weight=nearness)
    return line.coef_.tolist()
