"""A lock that one process holds at a time, and that goes with it however it ends."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import DataError

__all__ = ["hold_lock"]

_TAKEN = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK}
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}
_TRIES = 100


@contextmanager
def hold_lock(path: Path, *, taken: str) -> Iterator[None]:
    """Hold the lock file ``path`` inside; ``taken`` is the error where another holds it already.

    The file is made, with the folders above it, and removed at the end, with those of the folders
    in which there is nothing. One that a killed process left is free: the system let go of it.
    """
    made = [folder for folder in path.parents if not folder.exists()]  # the deepest first
    try:
        file = _open_and_lock(path, taken)
        try:
            yield
        finally:
            _let_go(file, path)
    except KeyboardInterrupt:
        # It may have come when the file was made and before anyone here knew of it.
        with suppress(DataError, OSError):
            if path.exists():
                _let_go(_open_and_lock(path, taken), path)
        raise
    finally:
        with suppress(OSError):
            for folder in made:
                folder.rmdir()


def _open_and_lock(path: Path, taken: str) -> int:
    for left in reversed(range(_TRIES)):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:  # its folder was removed at this very moment, or takes no files
            if left:
                continue
            raise
        try:
            _lock(file, path, taken)
            if _is_at(file, path):
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)  # the holder before has removed the file that we opened
    raise DataError(taken)  # others come and go all the time


def _let_go(file: int, path: Path) -> None:
    # Removed while it is held, or it could be that of whoever came next.
    with suppress(OSError):
        path.unlink()
    os.close(file)


def _lock(file: int, path: Path, taken: str) -> None:
    try:
        _lock_or_fail(file)
    except OSError as problem:
        if problem.errno in _TAKEN:
            raise DataError(taken) from None
        if problem.errno not in _NO_LOCKS:
            raise
        warnings.warn(
            f"the file system of {path.parent} has no locks; let nothing else write there",
            stacklevel=2,
        )


def _is_at(file: int, path: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file), path.stat())
    return False


if sys.platform == "win32":
    import msvcrt

    def _lock_or_fail(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock_or_fail(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
