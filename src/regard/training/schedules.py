"""The learning rate as a function of the step, from torch's own schedules."""

from __future__ import annotations

from collections.abc import Callable

from torch.optim import Optimizer
from torch.optim.lr_scheduler import (
    ConstantLR,
    CosineAnnealingLR,
    LinearLR,
    LRScheduler,
    OneCycleLR,
    SequentialLR,
)

from .config import TrainingConfig

__all__ = ["SCHEDULES", "build_schedule", "warmup_steps"]

SCHEDULES: dict[str, Callable[[Optimizer, int], LRScheduler]] = {
    "constant": lambda optimizer, steps: ConstantLR(optimizer, factor=1.0, total_iters=0),
    "linear": lambda optimizer, steps: LinearLR(optimizer, 1.0, 0.0, total_iters=steps),
    "cosine": lambda optimizer, steps: CosineAnnealingLR(optimizer, T_max=steps),
}
"""What follows the warm-up; "one-cycle" has a warm-up of its own."""


def build_schedule(optimizer: Optimizer, config: TrainingConfig, steps: int) -> LRScheduler:
    """Make the schedule of a training of so many steps, to be moved on after each."""
    warmup = warmup_steps(config, steps)
    if config.schedule == "one-cycle":
        return _one_cycle(optimizer, config.learning_rate, steps=steps, warmup=warmup)
    later = SCHEDULES[config.schedule]
    if not warmup:
        return later(optimizer, steps)
    # The first step is already taken at a share of the rate: at none it would do nothing.
    rise = LinearLR(optimizer, 1 / (warmup + 1), 1.0, total_iters=warmup)
    fall = later(optimizer, max(steps - warmup, 1))
    return SequentialLR(optimizer, [rise, fall], milestones=[warmup])


def warmup_steps(config: TrainingConfig, steps: int) -> int:
    """Return how many of all the steps the learning rate rises for."""
    share = config.warmup * steps if config.warmup < 1 else config.warmup
    return min(round(share), steps)


def _one_cycle(optimizer: Optimizer, rate: float, *, steps: int, warmup: int) -> LRScheduler:
    """Rise to the rate for ``warmup`` steps, or three in ten, then fall to nothing."""
    peak = min(warmup or round(0.3 * steps), steps - 1)
    # torch divides by the place of the peak: at the very first step it must lie just before.
    before = peak + 1 if peak else 0.5
    # One step more than there are, so that the last one still does something.
    total = steps + 1
    return OneCycleLR(optimizer, rate, total, pct_start=before / total, cycle_momentum=False)
