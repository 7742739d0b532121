"""What the trainings of both tasks share: a place to work, what to hold out, who watches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConfigError, DataError
from .documents import opened
from .options import near_file
from .progress import say

if TYPE_CHECKING:
    from ..data.columns import Columns
    from ..data.readers import Reader
    from ..records.history import History
    from ..training.observers import Observer
    from ..training.teams import Team

__all__ = [
    "end_of_training",
    "held_out",
    "require_for_task",
    "require_workable",
    "watching",
    "work_folder",
]

_FOR_DOCUMENTS = ("labels_separator", "test", "group_column", "time_column", "vectors")
_FOR_PAIRS = ("source_column", "target_column")


def require_for_task(task: str, given: Mapping[str, object]) -> None:
    """Raise ``ConfigError`` where an option was given that the task has no use for."""
    if task == "translate":
        names = [
            f"--{name.replace('_', '-')}" for name in _FOR_DOCUMENTS if given[name] is not None
        ]
        if names:
            raise ConfigError(f"{' and '.join(names)} cannot be used with --task translate")
    elif any(given[name] for name in _FOR_PAIRS):
        raise ConfigError("--source-column and --target-column are for --task translate")


def work_folder(out: Path) -> Path:
    """Return the folder beside ``out`` where an unfinished training lies."""
    place = out.resolve()
    return place.with_name(f"{place.name}.partial")


def require_workable(out: Path, *, resume: bool, quiet: bool) -> None:
    """Raise an error where something foreign would be replaced or something unfinished lost."""
    from ..estimators.saving import require_free

    require_free(out)
    work = work_folder(out)
    unfinished = (work / "checkpoint" / "state.safetensors").exists()
    if unfinished and not resume:
        raise DataError(f"an unfinished training lies in {work}; go on with --resume, or delete it")
    if resume and not unfinished:
        say("there is nothing to resume; training from the start", quiet=quiet)


def held_out(validation: str, columns: Columns, on_bad_row: str) -> tuple[float, Reader | None]:
    """Return what to validate on: a share of the training data, or a file."""
    try:
        fraction = float(validation)
    except ValueError:
        if not Path(validation).exists():
            raise DataError(
                f"--validation {validation} is neither a share nor a file; {near_file(validation)}"
            ) from None
        return 0.0, opened(validation, columns, on_bad_row)
    if not 0 <= fraction < 1:
        raise ConfigError(
            f"--validation takes a file or a share from 0 to below 1, got {validation}"
        )
    return fraction, None


@contextmanager
def watching(team: Team, *, logs: Path | None, quiet: bool) -> Iterator[tuple[Observer, ...]]:
    """Give what watches a training: a bar or lines, and logs where they are asked for."""
    from ..training.observers import TensorBoardLog
    from ..training.progress import TrainingProgress

    with ExitStack() as stack:
        observers: list[Observer] = [stack.enter_context(TrainingProgress(quiet=quiet))]
        if logs is not None and team.rank == 0:
            observers.append(stack.enter_context(TensorBoardLog(logs)))
        yield tuple(observers)


def end_of_training(history: History | None, readers: Sequence[Reader | None]) -> list[str]:
    """Say whether a training was stopped by hand, and which rows could not be used."""
    lines = []
    if history is not None and history.interrupted:
        kept = "the best epoch so far was" if history.best else "the weights as they were are"
        lines.append(f"stopped by hand; {kept} kept")
    for reader in readers:
        if reader is not None and reader.counts.skipped:
            lines += reader.counts.describe()
    return lines
