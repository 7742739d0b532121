"""Explain by erasure: how far the probability falls without each piece.

Every piece of a text of usual length is really erased. Of a very long one those that count most
are, the rest is estimated, and the weights say how many were (``leave_one_out`` says how).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from ..records.explanation import Explanation
from ..records.weights import Weights
from .answers import Answers, explanations
from .erasing import erasers
from .gradients import log_odds_of
from .leave_one_out import Value, without_each
from .scores import levels

__all__ = ["POLICY", "explain", "weigh_by_loss"]

POLICY = "delete"


def explain(answers: Answers) -> list[Explanation]:
    """Return an explanation of each document: the probability lost without each piece."""
    values = [partial(log_odds_of, numbers=numbers, answers=answers) for numbers in answers.chosen]
    found = []
    for place, weights in enumerate(
        weigh_by_loss(answers, values, scale=torch.sigmoid, unit="probability")
    ):
        numbers = answers.chosen[place]
        decisions = [answers.decision(place, *one) for one in zip(numbers, weights, strict=True)]
        found.append(decisions)
    return explanations(answers, "erasure", found, erasure=POLICY)


def weigh_by_loss(
    answers: Answers,
    values: Sequence[Value],
    *,
    scale: Callable[[Tensor], Tensor],
    unit: str,
) -> list[list[tuple[Weights, ...]]]:
    """Weigh words and sentences by what the values of each document lose, on their scale.

    One list of weights for each value of the logits of a document.
    """
    made = erasers(answers.model, answers.batch, POLICY)
    found = []
    for place, (words, sentences) in enumerate(without_each(made, values)):
        whole = scale(values[place](answers.output.logits[place : place + 1].double().cpu()))
        lost = [(whole - scale(one.values)).T.tolist() for one in (words, sentences)]
        measured = words.measured, sentences.measured
        text = answers.batch.texts[place]
        found.append(
            [
                levels(text, *column, unit=unit, measured=measured)
                for column in zip(*lost, strict=True)
            ]
        )
    return found
