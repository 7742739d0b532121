"""Explain by exact erasure: how far the probability falls without each piece."""

from __future__ import annotations

from ..records.explanation import Explanation
from .answers import Answers, explanations
from .erasing import Eraser, documents
from .scores import levels

__all__ = ["POLICY", "explain"]

POLICY = "delete"


def explain(answers: Answers) -> list[Explanation]:
    """Return an explanation of each document: the probability lost without each piece."""
    found = []
    for place, ids in enumerate(documents(answers.batch)):
        eraser = Eraser(answers.model, ids, POLICY)
        whole = answers.likely(eraser.whole())
        words = whole - answers.likely(eraser.without_each_word())  # (words, classes)
        sentences = whole - answers.likely(eraser.without_each_sentence())
        decisions = []
        for number in answers.chosen[place]:
            drops = words[:, number].tolist(), sentences[:, number].tolist()
            weights = levels(answers.batch.texts[place], *drops, unit="probability")
            decisions.append(answers.decision(place, number, weights))
        found.append(decisions)
    return explanations(answers, "erasure", found, erasure=POLICY)
