"""How Adam moves a row in steps that give it no gradient: a series that can be added up ahead.

In such a step the mean m and the mean square v of the gradients only shrink, so the moves since
the row's last step are m * sum(weight / (sqrt(v) + eps * reach)), with weights and reaches that
are the same for all rows last moved at that step. The reaches lie close together, which makes the
sum that of two well chosen ones (Gauss's rule: exact up to the third power of the reach).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["Drift"]

_NEGLIGIBLE = 1e-12  # of a mean that has shrunk to this share of itself, no move is seen
_POWERS = np.arange(4)[:, None]


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
