"""Explain by attention x gradient: how much of the answer hangs on each weight.

The weights are taken as given, and the gradient says what the answer would gain from more of each
(Serrano and Smith, 2019). A pooling that is no weighted sum, the maximum, is explained as if its
vector were the sum weighted by its shares.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..errors import ConfigError
from ..models.base import Attention
from ..nn.rows import row_sum
from ..records.explanation import Explanation
from ..records.weights import Weights
from .answers import Answers, explanations
from .gradients import UNIT, differentiating, log_odds, of_each_class, shares_along
from .scores import levels_of_batch

__all__ = ["explain"]


def explain(answers: Answers) -> list[Explanation]:
    """Return an explanation of each document: the weights of each level times their gradients."""
    layers = {layer.name: layer for layer in answers.output.attention}
    if "word" not in layers:
        raise ConfigError(
            "this model gives words no attention weights; choose another method, such as erasure"
        )

    def weigh(numbers: Tensor) -> list[tuple[Weights, ...]]:
        words = _scores(answers, layers["word"], numbers)
        sentences = None
        if "sentence" in layers:
            sentences = _scores(answers, layers["sentence"], numbers)
        return levels_of_batch(answers.batch, words, sentences, unit=UNIT)

    return explanations(answers, "attention_gradient", of_each_class(answers, weigh))


def _scores(answers: Answers, layer: Attention, numbers: Tensor) -> Tensor:
    """Each weight of a layer times the slope of the answer along it, (items,)."""
    with differentiating():
        weights = layer.weights.values.detach().requires_grad_()
        output = answers.model(answers.batch, impose={layer.name: weights})
        total = log_odds(output.logits, numbers, answers).sum()
        slopes, along = torch.autograd.grad(total, (weights, output.logits))
    products = weights.detach() * slopes
    beside = shares_along(answers, answers.batch, along)
    if layer.over == "sentence":
        beside = row_sum(answers.batch.ids.with_values(beside))
    return (products if products.ndim == 1 else products.sum(1)) + beside  # hops, directions
