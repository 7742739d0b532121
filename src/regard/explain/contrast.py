"""Explain why one class rather than another: how far each piece moves the odds between the two."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from ..config import require
from ..records.explanation import Explanation
from .answers import Answers, explanations
from .erasing import Eraser, documents
from .erasure import POLICY
from .scores import levels

__all__ = ["explain"]


def explain(answers: Answers) -> list[Explanation]:
    """Return an explanation of each document: the log-odds lost to the rival without each piece."""
    require(len(answers.classes) > 1, "a contrast needs a second class; this model has one")
    found = []
    for place, ids in enumerate(documents(answers.batch)):
        eraser = Eraser(answers.model, ids, POLICY)
        whole = eraser.whole() / answers.temperature
        words = whole - eraser.without_each_word() / answers.temperature
        sentences = whole - eraser.without_each_sentence() / answers.temperature
        decisions = []
        for number in answers.chosen[place]:
            pair = number, answers.rival(place, number)
            lost = _between(words, *pair), _between(sentences, *pair)
            weights = levels(answers.batch.texts[place], *lost, unit="log-odds")
            decision = answers.decision(place, number, weights)
            decisions.append(replace(decision, against=answers.classes[pair[1]]))
        found.append(decisions)
    return explanations(answers, "contrast", found, erasure=POLICY)


def _between(logits: Tensor, number: int, rival: int) -> list[float]:
    return (logits[:, number] - logits[:, rival]).tolist()
