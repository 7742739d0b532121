"""Whether explanations depend on what a model has learned (after Adebayo et al., 2018)."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import torch

from ..explain.answers import Answers
from ..explain.rankings import Floats, kendall
from ..models.base import Model
from .tally import Measured

__all__ = ["likeness", "put_to", "shuffled_copy"]

RANDOM_RANKINGS = 10


def shuffled_copy(model: Model, seed: int = 0) -> Model:
    """Return a copy of the model whose parameters each hold their numbers in another order."""
    copied = copy.deepcopy(model).eval()
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in copied.parameters():
            order = torch.randperm(parameter.numel(), generator=draw).to(parameter.device)
            parameter.copy_(parameter.flatten()[order].view_as(parameter))
    return copied


def put_to(answers: Answers, model: Model) -> Answers:
    """Ask another model about the same batch and the same classes."""
    with torch.no_grad():
        return replace(answers, model=model, output=model(answers.batch))


def likeness(amounts: Floats, others: Floats, seed: int = 0) -> dict[str, Measured]:
    """Compare scores with those of the shuffled copy; nothing where either is all the same."""
    own = kendall(amounts, others)
    if own is None:
        return {}
    draw = np.random.default_rng([seed, len(others)])
    rankings = [draw.permutation(len(others)).astype(float) for _ in range(RANDOM_RANKINGS)]
    chance = float(np.mean([kendall(row, others) or 0.0 for row in rankings]))
    return {"tau_shuffled_weights": Measured(own, chance)}
