"""Explain why one class rather than another: how far each piece moves the odds between the two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..config import require
from ..records.explanation import Explanation
from .answers import Answers, explanations
from .erasure import POLICY, weigh_by_loss
from .leave_one_out import Value

__all__ = ["explain"]


def explain(answers: Answers) -> list[Explanation]:
    """Return an explanation of each document: the log-odds lost to the rival without each piece."""
    require(len(answers.classes) > 1, "a contrast needs a second class; this model has one")
    rivals = [
        [answers.rival(place, number) for number in numbers]
        for place, numbers in enumerate(answers.chosen)
    ]

    def between(ours: Sequence[int], theirs: Sequence[int]) -> Value:
        return lambda logits: (logits[:, ours] - logits[:, theirs]) / answers.temperature

    values = [between(*pair) for pair in zip(map(list, answers.chosen), rivals, strict=True)]
    found = []
    for place, weights in enumerate(
        weigh_by_loss(answers, values, scale=lambda odds: odds, unit="log-odds")
    ):
        found.append(
            [
                replace(answers.decision(place, number, of_one), against=answers.classes[other])
                for number, other, of_one in zip(
                    answers.chosen[place], rivals[place], weights, strict=True
                )
            ]
        )
    return explanations(answers, "contrast", found, erasure=POLICY)
