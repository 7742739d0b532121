"""Explain by gradient x input: how steeply the answer rises along each word's own vector."""

from __future__ import annotations

import torch
from torch import Tensor

from ..records.explanation import Explanation
from ..records.weights import Weights
from .answers import Answers, explanations
from .gradients import UNIT, differentiating, log_odds, of_each_class, shares_along
from .scores import levels_of_batch

__all__ = ["explain"]


def explain(answers: Answers) -> list[Explanation]:
    """Return an explanation of each document by the slope of each class's log-odds."""
    batch, model = answers.batch, answers.model

    def weigh(numbers: Tensor) -> list[tuple[Weights, ...]]:
        with differentiating():
            vectors = model.embed(batch).values.detach().requires_grad_()
            output = model.from_vectors(batch.ids.with_values(vectors), batch)
            total = log_odds(output.logits, numbers, answers).sum()
            slopes, along = torch.autograd.grad(total, (vectors, output.logits))
        scores = (slopes * vectors.detach()).sum(1) + shares_along(answers, batch, along)
        return levels_of_batch(batch, scores, unit=UNIT)

    return explanations(answers, "gradient_input", of_each_class(answers, weigh))
