"""Explain by erasure: how far the probability falls without each piece.

Every piece of a text of usual length is really erased. Of a very long one those that count most
are, the rest is estimated, and the weights say how many were (``leave_one_out`` says how).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from ..records.explanation import Explanation
from ..records.weights import Weights
from ..text.document import Tokens
from .answers import Answers, explanations
from .erasing import Eraser, erasers
from .gradients import log_odds_of
from .leave_one_out import Value, without_each_sentence, without_each_word
from .scores import levels

__all__ = ["POLICY", "explain", "weigh_by_loss"]

POLICY = "delete"


def explain(answers: Answers) -> list[Explanation]:
    """Return an explanation of each document: the probability lost without each piece."""
    found = []
    for place, eraser in enumerate(erasers(answers.model, answers.batch, POLICY)):
        numbers = answers.chosen[place]
        weights = weigh_by_loss(
            answers.batch.texts[place],
            eraser,
            partial(log_odds_of, numbers=numbers, answers=answers),
            scale=torch.sigmoid,
            unit="probability",
        )
        decisions = [answers.decision(place, *one) for one in zip(numbers, weights, strict=True)]
        found.append(decisions)
    return explanations(answers, "erasure", found, erasure=POLICY)


def weigh_by_loss(
    text: Tokens, eraser: Eraser, value: Value, *, scale: Callable[[Tensor], Tensor], unit: str
) -> list[tuple[Weights, ...]]:
    """Weigh words and sentences by what each value, on its scale, loses without them.

    One list of weights for each value of the logits.
    """
    whole = scale(value(eraser.whole()))  # (1, values)
    words, sentences = without_each_word(eraser, value), without_each_sentence(eraser, value)
    lost = [(whole - scale(one.values)).T.tolist() for one in (words, sentences)]
    measured = words.measured, sentences.measured
    return [
        levels(text, *column, unit=unit, measured=measured) for column in zip(*lost, strict=True)
    ]
