"""Dropout in C; ``nn.dropout`` says what is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from ..native import required_library
from .jobs import DropJob, check_tensor

__all__ = ["Draw", "drop"]

_WORK_FOR_THREADS = 50_000  # numbers; fewer are drawn before another thread wakes up


@dataclass(frozen=True, slots=True)
class Draw:
    """What decides which numbers are dropped, and what the others are multiplied by."""

    seed: int
    threshold: int  # of 2^32: a number is dropped where a smaller one is drawn
    scale: float


def drop(values: Tensor, draw: Draw) -> Tensor:
    """Make some of the numbers zero and multiply the others, in any shape."""
    check_tensor("values", values, values.shape)
    result: Tensor = _Drop.apply(values, draw)
    return result


class _Context(FunctionCtx):
    """What the way forward leaves for the way back: not which were dropped, but how to know."""

    draw: Draw


class _Drop(torch.autograd.Function):
    @staticmethod
    def forward(ctx: _Context, values: Tensor, draw: Draw) -> Tensor:
        ctx.draw = draw
        values = values.contiguous()
        kept = torch.empty_like(values)
        job = DropJob()
        job.fill(count=values.numel(), seed=draw.seed, threshold=draw.threshold, scale=draw.scale)
        job.fill(values=values, kept=kept)
        native = required_library()
        threads = torch.get_num_threads() if values.numel() > _WORK_FOR_THREADS else 1
        native.run("drop", job, instructions=native.instructions_for(1 << 30), threads=threads)
        return kept

    @staticmethod
    def backward(ctx: _Context, gradient: Tensor) -> tuple[Tensor, None]:
        return drop(gradient, ctx.draw), None
