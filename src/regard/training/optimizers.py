"""Optimizers, and the limit on the gradient they are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.optim import SGD, Adam, AdamW, Optimizer

from .config import TrainingConfig

__all__ = ["OPTIMIZERS", "build_optimizer", "clip_gradients"]

Parameters = Sequence[nn.Parameter]


def build_optimizer(
    model: nn.Module, config: TrainingConfig, *, others: Iterable[Tensor] = ()
) -> Optimizer:
    """Make the optimizer of every parameter that asks for a gradient and is not moved by others."""
    taken = {id(parameter) for parameter in others}
    asking = [parameter for parameter in model.parameters() if parameter.requires_grad]
    parameters = [parameter for parameter in asking if id(parameter) not in taken]
    return OPTIMIZERS[config.optimizer](parameters, config)


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
    rows, values = gradient._indices(), gradient._values()
    if gradient.is_coalesced() or not bool((rows[0].diff() > 0).all()):
        return gradient.coalesce()
    return torch.sparse_coo_tensor(
        rows, values, gradient.shape, is_coalesced=True, check_invariants=False
    )


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
