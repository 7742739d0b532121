"""What a training is likely to take, from a few steps that are not kept."""

from __future__ import annotations

import copy
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Generic

import torch

from ..training.batches import B, Batches
from ..training.config import TrainingConfig
from ..training.loop import count_steps, train
from ..training.state import M, TrainingState
from ..training.teams import Alone
from .trainer import FitData, Objective

__all__ = ["Pace", "measure_pace"]

TRIAL_STEPS = 6
"""How many steps are timed at most, after a first one: the first call of anything is slow."""
TRIAL_SECONDS = 1.0
"""After so long no further step is begun."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How quick a training is."""

    token_seconds: float  # of training on one token
    judge_seconds: float  # of one validation

    def seconds(self, tokens: int, epochs: int) -> float:
        """How long all epochs take at most, each on so many tokens and with a validation."""
        return epochs * (tokens * self.token_seconds + self.judge_seconds)


def measure_pace(
    model: M,
    data: FitData[M, B],
    *,
    loss: Objective[M, B],
    config: TrainingConfig,
    clock: Callable[[], float] = time.perf_counter,
) -> Pace:
    """Take a few steps with a copy of the model, and judge it on one batch; nothing is kept."""
    longer = replace(config, epochs=TRIAL_STEPS + 1)  # enough steps, however few batches there are
    trial = copy.deepcopy(model)
    state = TrainingState(trial, longer, total_steps=count_steps(data.training, longer))
    device = state.device
    steps = train(trial, data.training, loss=loss.to(device), config=longer, state=state)
    next(steps)
    began = now = _finished(device, clock)
    tokens = 0
    for step in itertools.islice(steps, TRIAL_STEPS):
        tokens += step.tokens
        now = _finished(device, clock)
        if now - began >= TRIAL_SECONDS:
            break
    steps.close()
    return Pace((now - began) / max(1, tokens), _judging(trial, data, device, clock))


def _judging(
    model: M, data: FitData[M, B], device: torch.device, clock: Callable[[], float]
) -> float:
    """How long the validation data take, from the first batch of them."""
    if data.validation is None:
        return 0.0
    began = _finished(device, clock)
    data.judge(model, _First(data.validation), Alone())
    return (_finished(device, clock) - began) * data.validation.count(0)


def _finished(device: torch.device, clock: Callable[[], float]) -> float:
    """The time when the device has done all that it was asked to do."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return clock()


@dataclass(frozen=True, eq=False)
class _First(Generic[B]):
    """The first batch of others."""

    batches: Batches[B]

    def count(self, epoch: int) -> int:
        return min(1, self.batches.count(epoch))

    def read(self, epoch: int, start: int = 0) -> Iterator[B]:
        return itertools.islice(self.batches.read(epoch, start), 1)

    def share(self, rank: int, size: int) -> _First[B]:
        return _First(self.batches.share(rank, size))
