"""Those who watch what takes long, most of all a training: bars, lines, logs.

Whatever takes long says so in one way: it hands a ``Stage`` to observers. ``Progress`` is the
observer that draws; ``counted`` makes stages of anything that is gone through item by item.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self, TypeVar, runtime_checkable

from ..errors import MissingExtra
from ..records.history import Epoch
from .loop import Step

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID
    from torch.utils.tensorboard.writer import SummaryWriter

__all__ = [
    "Observer",
    "Progress",
    "ReadSource",
    "Stage",
    "TensorBoardLog",
    "TrainingProgress",
    "counted",
]

T = TypeVar("T")

SCORES = {"loss": ("validation loss", 4), "macro_f1": ("macro-F1", 4), "bleu": ("BLEU", 2)}
"""How a score is called, and how many digits of it are shown, where that is not as usual."""
LONG = 2.0  # seconds after which a stage that is not on a bar is worth a line


@dataclass(frozen=True, slots=True)
class Stage:
    """Where work is that takes long: what is being done, and how much of that is done."""

    name: str  # such as "validating"
    done: int = 0
    total: int | None = None  # None: nobody knows
    detail: str = ""  # what else there is to know now
    share: float | None = None  # of all there is, where that was not counted before


class Observer:
    """Watches a training and changes nothing in it; each kind watches what it wants to see."""

    def on_training(self, name: str) -> None:
        """See that one of several trainings begins, such as "fold 2 of 4"."""

    def on_step(self, step: Step) -> None:
        """See a step that was just taken; on a GPU, asking for its loss waits for the device."""

    def on_epoch(self, epoch: Epoch) -> None:
        """See an epoch that just ended, validation included."""

    def on_stage(self, stage: Stage) -> None:
        """See what is done before, between and after the epochs."""


@runtime_checkable
class ReadSource(Protocol):
    """What is read from a file, and knows how far."""

    def share_read(self) -> float | None:
        """How much was read, from 0 to 1, where that is known."""
        ...


def counted(
    items: Iterable[T], name: str, observers: Sequence[Observer], source: ReadSource | None = None
) -> Iterator[T]:
    """Pass the items on, and tell the observers of each how many there were before it.

    ``source`` is what the items are made from, where that is not the items themselves.
    """
    total = len(items) if isinstance(items, Sized) else None
    if source is None and isinstance(items, ReadSource):
        source = items
    for done, item in enumerate(items):
        share = source.share_read() if source is not None and total is None else None
        for observer in observers:
            observer.on_stage(Stage(name, done, total, share=share))
        yield item


class Progress(Observer):
    """Shows stages: a bar with what is done and the time left, where there is a screen for it.

    That is a terminal or a notebook. Elsewhere a stage has one line, once it takes long; without
    ``lines`` there is nothing.
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
        self._began: float | None = None  # None: the stage has its line already
        self._bars = None if quiet else _bars()
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def on_stage(self, stage: Stage) -> None:
        """Show on the bar what is being done; elsewhere a line says it once it takes long."""
        if self._bars is not None:
            self._draw(stage)
        elif self._lines:
            if stage.name != self._stage:
                self._began = self._clock()
            elif self._began is not None and (gone := self._clock() - self._began) >= LONG:
                self._began = None
                print(_line(stage, gone), file=sys.stderr, flush=True)
        self._stage = stage.name

    def _draw(self, stage: Stage, *, again: bool = True) -> None:
        """Show one stage alone; ``again`` says that its time begins anew where it comes back."""
        bars = self._bars
        assert bars is not None
        is_new = stage.name != self._stage
        if is_new and self._stage in self._tasks:
            bars.refresh()  # how far the other has come may not have been drawn yet
            bars.update(self._tasks[self._stage], visible=False)
        if stage.name not in self._tasks:
            self._tasks[stage.name] = bars.add_task(
                stage.name, total=stage.total, amount="", detail=""
            )
        elif is_new and again:
            bars.reset(self._tasks[stage.name])
        bars.update(
            self._tasks[stage.name],
            completed=stage.done if stage.share is None else stage.share,
            total=stage.total if stage.share is None else 1.0,
            visible=True,
            amount=_amount(stage),
            detail=stage.detail,
        )
        if is_new:
            bars.refresh()  # it may be over before the bar is next drawn
        self._stage = stage.name

    def _say(self, line: str) -> None:
        """Print a line that stays."""
        if self._bars is not None:
            self._bars.console.print(line, highlight=False, markup=False)
        elif self._lines:
            print(line, file=sys.stderr, flush=True)


class TrainingProgress(Progress):
    """Watches a training: its bar has loss and speed too, and each epoch leaves a line."""

    _smooth_loss: float | None = None
    _documents = 0
    _seconds = 0.0
    _score = ""
    _named = ""  # the training that begins, until it is said

    def on_training(self, name: str) -> None:
        """Note which training begins: its name stands over its epochs, below what is found."""
        self._named = name

    def on_step(self, step: Step) -> None:
        """Move the bar."""
        self._documents += step.documents
        self._seconds += step.seconds
        if self._bars is None:
            self._stage = None
            return
        # Asking for a loss makes a GPU wait; ten times in a hundred steps is often enough.
        if step.step % 10:
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
        self._draw(Stage("training", step.step, step.total_steps, detail), again=False)

    def on_epoch(self, epoch: Epoch) -> None:
        """Print a line about the epoch, the first below the name of its training."""
        if self._named:
            self._say(self._named)
            self._named = ""
        line = f"epoch {epoch.epoch:>2}  loss {epoch.train_loss:.4f}"
        for name, score in epoch.validation.items():
            title, digits = SCORES.get(name, (name, 4))
            line += f"  {title} {score:.{digits}f}"
            if name in ("accuracy", "bleu"):
                self._score = f"  {title} {score:.{digits - 1}f}"
        self._say(f"{line}  {epoch.documents_per_second:,.0f} documents/s")


def _amount(stage: Stage) -> str:
    """How much is done: a share of what there is, or as many as there were."""
    if stage.total:
        return f"{100 * stage.done / stage.total:>3.0f} %"
    if stage.share is not None:
        return f"{stage.done:,}, {100 * stage.share:.0f} %"
    return f"{stage.done:,}" if stage.done else ""


def _line(stage: Stage, seconds: float) -> str:
    """What a stage says of itself after so many seconds."""
    if stage.total is None:
        line = f"{stage.name}, {stage.done:,} done" if stage.done else stage.name
        if not stage.share:
            return line
        left = seconds / stage.share * (1 - stage.share)
        return f"{line}, {100 * stage.share:.0f} %, about {left:,.0f} s left"
    line = f"{stage.name}, {stage.done:,} of {stage.total:,} done"
    if not stage.done:
        return line
    return f"{line}, about {seconds / stage.done * (stage.total - stage.done):,.0f} s left"


def _bars() -> Bars | None:
    """The bars, where there is a screen that can show them; elsewhere they are not even loaded."""
    notebook = "ipykernel" in sys.modules
    told = any(name in os.environ for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))
    if not (notebook or told or (sys.stderr is not None and sys.stderr.isatty())):
        return None
    if notebook and find_spec("ipywidgets") is None:
        return None  # bars would be nothing but warnings there
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        return None
    return Bars(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[amount]}"),
        TextColumn("{task.fields[detail]}", markup=False),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )


class TensorBoardLog(Observer):
    """Writes losses, scores and the learning rate for TensorBoard, into a folder of its own.

    Of several trainings each has a folder in it, which TensorBoard draws as a curve of its own.
    """

    def __init__(self, folder: Path, *, every: int = 10) -> None:
        self._folder, self._name = folder, ""
        self._every = every  # steps; asking a GPU for each loss would slow it down
        self._open = _writer_kind()
        folder.mkdir(parents=True, exist_ok=True)
        self._writers: dict[str, SummaryWriter] = {}

    @property
    def _writer(self) -> SummaryWriter:
        """What writes of this training; its file is there once there is something to write."""
        if self._name not in self._writers:
            self._writers[self._name] = self._open(str(self._folder / self._name))
        return self._writers[self._name]

    def on_training(self, name: str) -> None:
        """Go on in the folder of this training."""
        self._name = name.replace(",", "").replace(" ", "-")

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
        """Write what is left and close the files."""
        for writer in self._writers.values():
            writer.close()

    def __enter__(self) -> TensorBoardLog:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


def _writer_kind() -> type[SummaryWriter]:
    try:
        from torch.utils.tensorboard.writer import SummaryWriter
    except ImportError as problem:
        raise MissingExtra("tensorboard", "logs", "writing logs for TensorBoard") from problem
    return SummaryWriter
