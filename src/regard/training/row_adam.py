"""Adam for a table of which a batch reads few rows: the others move when they are next read.

How a row moves in steps that give it no gradient is a series that can be added up ahead. In such a
step the mean m and the mean square v of the gradients only shrink, so the moves since the row's
last step are m * sum(weight / (sqrt(v) + eps * reach)), with weights and reaches that are the same
for all rows last moved at that step. The reaches lie close together, which makes the sum that of
two well chosen ones (Gauss's rule: exact up to the third power of the reach).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeGuard, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..nn.table_rows import AdamRows, AdamStep, distinct
from .checkpoint import Snapshot
from .config import TrainingConfig
from .optimizers import own_rate

__all__ = ["Drift", "RowAdam", "row_optimizers"]

_BETA = 0.999
_EPS = 1e-8
_FEWEST_NUMBERS = 1 << 18  # in a table; below, torch moves all of it as quickly

# Adam's own corrections change so fast in its first steps that rows must not wait.
_EARLY_STEPS = 64
_NEVER = 1 << 62  # later than any step
_MOST_MOMENTUM = 0.9  # above, rows go on for so long by themselves that two terms are too few
_NEGLIGIBLE = 1e-12  # of a mean that has shrunk to this share of itself, no move is seen
_POWERS = np.arange(4)[:, None]


def row_optimizers(model: nn.Module, config: TrainingConfig) -> tuple[RowAdam, ...]:
    """Make the optimizers of the tables whose rows are best moved one by one; perhaps none.

    On a GPU all rows are moved in less time than it takes to find those of a batch. Weight decay
    moves all rows at every step, and plain SGD is seldom asked for.
    """
    if config.optimizer == "sgd" or config.weight_decay or config.momentum > _MOST_MOMENTUM:
        return ()
    tables = {
        module.weight: module
        for name, module in model.named_modules()
        if _suits(module) and own_rate(model, f"{name}.weight") is None
    }
    if all(weight in tables for weight in model.parameters() if weight.requires_grad):
        return ()  # the schedule needs an optimizer of torch's with something to move
    return tuple(RowAdam(table, momentum=config.momentum) for table in tables.values())


class RowAdam:
    """Moves the vectors of a table as torch's Adam does, but each only when it is needed.

    Rows that are not read lag behind until ``settle``, or until they are read: what they have
    missed is made up for at once. The result is that of torch's Adam to rounding. Once a table
    has had a gradient for all of its rows, it is read as a whole, and none lags behind any more.
    """

    def __init__(self, table: nn.Embedding, *, momentum: float) -> None:
        self._table = table
        self._momentum = momentum
        mean = torch.zeros_like(table.weight, requires_grad=False)
        self._rows = AdamRows(table.weight.detach(), mean, torch.zeros_like(mean))
        # Each row's last step; one that never had a gradient has nothing to make up for.
        self._moved_at = torch.full((len(mean),), _NEVER, dtype=torch.int64)
        self._drift = Drift((momentum, _BETA), _EPS)
        self._whole = False  # whether the table is read as a whole

    @property
    def weight(self) -> Tensor:
        """The vectors that are moved."""
        return self._table.weight

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let a network look rows up inside: they are up to date, and they alone have gradients."""
        hook = self._table.register_forward_pre_hook(self._on_read)
        self._table.sparse = True
        try:
            yield
        finally:
            self._table.sparse = False
            hook.remove()

    def step(self, rate: float) -> None:
        """Move the rows that have a gradient, at this learning rate."""
        gradient = self.weight.grad
        if gradient is None:
            return
        self._whole = self._whole or not gradient.is_sparse
        rows, values = _rows_of(gradient)
        self._catch_up(rows)
        self._drift.advance(rate)
        step = self._drift.step
        by = AdamStep(
            first_share=1 - self._momentum,
            second_share=1 - _BETA,
            rate=rate / (1 - self._momentum**step),
            root=math.sqrt(1 - _BETA**step),
            eps=_EPS,
        )
        self._rows.step(rows, values, by)
        self._moved_at.index_fill_(0, rows, step)
        if self._whole or step <= _EARLY_STEPS:
            self.settle()

    def settle(self) -> None:
        """Make every move that is still to be made."""
        self._make_up((self._moved_at < self._drift.step).nonzero().squeeze(1))
        self._drift.restart()

    def snapshot(self) -> Snapshot:
        """Return what ``restore`` needs: rows that lag behind then do so again."""
        sums = torch.from_numpy(self._drift.sums)
        return Snapshot(
            {**self._tensors, "drift": sums}, {"step": self._drift.step, "whole": self._whole}
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to where the snapshot was taken."""
        for name, tensor in self._tensors.items():
            tensor.copy_(snapshot.tensors[name])
        self._whole = bool(snapshot.values["whole"])
        self._drift.restore(snapshot.tensors["drift"], cast(int, snapshot.values["step"]))

    @property
    def _tensors(self) -> dict[str, Tensor]:
        return {
            "mean": self._rows.mean,
            "square": self._rows.square,
            "moved_at": self._moved_at,
        }

    def _on_read(self, table: nn.Module, ids: tuple[Tensor]) -> None:
        self._catch_up(ids[0].flatten().long())

    def _catch_up(self, rows: Tensor) -> None:
        """Make the moves that rows, of which some may be named twice, have missed."""
        if self._drift.waiting:
            behind = rows[self._moved_at[rows] < self._drift.step]
            self._make_up(distinct(behind, len(self._moved_at))[0])

    def _make_up(self, behind: Tensor) -> None:
        """Make the moves that different rows have missed."""
        if len(behind):
            stopped = self._moved_at.index_select(0, behind)
            missed, kinds = map(torch.from_numpy, self._drift.since(stopped.numpy()))
            self._rows.drift(behind, missed.to(self.weight.dtype), kinds)
            self._moved_at.index_fill_(0, behind, self._drift.step)


def _suits(module: nn.Module) -> TypeGuard[nn.Embedding]:
    return (
        isinstance(module, nn.Embedding)
        and module.weight.requires_grad
        and module.weight.device.type == "cpu"
        and module.weight.numel() >= _FEWEST_NUMBERS
        and module.weight.is_contiguous()
        and module.max_norm is None
        and not module.scale_grad_by_freq
    )


def _rows_of(gradient: Tensor) -> tuple[Tensor, Tensor]:
    """The rows that have a gradient, each once, and their gradients."""
    if not gradient.is_sparse:
        return torch.arange(len(gradient)), gradient
    summed = gradient.coalesce()
    return summed.indices()[0], summed.values()


class Drift:
    """Adds up the moves that rows make by themselves, for every step they may have stopped at."""

    def __init__(self, betas: tuple[float, float], eps: float, *, start: int = 0) -> None:
        self._betas, self._eps = betas, eps
        self._window = _shrinking_steps(betas[0])
        self.start = self.step = start
        self._sums = np.zeros((4, 1))  # of weight * reach ** power, by the step a row stopped at

    def advance(self, rate: float) -> None:
        """Take note of a step at this learning rate."""
        self.step += 1
        first, second = self._betas
        stopped = np.arange(max(self.start, self.step - self._window), self.step)
        missed = self.step - stopped
        reaches = math.sqrt(1 - second**self.step) * second ** (-missed / 2)
        weights = rate / (1 - first**self.step) * first**missed * reaches
        self._sums[:, stopped - self.start] += weights * reaches**_POWERS
        self._sums = np.append(self._sums, np.zeros((4, 1)), axis=1)

    def since(self, stopped: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """What rows can have missed, (kinds, 6), and which of it those last moved at these steps.

        Two weights, the two reaches times eps, and what is left of the mean and the mean square.
        """
        steps, places = self._steps_of(stopped)
        weights, reaches = _two_of(self._sums[:, steps - self.start])
        left = np.stack([beta ** (self.step - steps) for beta in self._betas])
        return np.concatenate([weights, self._eps * reaches, left]).T, places

    def _steps_of(self, stopped: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Steps that hold all the given ones, and which of them stands where."""
        first = int(stopped.min(initial=self.step))
        if self.step - first < len(stopped):
            return np.arange(first, self.step + 1), stopped - first
        return np.unique(stopped, return_inverse=True)

    @property
    def waiting(self) -> bool:
        """Whether there were steps since the start, so that rows may have missed some."""
        return self.start < self.step

    def restart(self) -> None:
        """Forget the past, once all rows have made its moves."""
        self.start = self.step
        self._sums = np.zeros((4, 1))

    @property
    def sums(self) -> NDArray[np.float64]:
        """What ``restore`` needs beside the steps, (4, steps since the start + 1)."""
        return self._sums

    def restore(self, sums: Tensor, step: int) -> None:
        """Go back to where the sums were taken."""
        self._sums = sums.numpy().copy()
        self.step, self.start = step, step + 1 - self._sums.shape[1]


def _shrinking_steps(beta: float) -> int:
    return 1 if beta == 0 else math.ceil(math.log(_NEGLIGIBLE) / math.log(beta))


def _two_of(sums: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The two weights and reaches with the same sums of powers, from 0 to 3, each (2, steps)."""
    some = sums[0] > 0
    total = np.where(some, sums[0], 1.0)
    mean = np.where(some, sums[1] / total, 1.0)  # of no weight, but a divisor all the same
    variance = np.maximum(sums[2] / total - mean**2, 0.0)
    third = sums[3] / total - mean * (3 * variance + mean**2)
    # One step alone has no spread, and what rounding makes of it has no meaning.
    known = variance > 1e-12 * mean**2
    spread = np.sqrt(np.where(known, variance, 0.0))
    tilt = np.where(known, third / np.where(known, variance, 1.0) ** 1.5, 0.0) / 2
    root = np.sqrt(1 + tilt**2)
    signs = np.array([[-1.0], [1.0]])
    reaches = mean + spread * (tilt + signs * root)
    weights = sums[0] / 2 * (1 - signs * tilt / root)
    return weights, reaches
