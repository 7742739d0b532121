"""How easily an answer flips when attention is taken from units (Serrano and Smith, 2019).

A unit's weight is set to zero and the others are made to sum to one again; nothing is read anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..explain.answers import Answers
from ..explain.rankings import Floats, random_ranks, ranks_of
from ..records.audit import FlipTable
from .reweighing import LastAttention, shares
from .tally import Measured

__all__ = ["Flips", "SingleFlip", "flip_table"]

STEPS = 50
RANDOM_RANKINGS = 5


@dataclass(frozen=True, slots=True)
class SingleFlip:
    """Whether one answer flips without its heaviest unit, and without a random other one."""

    top: bool
    random: bool


class Flips:
    """Sets weights of one document to zero and sees whether its answer stays."""

    def __init__(self, answers: Answers, attention: LastAttention, *, number: int, seed: int):
        self._answers, self._attention, self._number, self._seed = answers, attention, number, seed
        own = attention.weights[None]
        self._held = bool(answers.decided(attention.likely(own), number)[0])

    def single(self) -> SingleFlip | None:
        """Zero the largest weight, then that of a random other unit; None where there is none."""
        weights = self._attention.weights
        if self._attention.count < 2:
            return None
        top = int(weights.argmax())
        draw = np.random.default_rng([self._seed, self._attention.count])
        others = [place for place in range(self._attention.count) if place != top]
        gone = torch.ones(2, self._attention.count, dtype=weights.dtype, device=weights.device)
        gone[0, top] = gone[1, draw.choice(others)] = 0
        flips = self._flips(shares(gone * weights))
        return SingleFlip(bool(flips[0]), bool(flips[1]))

    def fraction(self, amounts: Floats) -> dict[str, Measured]:
        """Zero weights in the order of the amounts until the answer flips."""
        count = self._attention.count
        if count < 2:
            return {}
        draw = np.random.default_rng([self._seed, count])
        ranks = np.concatenate(
            [ranks_of(amounts, draw), random_ranks(count, RANDOM_RANKINGS, draw)]
        )
        sizes = np.unique(np.linspace(1, count - 1, min(STEPS, count - 1)).round().astype(int))
        kept = ranks[:, None, :] >= sizes[:, None]  # (rankings, sizes, units)
        weights = self._attention.weights
        given = shares(torch.from_numpy(kept).to(weights) * weights)
        flips = self._flips(given.flatten(0, 1)).view(len(ranks), len(sizes)).numpy()
        first = np.where(flips, sizes / count, 1.0).min(1)
        return {"flip_fraction": Measured(float(first[0]), float(first[1:].mean()))}

    def _flips(self, weights: Tensor) -> Tensor:
        likely = self._attention.likely(weights)
        return self._answers.decided(likely, self._number) != self._held


def flip_table(unit: str, flips: list[SingleFlip]) -> FlipTable:
    """Count the four cases."""
    return FlipTable(
        unit=unit,
        both=sum(one.top and one.random for one in flips),
        only_top=sum(one.top and not one.random for one in flips),
        only_random=sum(one.random and not one.top for one in flips),
        neither=sum(not one.top and not one.random for one in flips),
    )
