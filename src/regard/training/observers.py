"""Those who watch what takes long, most of all a training: progress bars, logs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from ..errors import MissingExtra
from ..records.history import Epoch
from .loop import Step

if TYPE_CHECKING:
    from torch.utils.tensorboard.writer import SummaryWriter

__all__ = ["Observer", "Stage", "TensorBoardLog"]


@dataclass(frozen=True, slots=True)
class Stage:
    """Where work is that takes long: what is being done, and how much of that is done."""

    name: str  # such as "validating"
    done: int = 0
    total: int | None = None  # None: nobody knows
    detail: str = ""  # what else there is to know now


class Observer:
    """Watches a training and changes nothing in it; each kind watches what it wants to see."""

    def on_step(self, step: Step) -> None:
        """See a step that was just taken; on a GPU, asking for its loss waits for the device."""

    def on_epoch(self, epoch: Epoch) -> None:
        """See an epoch that just ended, validation included."""

    def on_stage(self, stage: Stage) -> None:
        """See what is done before, between and after the epochs."""


class TensorBoardLog(Observer):
    """Writes losses, scores and the learning rate for TensorBoard, into a folder of its own."""

    def __init__(self, folder: Path, *, every: int = 10) -> None:
        self._every = every  # steps; asking a GPU for each loss would slow it down
        self._writer = _open_writer(folder)

    def on_step(self, step: Step) -> None:
        """Write the loss of every tenth step or so."""
        if step.step % self._every == 0:
            self._writer.add_scalar("step/loss", step.loss, step.step)
            self._writer.add_scalar("step/penalty", step.penalty, step.step)
            self._writer.add_scalar("step/gradient_norm", float(step.gradient_norm), step.step)
            self._writer.add_scalar("step/learning_rate", step.learning_rate, step.step)

    def on_epoch(self, epoch: Epoch) -> None:
        """Write the losses and scores of an epoch."""
        scalars = {
            "train_loss": epoch.train_loss,
            "documents_per_second": epoch.documents_per_second,
            **{f"validation_{name}": score for name, score in epoch.validation.items()},
        }
        for name, value in scalars.items():
            self._writer.add_scalar(f"epoch/{name}", value, epoch.epoch)
        self._writer.flush()

    def close(self) -> None:
        """Write what is left and close the file."""
        self._writer.close()

    def __enter__(self) -> TensorBoardLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _open_writer(folder: Path) -> SummaryWriter:
    try:
        from torch.utils.tensorboard.writer import SummaryWriter
    except ImportError as problem:
        raise MissingExtra("tensorboard", "logs", "writing logs for TensorBoard") from problem
    return SummaryWriter(str(folder))
