"""Explain why one class rather than another: how far each piece moves the odds between the two."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from ..config import require
from ..records.explanation import Explanation
from .answers import Answers, explanations
from .erasing import erasers
from .erasure import POLICY, weigh_by_loss

__all__ = ["explain"]


def explain(answers: Answers) -> list[Explanation]:
    """Return an explanation of each document: the log-odds lost to the rival without each piece."""
    require(len(answers.classes) > 1, "a contrast needs a second class; this model has one")
    found = []
    for place, eraser in enumerate(erasers(answers.model, answers.batch, POLICY)):
        numbers = list(answers.chosen[place])
        others = [answers.rival(place, number) for number in numbers]

        def between(
            logits: Tensor, ours: list[int] = numbers, theirs: list[int] = others
        ) -> Tensor:
            return (logits[:, ours] - logits[:, theirs]) / answers.temperature

        weights = weigh_by_loss(
            answers.batch.texts[place], eraser, between, scale=lambda odds: odds, unit="log-odds"
        )
        decisions = [
            replace(answers.decision(place, number, of_one), against=answers.classes[other])
            for number, other, of_one in zip(numbers, others, weights, strict=True)
        ]
        found.append(decisions)
    return explanations(answers, "contrast", found, erasure=POLICY)
