"""``regard train`` whatever the task: what to hold out, who watches, how it went."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import Plain
from ..errors import ConfigError, DataError
from .inputs import near_file, open_documents
from .output import say
from .work_folder import work_folder

if TYPE_CHECKING:
    import torch

    from ..data.columns import Columns
    from ..data.readers import Reader
    from ..estimators.captioner import Captioner
    from ..estimators.classifier import DocumentClassifier
    from ..estimators.fitting import FitOptions
    from ..estimators.pretraining import Pretrainer
    from ..estimators.trainer import Run
    from ..estimators.translator import Translator
    from ..estimators.tuning import BertUsage
    from ..records.data import Check
    from ..records.history import History
    from ..training.observers import Observer
    from ..training.teams import Team
    from .tasks.task import TrainingToDo

__all__ = [
    "TrainingJob",
    "Workplace",
    "describe_end",
    "describe_writing",
    "open_validation",
    "open_workplace",
    "saying_when_nothing_is_learnt",
    "share_or_file",
    "watching",
]


def open_validation(
    validation: str, columns: Columns, on_bad_row: str
) -> tuple[float, Reader | None]:
    """Return what to validate on: a share of the training data, or a file of documents."""
    return share_or_file(validation, lambda file: open_documents(file, columns, on_bad_row))


def share_or_file(
    validation: str, open_file: Callable[[str], Reader]
) -> tuple[float, Reader | None]:
    """Return what to validate on: a share of the training data, or a file, opened as asked."""
    try:
        fraction = float(validation)
    except ValueError:
        if not Path(validation).exists():
            raise DataError(
                f"--validation {validation} is neither a share nor a file; {near_file(validation)}"
            ) from None
        return 0.0, open_file(validation)
    if not 0 <= fraction < 1:
        raise ConfigError(
            f"--validation takes a file or a share from 0 to below 1, got {validation}"
        )
    return fraction, None


@dataclass(frozen=True)
class Workplace:
    """Where one training works, what goes with it, and whether this process is to be silent."""

    run: Run
    work: Path
    quiet: bool


@contextmanager
def open_workplace(
    out: Path,
    device: torch.device,
    *,
    resume: bool,
    overwrite: bool,
    logs: Path | None,
    quiet: bool,
) -> Iterator[Workplace]:
    """Give a training what it needs until it is saved; of several processes one alone speaks."""
    from ..estimators.trainer import Run
    from ..scale.distributed import join_team
    from ..training.interrupts import Interrupts

    with (
        Interrupts() as interrupts,
        work_folder(out, resume=resume, overwrite=overwrite, quiet=quiet) as work,
        join_team(device) as team,
    ):
        silent = quiet or team.rank != 0
        with watching(team, logs=logs, quiet=silent) as observers:
            yield Workplace(Run(None, observers, team, interrupts), work, silent)


@contextmanager
def watching(team: Team, *, logs: Path | None, quiet: bool) -> Iterator[tuple[Observer, ...]]:
    """Give what watches a training: a bar or lines, and logs where they are asked for."""
    from ..training.observers import TensorBoardLog, TrainingProgress

    with ExitStack() as stack:
        observers: list[Observer] = [stack.enter_context(TrainingProgress(quiet=quiet))]
        if logs is not None and team.rank == 0:
            observers.append(stack.enter_context(TensorBoardLog(logs)))
        yield tuple(observers)


@dataclass
class TrainingJob:
    """One training from the shell: what is printed, kept and written around a fit.

    A task says how its estimator is fitted, what is done before it is saved, and how it went.
    """

    estimator: DocumentClassifier | Translator | Captioner | Pretrainer | BertUsage
    reader: Reader
    held_out: Reader | None
    asked: TrainingToDo

    def __post_init__(self) -> None:
        self.quiet = self.asked.quiet

    def fit(self, options: FitOptions) -> None:
        """Fit the estimator on what is read, its observers told how much was."""
        raise NotImplementedError

    def finish(self, run: Run) -> None:
        """Do what is left to do with a fitted estimator before it is saved."""

    def describe(self) -> Sequence[str]:
        """Say how it went, and what can be done next."""
        raise NotImplementedError

    def describe_check(self, check: Check) -> Sequence[str]:
        """Say what was found in the data, before the training starts."""
        return check.describe()

    def go(self, fraction: float) -> None:
        """Fit, save and say so; with several processes the first alone speaks.

        ``fraction`` is the share of the data to hold out where no file says what to validate on.
        """
        from ..scale.distributed import own_device
        from ..training.devices import choose_device

        asked = self.asked
        device = own_device(choose_device(self.estimator.device))
        self.estimator.set_params(device=str(device), validation=fraction)
        with open_workplace(
            asked.out,
            device,
            resume=asked.resume,
            overwrite=asked.overwrite,
            logs=asked.logs,
            quiet=asked.quiet,
        ) as workplace:
            self.quiet = workplace.quiet
            with saying_when_nothing_is_learnt(quiet=self.quiet):
                self.fit(self._options(workplace))
            if workplace.run.team.rank != 0:
                return
            self.finish(workplace.run)
            self.estimator.save(asked.out)
        stopped = workplace.run.interrupts.heeded
        readers = [self.reader, self.held_out]
        ends = describe_end(self.estimator.history_, readers, stopped=stopped)
        self._say([*ends, *self.describe()])

    def _options(self, workplace: Workplace) -> FitOptions:
        from ..estimators.fitting import FitOptions

        return FitOptions(
            columns=self.reader.columns,
            readers=(self.reader,) if self.held_out is None else (self.reader, self.held_out),
            work=workplace.work,
            resume=self.asked.resume,
            observers=workplace.run.observers,
            team=workplace.run.team,
            interrupts=workplace.run.interrupts,
            on_check=lambda check: self._say(self.describe_check(check)),
        )

    def _say(self, lines: Iterable[str]) -> None:
        for line in lines:
            say(line, quiet=self.quiet)


def describe_writing(facts: Mapping[str, Plain], noun: str, *, bleu: str) -> list[str]:
    """Say how good a network is that writes, by its best epoch on the held-out ``noun``."""
    if not facts[f"validation_{noun}"]:
        return ["nothing was held out, so how good it is was not measured"]
    if facts["best_epoch"] is None:
        return []
    score = f"loss {facts['validation_loss']:.4f}"
    if facts["validation_bleu"] is not None:
        score = f"{bleu} {facts['validation_bleu']:.2f} and {score}"
    return [
        f"best epoch {facts['best_epoch']}: {score} on {facts[f'validation_{noun}']:,} held-out "
        f"{noun}; these chose the epoch, so measure on others"
    ]


@contextmanager
def saying_when_nothing_is_learnt(*, quiet: bool) -> Iterator[None]:
    """Say what a fit that was ended by hand leaves, where it leaves nothing."""
    try:
        yield
    except KeyboardInterrupt:
        say("stopped before anything was learnt: there is no model to save", quiet=quiet)
        raise


def describe_end(
    history: History | None, readers: Sequence[Reader | None], *, stopped: bool = False
) -> list[str]:
    """Say whether a training was stopped by hand, and which rows could not be used.

    ``stopped`` says that something was: if not the training, then what comes after it.
    """
    lines = []
    if history is not None and history.interrupted:
        kept = "the best epoch so far was" if history.best else "the weights as they were are"
        lines.append(f"stopped by hand; {kept} kept")
    elif stopped:
        lines.append("stopped by hand after the training; what was still to be measured is missing")
    for reader in readers:
        if reader is not None and reader.counts.skipped:
            lines += reader.counts.describe()
    return lines
