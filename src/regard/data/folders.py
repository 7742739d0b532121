"""A folder of .txt files, one text each; with labels, one folder a label."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..errors import DataError
from ..records.reading import BadRow
from .columns import Columns, Found, Ignored, Row
from .lines import Lines

__all__ = ["TEXT_SUFFIXES", "folder_rows"]

TEXT_SUFFIXES = (".txt", ".txt.gz")


def folder_rows(folder: Path, columns: Columns) -> Iterator[Found]:
    """Walk through the texts in the order of their names; each carries its path as ``file``.

    With labels asked for, the folders inside ``folder`` are the labels, and files that lie
    beside these folders are passed over.
    """
    found = False
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_dir() or any(part.startswith(".") for part in inside.parts):
            continue
        beside = columns.label is not None and len(inside.parts) == 1
        if beside or not path.name.lower().endswith(TEXT_SUFFIXES):
            yield Ignored(1)
            continue
        found = True
        yield _text(path, inside, columns)
    if not found:
        asked = "a folder for each label with .txt files in it" if columns.label else ".txt files"
        raise DataError(f"{folder} holds no texts; it needs {asked}")


def _text(path: Path, inside: Path, columns: Columns) -> Row | BadRow:
    pieces: list[str] = []
    lines = Lines(path, columns.encoding)
    for number, (text, problem) in enumerate(lines, 1):
        if problem is not None:
            return BadRow(lines.name, number, "invalid encoding", problem)
        pieces.append(text)
    values: dict[str, object] = {"file": inside.as_posix(), columns.text: "".join(pieces)}
    if columns.label is not None:
        values[columns.label] = inside.parts[0]
    return Row(1, values)
