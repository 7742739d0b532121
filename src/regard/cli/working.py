"""What a training from the shell needs beside its data: a place to work, what to hold out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConfigError, DataError
from .options import near_file
from .progress import say

if TYPE_CHECKING:
    from ..data.columns import Columns
    from ..data.readers import Reader

__all__ = ["held_out", "require_workable", "work_folder"]


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
    from ..data.readers import read_documents

    try:
        fraction = float(validation)
    except ValueError:
        if not Path(validation).exists():
            raise DataError(
                f"--validation {validation} is neither a share nor a file; {near_file(validation)}"
            ) from None
        return 0.0, read_documents(validation, columns, on_bad_row=on_bad_row)  # type: ignore[arg-type]
    if not 0 <= fraction < 1:
        raise ConfigError(
            f"--validation takes a file or a share from 0 to below 1, got {validation}"
        )
    return fraction, None
