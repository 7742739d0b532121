"""Adam for a table of which a batch reads few rows: the others move when they are next read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeGuard, cast

import torch
from torch import Tensor, nn

from ..nn.table_rows import AdamRows, AdamStep, distinct
from .config import TrainingConfig
from .drift import Drift
from .snapshot import Snapshot

__all__ = ["RowAdam", "row_optimizers"]

_BETA = 0.999
_EPS = 1e-8
_FEWEST_NUMBERS = 1 << 18  # in a table; below, torch moves all of it as quickly
# Adam's own corrections change so fast in its first steps that rows must not wait.
_EARLY_STEPS = 64
_NEVER = 1 << 62  # later than any step
_MOST_MOMENTUM = 0.9  # above, rows go on for so long by themselves that two terms are too few


def row_optimizers(model: nn.Module, config: TrainingConfig) -> tuple[RowAdam, ...]:
    """Make the optimizers of the tables whose rows are best moved one by one; perhaps none.

    On a GPU all rows are moved in less time than it takes to find those of a batch. Weight decay
    moves all rows at every step, and plain SGD is seldom asked for.
    """
    if config.optimizer == "sgd" or config.weight_decay or config.momentum > _MOST_MOMENTUM:
        return ()
    tables = {module.weight: module for module in model.modules() if _suits(module)}
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
