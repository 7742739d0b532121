"""How often a decoder is told the true token, as a function of how far its training has come.

Scheduled sampling of Bengio et al. (2015): it starts with the truth, and is left to itself more
and more, as it will be when it is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import torch

from ..config import checked_settings, require, require_one_of
from ..data.pairs import PairBatch
from ..models.seq2seq import Seq2Seq
from ..tasks.generate import TokenLoss
from ..tasks.loss import Loss

__all__ = ["FORCINGS", "ForcedLoss", "ForcingConfig", "forcing_ratio"]

ForcingName = Literal["constant", "linear", "exponential", "inverse-sigmoid"]

_STEEPNESS = 10.0  # of the inverse sigmoid: it is within 1 % of its ends near both of them


@dataclass(frozen=True)
@checked_settings
class ForcingConfig:
    """The probability that a step is told the true token: at the start, and at the end."""

    schedule: ForcingName = "constant"
    start: float = 1.0
    end: float = 0.1  # not used where it is constant

    def __post_init__(self) -> None:
        require_one_of("schedule", self.schedule, FORCINGS)
        for name in ("start", "end"):
            value = getattr(self, name)
            require(0 <= value <= 1, f"{name} must be from 0 to 1, got {value}")
        require(
            self.schedule != "exponential" or min(self.start, self.end) > 0,
            "an exponential schedule never reaches 0; give a start and an end above it",
        )


def forcing_ratio(config: ForcingConfig, progress: float) -> float:
    """Return the probability of the true token after a share of the training, from 0 to 1."""
    share = min(max(progress, 0.0), 1.0)
    return FORCINGS[config.schedule](config.start, config.end, share)


@dataclass(frozen=True, slots=True, eq=False)
class ForcedLoss:
    """The loss of every target token, told the true tokens as often as the schedule says."""

    loss: TokenLoss
    forcing: ForcingConfig

    def __call__(self, model: Seq2Seq, batch: PairBatch, progress: float = 0.0) -> Loss:
        """Let the model write the targets, after this share of its training."""
        return replace(self.loss, forcing=forcing_ratio(self.forcing, progress))(model, batch)

    def to(self, device: torch.device) -> ForcedLoss:
        """The same loss; it has nothing that lies on a device."""
        return self


def _inverse_sigmoid(start: float, end: float, progress: float) -> float:
    def fall(share: float) -> float:
        return 1 / (1 + math.exp(_STEEPNESS * (share - 0.5)))

    left = (fall(progress) - fall(1)) / (fall(0) - fall(1))
    return end + (start - end) * left


FORCINGS: dict[str, Callable[[float, float, float], float]] = {
    "constant": lambda start, end, progress: start,
    "linear": lambda start, end, progress: start + (end - start) * progress,
    "exponential": lambda start, end, progress: start * (end / start) ** progress,
    "inverse-sigmoid": _inverse_sigmoid,
}
"""Every schedule by its name in the settings: from start to end, by the share that is done."""
