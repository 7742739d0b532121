"""How different the attention could be with almost the same answer (Jain and Wallace, 2019)."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..explain.gradients import differentiating
from .divergence import jensen_shannon
from .reweighing import LastAttention
from .tally import Measured

__all__ = ["EPSILON", "adversarial", "adversary"]

EPSILON = 0.01
"""By how much the answer may change, in total variation."""

STARTS = 5
STEPS = 60
LINE_POINTS = 40
RATE = 0.3


def adversarial(attention: LastAttention, seed: int = 0) -> dict[str, Measured]:
    """Look for the attention furthest from the model's own that leaves its answer as it is.

    What is found keeps to the bound: on the straight way from the model's own attention to each
    candidate the furthest point that does is taken.
    """
    if attention.count < 2:
        return {}
    own, answer, starts = _start(attention, seed)
    found = _climbed(attention, own, answer, starts)
    random = torch.softmax(starts, 1)
    best, chance = (
        jensen_shannon(_furthest(attention, own, answer, ends)[None], own)
        for ends in (torch.cat([found, random]), random)
    )
    return {"adversarial_jsd": Measured(float(best), float(chance))}


def adversary(attention: LastAttention, seed: int = 0) -> Tensor:
    """Return the attention found that differs most at the same answer, (units,)."""
    if attention.count < 2:
        return attention.weights.double()
    own, answer, starts = _start(attention, seed)
    found = _climbed(attention, own, answer, starts)
    return _furthest(attention, own, answer, torch.cat([found, torch.softmax(starts, 1)]))


def _start(attention: LastAttention, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """The model's own attention, its answer, and scores to start the search from."""
    draw = np.random.default_rng([seed, attention.count])
    own = attention.weights.double()
    starts = torch.from_numpy(draw.normal(0, 3, (STARTS, attention.count))).to(own)
    return own, attention.likely(own[None]).to(own.device), starts


def _climbed(attention: LastAttention, own: Tensor, answer: Tensor, starts: Tensor) -> Tensor:
    """Climb the divergence from each start, pushed back where the answer moves, (starts, units)."""
    with differentiating():
        scores = starts.clone().requires_grad_()
        optimizer = torch.optim.Adam([scores], lr=RATE)
        for _ in range(STEPS):
            weights = torch.softmax(scores, 1)
            moved = attention.movement(attention.differentiable(weights), answer)
            excess = torch.relu(moved - EPSILON / 2)
            loss = (10 * excess - jensen_shannon(weights, own)).sum()
            (scores.grad,) = torch.autograd.grad(loss, scores)
            optimizer.step()
    return torch.softmax(scores.detach(), 1)


def _furthest(attention: LastAttention, own: Tensor, answer: Tensor, ends: Tensor) -> Tensor:
    """The weights of largest divergence on the ways from ``own`` to the ends that keep the bound.

    ``own`` itself where none does, (units,).
    """
    parts = torch.linspace(1 / LINE_POINTS, 1, LINE_POINTS, dtype=own.dtype, device=own.device)
    line = own + parts[:, None, None] * (ends - own)  # (points, ends, units)
    given = torch.cat([own[None], line.flatten(0, 1)])
    moved = attention.movement(attention.likely(given).to(own.device), answer)
    apart = jensen_shannon(given, own)
    return given[torch.where(moved <= EPSILON, apart, 0.0).argmax()]
