"""``regard train`` whatever the task: settings, a place to work, what to hold out, who watches."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import Plain, require_one_of, with_text_values
from ..errors import ConfigError, DataError, ModelError
from ..estimators.named import CLASSIFIER_PARTS, USUAL_RECIPE, classifier_from, split_changes
from .inputs import near_file, open_documents
from .output import say

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
    from ..models.base import PairConfig
    from ..records.data import Check
    from ..records.history import History
    from ..training.observers import Observer
    from ..training.teams import Team
    from .tasks.task import TrainingToDo

__all__ = [
    "CLASSIFIER_PARTS",
    "TRANSLATOR_PARTS",
    "USUAL_RECIPE",
    "Place",
    "TrainingJob",
    "classifier_from",
    "describe_writing",
    "end_of_training",
    "held_out",
    "require_out",
    "running",
    "saying_when_nothing_is_learnt",
    "share_or_file",
    "split_changes",
    "translator_from",
    "translator_networks",
    "watching",
    "work_folder",
]


TRANSLATOR_PARTS = ("network", "training", "units", "forcing", "generation")


def translator_from(changes: Sequence[str], *, device: str, model: str = "seq2seq") -> Translator:
    """Make a translator, with its default settings, or a preset's, changed as asked.

    What was asked for is not chosen by the number of pairs.
    """
    from ..estimators.translator import Translator

    usual, known = Translator(), translator_networks()
    require_one_of("--model", model, known)
    by_part = split_changes(changes, TRANSLATOR_PARTS)
    fixed = {f"{part}.{name}" for part, names in by_part.items() for name in names}
    return Translator(
        with_text_values(known[model], by_part["network"]),
        training=with_text_values(usual.training, by_part["training"]),
        units=with_text_values(usual.units, by_part["units"]),
        forcing=with_text_values(usual.forcing, by_part["forcing"]),
        generation=with_text_values(usual.generation, by_part["generation"]),
        fixed=tuple(sorted(fixed)),
        device=device,
    )


def translator_networks() -> dict[str, PairConfig]:
    """Return the networks that a translator can be made of: every kind, and the presets."""
    from ..estimators.translator import Translator
    from ..models import PAIR_MODELS
    from ..models.seq2seq import PRESETS

    usual = Translator().network
    kinds = {name: kind() for name, kind in PAIR_MODELS.items()}
    return {**kinds, usual.name: usual, **PRESETS}


def require_out(out: Path, *, resume: bool, overwrite: bool) -> None:
    """Raise an error where ``out`` cannot be written, or something there would be lost unasked."""
    from ..estimators.exchange import recover_folder
    from ..estimators.folder import is_model, require_free

    recover_folder(out)
    require_free(out)
    if overwrite and resume:
        raise ConfigError(
            "--resume continues a training and --overwrite starts again; give one of them"
        )
    if overwrite:
        return
    work = _beside(out)
    # A training that was allowed to begin may end, whether or not it has saved something already.
    if is_model(out) and not (resume and _unfinished(work)):
        raise ModelError(
            f"{out} holds a model{' and nothing to resume' if resume else ''}; name another --out, "
            "or replace it with --overwrite"
        )
    if _unfinished(work) and not resume:
        raise DataError(
            f"there is an unfinished training in {work}; continue it with --resume, or start "
            "again with --overwrite"
        )


@contextmanager
def work_folder(out: Path, *, resume: bool, overwrite: bool, quiet: bool) -> Iterator[Path]:
    """Give the folder beside ``out`` where a training works, to this training alone.

    It is gone once the model is saved. Where the training fails or is killed it stays if there is
    a checkpoint to go on from. What is foreign is not replaced, what is unfinished is not lost.
    """
    from ..data.locks import hold_lock
    from ..scale.distributed import is_first, process_rank

    work = _beside(out)
    if not is_first():  # the first of several processes holds it for all
        own = work / f"process-{process_rank()}"
        try:
            yield own
        finally:  # on another machine nobody else would remove it
            shutil.rmtree(own, ignore_errors=True)
            _remove_empty(work)
        return
    taken = f"another training writes to {out}; wait for its end, or name another --out"
    with ExitStack() as stack:
        # Removed last, and only where nobody has put anything into it since.
        stack.callback(_remove_empty, work)
        stack.enter_context(hold_lock(work / "lock", taken=taken))
        require_out(out, resume=resume, overwrite=overwrite)
        if overwrite:
            _empty(work)
        if resume and not _unfinished(work):
            say("there is nothing to resume; training from the start", quiet=quiet)
        try:
            yield work
        except BaseException:
            if not _unfinished(work):
                _empty(work)
            raise
        _empty(work)


def _beside(out: Path) -> Path:
    """The folder where an unfinished training lies."""
    place = out.resolve()
    return place.with_name(f"{place.name}.partial")


def _unfinished(work: Path) -> bool:
    return (work / "checkpoint" / "state.safetensors").exists()


def _empty(work: Path) -> None:
    """Remove all but the lock, which is still held."""
    for path in work.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != "lock":
            path.unlink(missing_ok=True)


def _remove_empty(work: Path) -> None:
    with suppress(OSError):
        work.rmdir()


def held_out(validation: str, columns: Columns, on_bad_row: str) -> tuple[float, Reader | None]:
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
class Place:
    """Where one training works, what goes with it, and whether this process is to be silent."""

    run: Run
    work: Path
    quiet: bool


@contextmanager
def running(
    out: Path,
    device: torch.device,
    *,
    resume: bool,
    overwrite: bool,
    logs: Path | None,
    quiet: bool,
) -> Iterator[Place]:
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
            yield Place(Run(None, observers, team, interrupts), work, silent)


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
        with running(
            asked.out,
            device,
            resume=asked.resume,
            overwrite=asked.overwrite,
            logs=asked.logs,
            quiet=asked.quiet,
        ) as place:
            self.quiet = place.quiet
            with saying_when_nothing_is_learnt(quiet=self.quiet):
                self.fit(self._options(place))
            if place.run.team.rank != 0:
                return
            self.finish(place.run)
            self.estimator.save(asked.out)
        stopped = place.run.interrupts.heeded
        ends = end_of_training(
            self.estimator.history_, [self.reader, self.held_out], stopped=stopped
        )
        self._say([*ends, *self.describe()])

    def _options(self, place: Place) -> FitOptions:
        from ..estimators.fitting import FitOptions

        return FitOptions(
            columns=self.reader.columns,
            readers=(self.reader,) if self.held_out is None else (self.reader, self.held_out),
            work=place.work,
            resume=self.asked.resume,
            observers=place.run.observers,
            team=place.run.team,
            interrupts=place.run.interrupts,
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


def end_of_training(
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
