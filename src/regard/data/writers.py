"""Rows of answers to a file, as a stream; the file has its name only when it is whole."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from ..errors import DataError, suggestion
from .lines import STANDARD_INPUT

__all__ = ["WRITERS", "Cell", "Row", "write_rows"]

Cell = object
Row = Mapping[str, Cell]


def write_rows(rows: Iterable[Row], path: str) -> int:
    """Write rows to a file, its format named by the suffix; ``-`` is JSON lines to standard output.

    Every row has the columns of the first. Returns how many were written.
    """
    if path == STANDARD_INPUT:
        return _json_lines(rows, sys.stdout)
    place = Path(path)
    if place.suffix.lower() not in WRITERS:
        known = suggestion(place.suffix, WRITERS)
        raise DataError(f"{path} has a suffix that cannot be written; {known}")
    write = WRITERS[place.suffix.lower()]
    with _finished(place) as unfinished:
        return write(rows, unfinished)


@contextmanager
def _finished(path: Path) -> Iterator[Path]:
    """A name to write under, changed to the right one when all went well."""
    unfinished = path.with_name(f"{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _json_lines(rows: Iterable[Row], file: TextIO) -> int:
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007
        file.write(json.dumps(row, default=str) + "\n")
    file.flush()
    return count


def _write_json_lines(rows: Iterable[Row], path: Path) -> int:
    with path.open("w", encoding="utf-8") as file:
        return _json_lines(rows, file)


def _write_delimited(rows: Iterable[Row], path: Path, delimiter: str) -> int:
    count = 0
    # A lone surrogate cannot be written as UTF-8; it is shown instead of ending the run.
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        for count, row in enumerate(rows, 1):
            if count == 1:
                writer.writerow(row)
            writer.writerow([_flat(cell) for cell in row.values()])
    return count


def _flat(cell: Cell) -> Cell:
    """A cell that one column can hold: lists and mappings as JSON."""
    if cell is None:
        return ""
    return json.dumps(cell, default=str) if isinstance(cell, list | tuple | Mapping) else cell


def _write_parquet(rows: Iterable[Row], path: Path) -> int:
    import pyarrow
    import pyarrow.parquet

    count = 0
    writer: pyarrow.parquet.ParquetWriter | None = None
    try:
        for chunk in _chunks(rows, 4096):
            table = pyarrow.Table.from_pylist([dict(row) for row in chunk])
            if writer is None:
                writer = pyarrow.parquet.ParquetWriter(path, table.schema)
            writer.write_table(table.cast(writer.schema))
            count += len(chunk)
    finally:
        if writer is not None:
            writer.close()
    if writer is None:
        pyarrow.parquet.write_table(pyarrow.table({}), path)
    return count


def _chunks(rows: Iterable[Row], size: int) -> Iterator[Sequence[Row]]:
    chunk: list[Row] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


WRITERS: dict[str, Callable[[Iterable[Row], Path], int]] = {
    ".jsonl": _write_json_lines,
    ".ndjson": _write_json_lines,
    ".csv": lambda rows, path: _write_delimited(rows, path, ","),
    ".tsv": lambda rows, path: _write_delimited(rows, path, "\t"),
    ".parquet": _write_parquet,
}
"""What writes a file, by its suffix."""
