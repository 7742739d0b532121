"""Optimizers, and the limit on the gradient they are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from torch import Tensor, nn
from torch.optim import SGD, Adam, AdamW, Optimizer

from .config import TrainingConfig

__all__ = ["OPTIMIZERS", "build_optimizer", "clip_gradients"]

Parameters = Sequence[nn.Parameter]


def build_optimizer(model: nn.Module, config: TrainingConfig) -> Optimizer:
    """Make the optimizer of every parameter that asks for a gradient."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return OPTIMIZERS[config.optimizer](parameters, config)


def clip_gradients(parameters: Iterable[nn.Parameter], limit: float | None) -> Tensor:
    """Cut the norm of the whole gradient to ``limit`` at most; return what it was, ()."""
    given = [parameter for parameter in parameters if parameter.grad is not None]
    if limit is not None:
        return nn.utils.clip_grad_norm_(given, limit)
    return nn.utils.get_total_norm([p.grad for p in given if p.grad is not None])


def _adam(parameters: Parameters, config: TrainingConfig) -> Optimizer:
    return Adam(
        parameters,
        lr=config.learning_rate,
        betas=(config.momentum, 0.999),
        weight_decay=config.weight_decay,
        fused=_fused(parameters),
    )


def _adamw(parameters: Parameters, config: TrainingConfig) -> Optimizer:
    return AdamW(
        parameters,
        lr=config.learning_rate,
        betas=(config.momentum, 0.999),
        weight_decay=config.weight_decay,
        fused=_fused(parameters),
    )


def _sgd(parameters: Parameters, config: TrainingConfig) -> Optimizer:
    return SGD(
        parameters,
        lr=config.learning_rate,
        momentum=config.momentum,
        weight_decay=config.weight_decay,
        fused=_fused(parameters),
    )


def _fused(parameters: Parameters) -> bool:
    # One pass over each tensor instead of ten: a table of words is large, and updating it the
    # plain way takes a quarter of a training step.
    return all(parameter.device.type in ("cpu", "cuda") for parameter in parameters)


OPTIMIZERS: dict[str, Callable[[Parameters, TrainingConfig], Optimizer]] = {
    "adam": _adam,
    "adamw": _adamw,
    "sgd": _sgd,
}
"""Every optimizer by its name in the settings."""
