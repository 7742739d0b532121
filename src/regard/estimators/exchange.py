"""Putting a folder in the place of another, so that at any moment there is a whole one.

The new folder is written beside, brought to the disk, and exchanged with the old one in one step
where the system can; elsewhere by two renames. Whatever is broken off between them, the next save,
training or load finishes it.

    model        what is there
    .model.new   what is being written; after the exchange the old folder, about to be removed
    .model.old   the old folder, between the two renames alone
    .model.lock  held by whoever saves
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..data.locks import hold_lock
from ..errors import DataError, ModelError

__all__ = ["recover_folder", "replace_folder", "require_place"]

_EXCHANGE = 2  # RENAME_EXCHANGE of Linux
_HERE = -100  # AT_FDCWD: paths are as seen from the working folder
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


def require_place(folder: Path) -> None:
    """Raise ``ModelError`` where a folder could be neither made nor replaced."""
    if folder.is_symlink() and not folder.exists():
        raise ModelError(f"{folder} is a link to nothing; remove it, or name another folder")
    if Path.cwd().is_relative_to(folder.resolve()):
        raise ModelError(f"{folder} is, or holds, the folder you are in; name another one")


def replace_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """Let ``write`` fill a new folder, and put it in the place of ``folder`` once it is whole."""
    require_place(folder)
    place = folder.resolve()  # a link stays one
    fresh, old = _beside(place, "new"), _beside(place, "old")
    taken = f"another process saves to {folder}; wait for its end, or name another folder"
    with hold_lock(_beside(place, "lock"), taken=taken):
        _recover(place)
        try:
            fresh.mkdir()
            write(fresh)
            _bring_to_disk(fresh)
            if place.exists():
                _exchange(fresh, place, old)
            else:
                fresh.rename(place)
            _sync(place.parent)
        finally:
            if place.exists() or not old.exists():
                _remove(fresh, old)


def recover_folder(folder: Path) -> None:
    """Finish what a save that was killed has left behind, and warn of it; mostly there is nothing.

    Where the killed save had taken the old folder away, the new one was whole: it takes its place.
    """
    if folder.is_symlink() and not folder.exists():
        return
    place = folder.resolve()
    if not place.name or not (_beside(place, "new").exists() or _beside(place, "old").exists()):
        return
    # Whoever saves at this moment leaves nothing behind; a folder that nobody may write stays.
    with suppress(DataError, OSError), hold_lock(_beside(place, "lock"), taken="saving"):
        _recover(place)


def _beside(place: Path, end: str) -> Path:
    return place.with_name(f".{place.name}.{end}")


def _recover(place: Path) -> None:
    fresh, old = _beside(place, "new"), _beside(place, "old")
    if not fresh.exists() and not old.exists():
        return
    done = "what it left was removed"
    if not place.exists() and fresh.exists() and old.exists():
        fresh.rename(place)
        done = "what it had written took its place"
    elif not place.exists() and old.exists():
        old.rename(place)
        done = "what was there before was brought back"
    _remove(fresh, old)
    warnings.warn(f"a save to {place} was broken off; {done}", stacklevel=4)


def _exchange(fresh: Path, place: Path, old: Path) -> None:
    if _swap(fresh, place):
        return
    try:
        place.rename(old)
        fresh.rename(place)
    except BaseException:
        if old.exists() and not place.exists():
            old.rename(place)
        raise


def _swap(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; False where the system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    rename.argtypes = (
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint,
    )
    if rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), str(other))


def _bring_to_disk(folder: Path) -> None:
    """Renamed before its bytes are on the disk, a folder could be found empty after a power cut."""
    for path in folder.rglob("*"):
        if path.is_file() or path.is_dir():
            _sync(path)
    _sync(folder)


def _sync(path: Path) -> None:
    if path.is_dir() and os.name == "nt":
        return  # folders cannot be opened there
    file = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _remove(*folders: Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
