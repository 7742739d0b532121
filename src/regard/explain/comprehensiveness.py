"""How much of the answer goes when what an explanation points at is taken away."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..records.explanation import Decision, Explanation
from ..records.weights import Weights
from .answers import Answers
from .erasing import answer, erasers
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
    asked, owners = [], []
    for place, (explanation, eraser) in enumerate(
        zip(explanations, erasers(answers.model, answers.batch, policy), strict=True)
    ):
        for level, weights in ranked_levels(explanation.decisions[0]).items():
            amounts = np.array(weights.amounts)
            top = tops(ranks_of(amounts, np.random.default_rng([SEED, len(amounts)])))[0]
            asked.append(eraser.keep(level, ~top))
            owners.append(place)
    lost: list[list[float]] = [[] for _ in explanations]
    for place, logits in zip(owners, answer(asked), strict=True):
        decision = explanations[place].decisions[0]
        number = answers.classes.index(decision.label)
        start = float(answers.probabilities[place, number])
        lost[place].append(start - float(answers.likely(logits)[:, number].mean()))
    return np.array([sum(losses) / max(len(losses), 1) for losses in lost])
