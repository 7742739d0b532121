"""When a training has gone far enough, judged by the validation data."""

from __future__ import annotations

import math
from typing import cast

from ..records.history import Epoch
from .config import TrainingConfig
from .snapshot import Snapshot

__all__ = ["EarlyStopping"]


class EarlyStopping:
    """Remembers the best epoch, and for how many epochs there was no progress.

    The best epoch is the one with the best score. Progress is a score more than ``min_delta``
    better than that of the last progress, so small gains can add up to one.
    """

    def __init__(self, config: TrainingConfig) -> None:
        self._config = config
        self._best = -math.inf
        self._progress = -math.inf
        self.best_epoch: int | None = None
        self.waited = 0

    def judge(self, epoch: Epoch) -> bool:
        """Take note of an epoch; return whether it is the best so far.

        Without validation data the last epoch is the best.
        """
        score = self._score(epoch)
        improved = score is None or score > self._best
        if improved:
            self.best_epoch = epoch.epoch
        if score is None:
            return True
        self._best = max(score, self._best)
        if score > self._progress + self._config.min_delta:
            self._progress, self.waited = score, 0
        else:
            self.waited += 1
        return improved

    @property
    def exhausted(self) -> bool:
        """Whether there was no progress for as many epochs as the settings have patience."""
        return self._config.patience is not None and self.waited >= self._config.patience

    def snapshot(self) -> Snapshot:
        """Return what ``restore`` needs."""
        seen = self._best > -math.inf
        return Snapshot(
            values={
                "best": self._best if seen else None,
                "progress": self._progress if seen else None,
                "best_epoch": self.best_epoch,
                "waited": self.waited,
            }
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to where the snapshot was taken."""
        best = cast(float | None, snapshot.values["best"])
        progress = cast(float | None, snapshot.values["progress"])
        self._best = -math.inf if best is None else best
        self._progress = -math.inf if progress is None else progress
        self.best_epoch = cast(int | None, snapshot.values["best_epoch"])
        self.waited = cast(int, snapshot.values["waited"])

    def _score(self, epoch: Epoch) -> float | None:
        """The score of an epoch, larger is better; None without validation data."""
        scores, monitor = epoch.validation, self._config.monitor
        if monitor != "loss" and (monitor != "bleu" or scores.get("bleu")):
            return scores.get(monitor)
        # BLEU of texts below four words is 0 however good they are. Any BLEU beats a loss.
        return -scores["loss"] if "loss" in scores else None
