"""How much of the answer goes when what an explanation points at is taken away."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from ..records.explanation import Decision, Explanation
from ..records.weights import Weights
from .answers import Answers
from .erasing import Eraser, documents
from .rankings import Floats, ranks_of, tops

__all__ = ["comprehensiveness", "ranked_levels"]

SEED = 0


def ranked_levels(decision: Decision) -> dict[str, Weights]:
    """The weights that rank the words of the document, and those that rank its sentences."""
    found = {
        "word": decision.importance() or decision.level("word"),
        "sentence": decision.level("sentence"),
    }
    return {
        name: weights for name, weights in found.items() if weights is not None and len(weights)
    }


def comprehensiveness(
    answers: Answers, explanations: Sequence[Explanation], policy: str = "delete"
) -> Floats:
    """Return the probability that each document's first decision loses, (documents,).

    The mean over the bins, and over words and sentences; the same numbers as in a receipt, without
    the random rankings beside them.
    """
    found = []
    for explanation, ids in zip(explanations, documents(answers.batch), strict=True):
        eraser = Eraser(answers.model, ids, policy)
        decision = explanation.decisions[0]
        number = answers.classes.index(decision.label)
        start = answers.likely(eraser.whole())[0, number]
        losses = [
            start - _left(answers, eraser, weights)[:, number].mean()
            for weights in ranked_levels(decision).values()
        ]
        found.append(float(sum(losses)) / max(len(losses), 1))
    return np.array(found)


def _left(answers: Answers, eraser: Eraser, weights: Weights) -> Tensor:
    """The probabilities without each bin of the heaviest words or sentences, (bins, classes)."""
    amounts = np.array(weights.amounts)
    ask = eraser.asking("sentence" if weights.name == "sentence" else "word")
    top = tops(ranks_of(amounts, np.random.default_rng([SEED, len(amounts)])))[0]
    return answers.likely(ask(~top))
