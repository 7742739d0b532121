"""The mean loss of the epoch under way, kept without waiting for a GPU."""

from __future__ import annotations

from typing import cast

import torch

from .loop import Step
from .snapshot import Snapshot

__all__ = ["RunningLoss"]


class RunningLoss:
    """Adds up what the steps of an epoch cost, each document counting the same."""

    def __init__(self, device: torch.device) -> None:
        self._sums = torch.zeros(2, dtype=torch.float64, device=device)
        self.seconds = 0.0

    def add(self, step: Step) -> None:
        """Take note of a step."""
        result = step.result
        self._sums[0] += result.mean * result.documents
        self._sums[1] += result.documents
        self.seconds += step.seconds

    @property
    def mean(self) -> float:
        """The mean loss of the documents so far; on a GPU this waits for the device."""
        return float(self._sums[0] / self._sums[1])

    @property
    def documents(self) -> int:
        """How many documents there were so far; on a GPU this waits for the device."""
        return int(self._sums[1])

    def snapshot(self) -> Snapshot:
        """Return what ``restore`` needs."""
        return Snapshot({"sums": self._sums}, {"seconds": self.seconds})

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to where the snapshot was taken."""
        self._sums.copy_(snapshot.tensors["sums"])
        self.seconds = cast(float, snapshot.values["seconds"])
