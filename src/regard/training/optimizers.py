"""How weights are moved: optimizers, the limit on gradients, and the learning rate by the step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Protocol, TypedDict, runtime_checkable

import torch
from torch import Tensor, nn
from torch.optim import SGD, Adam, AdamW, Optimizer
from torch.optim.lr_scheduler import (
    ConstantLR,
    CosineAnnealingLR,
    LinearLR,
    LRScheduler,
    OneCycleLR,
    SequentialLR,
)

from .config import TrainingConfig

__all__ = [
    "OPTIMIZERS",
    "SCHEDULES",
    "HasRates",
    "build_optimizer",
    "build_schedule",
    "clip_gradients",
    "own_rate",
    "warmup_steps",
]


class ParameterGroup(TypedDict):
    """Parameters that are moved at one rate."""

    params: list[nn.Parameter]
    lr: float


Groups = Sequence[ParameterGroup]


@runtime_checkable
class HasRates(Protocol):
    """A model of which some parts learn at rates of their own."""

    def learning_rates(self) -> Mapping[str, float]:
        """The learning rate of each such part, by how the names of its weights begin."""
        ...


def build_optimizer(
    model: nn.Module, config: TrainingConfig, *, others: Iterable[Tensor] = ()
) -> Optimizer:
    """Make the optimizer of every parameter that asks for a gradient and is not moved by others."""
    taken = {id(parameter) for parameter in others}
    # The settings' own rate is that of the first group, which others read as that of the training.
    groups: dict[float, ParameterGroup] = {}
    groups[config.learning_rate] = {"params": [], "lr": config.learning_rate}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad and id(parameter) not in taken:
            rate = own_rate(model, name) or config.learning_rate
            groups.setdefault(rate, {"params": [], "lr": rate})["params"].append(parameter)
    return OPTIMIZERS[config.optimizer](list(groups.values()), config)


def own_rate(model: nn.Module, name: str) -> float | None:
    """The rate at which the model lets the parameter of this name learn; None: that of all."""
    if not isinstance(model, HasRates):
        return None
    rates = model.learning_rates()
    found = [begin for begin in rates if name.startswith(begin)]
    return rates[max(found, key=len)] if found else None


def clip_gradients(parameters: Iterable[nn.Parameter], limit: float | None) -> Tensor:
    """Cut the norm of the whole gradient to ``limit`` at most; return what it was, ()."""
    gradients = [_numbers(parameter) for parameter in parameters if parameter.grad is not None]
    if not gradients:
        return torch.tensor(0.0)
    # As torch's own clipping, which refuses gradients of few rows and takes twice as long.
    norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
    if limit is not None:
        factor = (limit / (norm + 1e-6)).clamp(max=1.0)
        # Whether it is needed is not asked of a GPU, which would have to be waited for.
        if norm.is_cuda or factor != 1:
            torch._foreach_mul_(gradients, factor)
    return norm


def _numbers(parameter: nn.Parameter) -> Tensor:
    """The numbers of a gradient; where it is one of few rows, those of each row once."""
    gradient = parameter.grad
    assert gradient is not None
    if not gradient.is_sparse:
        return gradient
    parameter.grad = summed = _summed_rows(gradient)
    return summed.values()


def _summed_rows(gradient: Tensor) -> Tensor:
    """The same gradient of few rows with each row once; where that is so already, not a copy."""
    rows = gradient._indices()
    if gradient.is_coalesced() or not bool((rows[0].diff() > 0).all()):
        return gradient.coalesce()
    return gradient._coalesced_(True)  # a fresh one makes torch 2.11 warn of checks not made


def _adam(kind: type[Adam | AdamW], groups: Groups, config: TrainingConfig) -> Optimizer:
    return kind(
        groups,  # type: ignore[arg-type]  # a group is any mapping to torch
        lr=config.learning_rate,
        betas=(config.momentum, 0.999),
        weight_decay=config.weight_decay,
        fused=_can_fuse(groups),
    )


def _sgd(groups: Groups, config: TrainingConfig) -> Optimizer:
    return SGD(
        groups,  # type: ignore[arg-type]
        lr=config.learning_rate,
        momentum=config.momentum,
        weight_decay=config.weight_decay,
        fused=_can_fuse(groups),
    )


def _can_fuse(groups: Groups) -> bool:
    # One pass over each tensor instead of ten: a table of words is large, and updating it the
    # plain way takes a quarter of a training step.
    return all(
        parameter.device.type in ("cpu", "cuda")
        for group in groups
        for parameter in group["params"]
    )


OPTIMIZERS: dict[str, Callable[[Groups, TrainingConfig], Optimizer]] = {
    "adam": partial(_adam, Adam),
    "adamw": partial(_adam, AdamW),
    "sgd": _sgd,
}
"""Every optimizer by its name in the settings."""

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
        return _one_cycle(optimizer, steps=steps, warmup=warmup)
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


def _one_cycle(optimizer: Optimizer, *, steps: int, warmup: int) -> LRScheduler:
    """Rise to each group's rate for ``warmup`` steps, or three in ten, then fall to nothing."""
    peak = min(warmup or round(0.3 * steps), steps - 1)
    # torch divides by the place of the peak: at the very first step it must lie just before.
    before = peak + 1 if peak else 0.5
    # One step more than there are, so that the last one still does something.
    total = steps + 1
    rates = [group["lr"] for group in optimizer.param_groups]
    return OneCycleLR(optimizer, rates, total, pct_start=before / total, cycle_momentum=False)
