"""Files that are there whole or not at all: written under another name, then renamed."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

__all__ = ["naming", "open_named", "replacing", "standard_output", "write_file"]


def write_file(path: Path | str, content: str | bytes) -> None:
    """Put a file with this content in the place of an older one; text is written as UTF-8.

    Whatever fails on the way, by a full disk or a kill, leaves the older file as it was.
    """
    # A lone surrogate has no place in UTF-8; it is shown rather than failing the whole file.
    raw = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    with replacing(path) as file:
        file.write(raw)


@contextlib.contextmanager
def replacing(path: Path | str) -> Iterator[BinaryIO]:
    """Give a file to write that takes the name ``path`` at the end, unless something fails.

    A link stays one: the file that it leads to is replaced. What is no file, such as a pipe or a
    device, is written to directly.
    """
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        with open_named(place, "wb", shown=path) as file:
            yield file
        return
    # A name of its own, and a short one: that of the file may be as long as names can be.
    fresh = place.with_name(f".regard-{secrets.token_hex(8)}.new")
    try:
        with open_named(fresh, "xb", shown=path) as file:
            yield file
            file.flush()
            with naming(path):
                # Renamed before its bytes are on the disk, it could be found empty after a
                # power cut.
                os.fsync(file.fileno())
        with naming(path):
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(place, fresh)
            fresh.replace(place)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise


def open_named(path: Path | str, mode: str, *, shown: Path | str | None = None) -> BinaryIO:
    """Open a file to write, whose errors name it: by itself the system does not on a full disk."""
    return io.BufferedWriter(_NamedFile(path, mode, path if shown is None else shown))


@contextlib.contextmanager
def naming(path: Path | str) -> Iterator[None]:
    """Make errors of the system inside name this file."""
    try:
        yield
    except OSError as problem:
        if problem.errno is None:
            raise
        raise OSError(problem.errno, problem.strerror, str(path)) from problem


@contextlib.contextmanager
def standard_output() -> Iterator[TextIO]:
    """Give standard output to write to; errors of the system inside name it."""
    with naming("standard output"):
        if sys.stdout is None:  # closed when the program was started
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        yield sys.stdout


class _NamedFile(io.FileIO):
    def __init__(self, path: Path | str, mode: str, shown: Path | str) -> None:
        self._shown = shown
        with naming(shown):
            super().__init__(path, mode)

    def write(self, content: object) -> int:
        with naming(self._shown):
            return super().write(content)  # type: ignore[arg-type]

    def truncate(self, size: int | None = None) -> int:
        with naming(self._shown):
            return super().truncate(size)
