"""Rows of a table of vectors: which of them occur, and how Adam moves those.

A row is moved by its gradient, or as the steps without one that it has missed would have.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..kernels import cpu

__all__ = ["AdamRows", "AdamStep", "distinct"]

_ROWS_AT_ONCE = 1 << 11  # so that what is computed of them stays in the cache


def distinct(ids: Tensor, limit: int) -> tuple[Tensor, Tensor]:
    """Return the ids that occur, ascending, and which of them stands where, (ids,).

    They lie between 0 and ``limit``, which is not one of them.
    """
    if cpu.can_count(ids):
        return cpu.distinct(ids, limit)
    return torch.unique(ids, return_inverse=True)


@dataclass(frozen=True, slots=True)
class AdamStep:
    """The numbers of one step of Adam."""

    first_share: float  # of the gradient in the mean
    second_share: float  # of its square in the mean square
    rate: float  # the learning rate, divided by the share of the mean that is there so far
    root: float  # of the share of the mean square that is there so far
    eps: float


@dataclass(frozen=True, slots=True, eq=False)
class AdamRows:
    """A table of vectors, the mean of their gradients and that of the squares, (rows, size) each.

    All three are changed in place, but only the rows that ``places`` name, each once.
    """

    table: Tensor
    mean: Tensor
    square: Tensor

    def step(self, places: Tensor, gradient: Tensor, by: AdamStep) -> None:
        """Move rows by their gradients, (places, size), as torch's Adam does."""
        if self._native:
            numbers = cpu.AdamNumbers(
                by.first_share, by.second_share, 1 - by.second_share, by.rate, by.root, by.eps
            )
            cpu.step_rows(self._tensors, places, gradient, numbers=numbers)
            return
        for rows, given in zip(_parts(places), _parts(gradient), strict=True):
            mean = self.mean.index_select(0, rows).lerp_(given, by.first_share)
            square = self.square.index_select(0, rows).mul_(1 - by.second_share)
            square.addcmul_(given, given, value=by.second_share)
            below = square.sqrt().div_(by.root).add_(by.eps)
            self.table.index_add_(0, rows, mean / below, alpha=-by.rate)
            self.mean.index_copy_(0, rows, mean)
            self.square.index_copy_(0, rows, square)

    def drift(self, places: Tensor, missed: Tensor, kinds: Tensor) -> None:
        """Move rows as steps without a gradient would have.

        ``missed``, (kinds, 6), holds two weights, two reaches, and what is left of the mean and
        the square, of which ``kinds``, (places,), says what each row has missed.
        """
        if self._native:
            cpu.drift_rows(self._tensors, places, missed, kinds)
            return
        for rows, chosen in zip(_parts(places), _parts(kinds), strict=True):
            given = missed.index_select(0, chosen)[:, :, None]
            one, other, near, far, mean_left, square_left = given.unbind(1)
            mean, square = self.mean.index_select(0, rows), self.square.index_select(0, rows)
            root = square.sqrt()
            moves = (one / (root + near)).add_(other / (root + far)).mul_(mean)
            self.table.index_add_(0, rows, moves, alpha=-1)
            self.mean.index_copy_(0, rows, mean.mul_(mean_left))
            self.square.index_copy_(0, rows, square.mul_(square_left))

    @property
    def _native(self) -> bool:
        # C moves rows where they lie, so they must lie as it expects.
        return cpu.can_attend(self.table) and all(part.is_contiguous() for part in self._tensors)

    @property
    def _tensors(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.table, self.mean, self.square


def _parts(values: Tensor) -> tuple[Tensor, ...]:
    return values.split(_ROWS_AT_ONCE)
