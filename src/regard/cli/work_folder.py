"""The folder beside a model in which its training works until it is saved."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ..errors import ConfigError, DataError, ModelError
from .output import say

__all__ = ["require_out", "work_folder"]


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
    work = _partial_folder(out)
    # A training that was allowed to begin may end, whether or not it has saved something already.
    if is_model(out) and not (resume and _is_unfinished(work)):
        raise ModelError(
            f"{out} holds a model{' and nothing to resume' if resume else ''}; name another --out, "
            "or replace it with --overwrite"
        )
    if _is_unfinished(work) and not resume:
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

    work = _partial_folder(out)
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
        if resume and not _is_unfinished(work):
            say("there is nothing to resume; training from the start", quiet=quiet)
        try:
            yield work
        except BaseException:
            if not _is_unfinished(work):
                _empty(work)
            raise
        _empty(work)


def _partial_folder(out: Path) -> Path:
    """The folder where an unfinished training lies."""
    folder = out.resolve()
    return folder.with_name(f"{folder.name}.partial")


def _is_unfinished(work: Path) -> bool:
    """Whether a training that can be continued lies in the folder."""
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
