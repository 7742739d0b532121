"""How a training goes, drawn for whoever waits for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ..records.history import Epoch
from .loop import Step
from .observers import Observer, Stage

__all__ = ["TrainingProgress"]

SCORES = {"loss": ("validation loss", 4), "macro_f1": ("macro-F1", 4), "bleu": ("BLEU", 2)}
"""How a score is called, and how many digits of it are shown, where that is not as usual."""
LONG = 2.0  # seconds after which a stage that is not on a bar is worth a line


class TrainingProgress(Observer):
    """Watches a training: a bar with loss, speed and time left, and a line when an epoch ends.

    There is a bar on a terminal and in a notebook; elsewhere there are the lines alone, and
    without ``lines`` nothing.
    """

    def __init__(
        self,
        *,
        quiet: bool = False,
        lines: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lines = lines and not quiet
        self._clock = clock
        self._stage: str | None = None
        self._stage_began: float | None = None  # None: it has its line already
        self._bar: Progress | None = None
        self._smooth_loss: float | None = None
        self._documents = 0
        self._seconds = 0.0
        self._score = ""
        if not quiet:
            self._bar = _training_bar()

    def __enter__(self) -> TrainingProgress:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("training", total=None, detail="")
        return self

    def __exit__(self, *problem: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def on_step(self, step: Step) -> None:
        """Move the bar."""
        self._documents += step.documents
        self._seconds += step.seconds
        self._stage = None
        # Asking for a loss makes a GPU wait; ten times in a hundred steps is often enough.
        if self._bar is None or step.step % 10:
            return
        loss = step.loss
        self._smooth_loss = (
            loss if self._smooth_loss is None else 0.9 * self._smooth_loss + 0.1 * loss
        )
        speed = self._documents / self._seconds if self._seconds else 0.0
        detail = (
            f"epoch {step.epoch}  loss {self._smooth_loss:.3f}{self._score}  "
            f"{speed:,.0f} documents/s"
        )
        self._bar.update(
            self._task,
            description="training",
            completed=step.step,
            total=step.total_steps,
            detail=detail,
        )

    def on_epoch(self, epoch: Epoch) -> None:
        """Print a line about the epoch."""
        line = f"epoch {epoch.epoch:>2}  loss {epoch.train_loss:.4f}"
        for name, score in epoch.validation.items():
            title, digits = SCORES.get(name, (name, 4))
            line += f"  {title} {score:.{digits}f}"
            if name in ("accuracy", "bleu"):
                self._score = f"  {title} {score:.{digits - 1}f}"
        line += f"  {epoch.documents_per_second:,.0f} documents/s"
        if self._bar is not None:
            self._bar.console.print(line, highlight=False)
        elif self._lines:
            print(line, file=sys.stderr, flush=True)

    def on_stage(self, stage: Stage) -> None:
        """Show on the bar what is being done; elsewhere a line says it once it takes long."""
        if self._bar is not None:
            self._bar.update(
                self._task, description=stage.name, completed=stage.done, total=stage.total
            )
            if stage.name != self._stage:
                self._bar.refresh()  # it may be over before the bar is next drawn
        elif self._lines:
            if stage.name != self._stage:
                self._stage_began = self._clock()
            elif self._stage_began is not None and self._clock() - self._stage_began >= LONG:
                self._stage_began = None
                of_all = "" if stage.total is None else f", {stage.done:,} of {stage.total:,} done"
                print(f"{stage.name}{of_all}", file=sys.stderr, flush=True)
        self._stage = stage.name


def _training_bar() -> Progress | None:
    """The bar, where there is a screen that can show one."""
    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        return None
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[detail]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
