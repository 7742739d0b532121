"""Plain texts: a file with one text a line, or a folder of files with one text each."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from ...errors import DataError
from ...records.data import BadRow
from ..columns import Columns, Found, Ignored, Row
from .lines import LONGEST_ROW, Lines, NamedLines

__all__ = ["TEXT_SUFFIXES", "files_below", "folder_rows", "is_text_name", "text_rows"]

TEXT_SUFFIXES = (".txt",)
"""What the files of plain text are called; each may also be compressed, as in ``.txt.gz``."""

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def text_rows(lines: NamedLines, columns: Columns) -> Iterator[Found]:
    """One text a line; a blank line is an empty text, so that answers stay in step with lines."""
    if columns.label is not None:
        raise DataError(
            f"{lines.name} has no labels: a .txt file is one text a line; "
            "use CSV, JSON lines, Parquet or a folder for each label"
        )
    for number, (text, problem) in enumerate(lines, 1):
        if problem is not None:
            yield BadRow(lines.name, number, "invalid encoding", problem)
        else:
            yield Row(number, {columns.text: text.rstrip("\r\n")})


def folder_rows(folder: Path, columns: Columns) -> Iterator[Found]:
    """Walk through the texts in the order of their names; each carries its path as ``file``.

    With labels asked for, the folders inside ``folder`` are the labels, and files that lie
    beside these folders are passed over. Links are followed. What cannot be read, or is no
    file though it is called like a text, is a bad row with its name and is never waited for.
    """
    found = False
    for entry in files_below(folder):
        if isinstance(entry, BadRow):
            found = True
            yield entry
            continue
        inside = entry.relative_to(folder)
        beside = columns.label is not None and len(inside.parts) == 1
        if beside or not is_text_name(entry.name):
            yield Ignored(1)
            continue
        found = True
        yield _text(entry, inside, columns)
    if not found:
        asked = "a folder for each label with .txt files in it" if columns.label else ".txt files"
        raise DataError(f"{folder} holds no texts; it needs {asked}")


def files_below(top: Path) -> Iterator[Path | BadRow]:
    """All files below a folder, and a bad row for each place where some may be lost."""
    try:
        waiting = [_entries(top)]
    except OSError as problem:
        raise DataError(f"cannot read {top}: {problem.strerror}") from problem
    above = [_identity(top.stat())]  # of the folders that are open, for a link may lead back
    while waiting:
        path = next(waiting[-1], None)
        if path is None:
            waiting.pop()
            above.pop()
            continue
        try:
            found = path.stat()
            if not stat.S_ISDIR(found.st_mode):
                yield _file(path, found)
            elif _identity(found) in above:
                yield _lost(path, "a link back to a folder that it lies in")
            else:
                waiting.append(_entries(path))
                above.append(_identity(found))
        except OSError as problem:
            # A link to nowhere may have been a text or a folder; of another kind it is no loss.
            maybe = is_text_name(path.name) or not path.suffix
            yield _lost(path, f"cannot be read: {problem.strerror}") if maybe else path


def _entries(folder: Path) -> Iterator[Path]:
    """What lies in a folder in the order of its names, hidden things left out."""
    with os.scandir(folder) as found:
        names = sorted(entry.name for entry in found)
    return iter([folder / name for name in names if not name.startswith(".")])


def _file(path: Path, found: os.stat_result) -> Path | BadRow:
    if stat.S_ISREG(found.st_mode) or not is_text_name(path.name):
        return path
    kind = _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
    return _lost(path, f"{kind}, not a file")


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _lost(path: Path, reason: str) -> BadRow:
    return BadRow(str(path), 0, "unreadable file", reason)


def is_text_name(name: str) -> bool:
    """Tell whether a file is called like a text."""
    return name.lower().removesuffix(".gz").endswith(TEXT_SUFFIXES)


def _text(path: Path, inside: Path, columns: Columns) -> Row | BadRow:
    pieces: list[str] = []
    size = 0
    lines = Lines(path, columns.encoding)
    try:
        for number, (text, problem) in enumerate(lines, 1):
            if problem is not None:
                return BadRow(lines.name, number, "invalid encoding", problem)
            pieces.append(text)
            size += len(text)
            if size > LONGEST_ROW:
                return _lost(path, f"longer than {LONGEST_ROW >> 20} MiB, which no text may be")
    except DataError as wrong:
        return _lost(path, str(wrong).removeprefix(f"{path}").removeprefix(":").strip())
    values: dict[str, object] = {"file": inside.as_posix(), columns.text: "".join(pieces)}
    if columns.label is not None:
        values[columns.label] = inside.parts[0]
    return Row(1, values)
