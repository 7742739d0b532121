"""Rows of answers to a file, as a stream; the file has its name only when it is whole."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..errors import DataError, suggestion
from .lines import STANDARD_INPUT

if TYPE_CHECKING:
    import pyarrow

__all__ = ["WRITERS", "Cell", "Row", "write_rows"]

Cell = object
Row = Mapping[str, Cell]

_CHUNK = 4096  # rows that a Parquet file takes at once


def write_rows(rows: Iterable[Row], path: str) -> int:
    """Write rows to a file whose suffix names the format, or with ``-`` as JSON lines to stdout.

    In JSON lines every row has its own columns; elsewhere those of the first, and a later row may
    lack some but have no other. Returns how many rows were written.
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
        file.write(json.dumps(_finite(row), default=str, allow_nan=False) + "\n")
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
        names: list[str] = []
        for count, row in enumerate(rows, 1):
            if count == 1:
                names = list(row)
                writer.writerow(names)
            _require_columns(row, names, count)
            writer.writerow([_flat(row.get(name)) for name in names])
    return count


def _write_parquet(rows: Iterable[Row], path: Path) -> int:
    import pyarrow
    import pyarrow.parquet

    stream = iter(rows)
    chunk = list(islice(stream, _CHUNK))
    count = 0
    try:
        schema = _schema(chunk)
        with pyarrow.parquet.ParquetWriter(path, schema) as writer:
            while chunk:
                for number, row in enumerate(chunk, count + 1):
                    _require_columns(row, schema.names, number)
                encodable = [{name: _encodable(row[name]) for name in row} for row in chunk]
                writer.write_table(pyarrow.Table.from_pylist(encodable, schema))
                count += len(chunk)
                chunk = list(islice(stream, _CHUNK))
    except (pyarrow.ArrowException, OverflowError) as problem:
        raise DataError(
            f"some of the rows from {count + 1:,} on do not fit one type a column ({problem}); "
            "write .jsonl instead"
        ) from problem
    return count


def _schema(rows: Sequence[Row]) -> pyarrow.Schema:
    """The columns of the first row with their types in all of these."""
    import pyarrow

    encodable = [{name: _encodable(row[name]) for name in row} for row in rows]
    found = pyarrow.Table.from_pylist(encodable).schema
    return pyarrow.schema([field.with_type(_type(field.type)) for field in found])


def _type(found: pyarrow.DataType) -> pyarrow.DataType:
    """The type of a column; of one that holds nothing yet, text."""
    import pyarrow

    if pyarrow.types.is_null(found):
        return pyarrow.string()
    if pyarrow.types.is_list(found):
        return pyarrow.list_(_type(found.value_type))
    return found


def _require_columns(row: Row, names: Sequence[str], number: int) -> None:
    for name in row:
        if name not in names:
            raise DataError(
                f"row {number:,} has a column {name!r} that the first one lacks; "
                "write .jsonl instead"
            )


def _flat(cell: Cell) -> Cell:
    """A cell that one column can hold: lists and mappings as JSON."""
    if cell is None:
        return ""
    nested = isinstance(cell, list | tuple | Mapping)
    return json.dumps(_finite(cell), default=str, allow_nan=False) if nested else cell


def _finite(cell: Cell) -> Cell:
    """The cell with null in the place of numbers that JSON does not know."""
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    if isinstance(cell, Mapping):
        return {name: _finite(value) for name, value in cell.items()}
    return [_finite(value) for value in cell] if isinstance(cell, list | tuple) else cell


def _encodable(cell: Cell) -> Cell:
    """The cell with lone surrogates, which UTF-8 cannot hold, shown as ``\\ud800``."""
    if isinstance(cell, str):
        return cell.encode("utf-8", "backslashreplace").decode()
    if isinstance(cell, Mapping):
        return {name: _encodable(value) for name, value in cell.items()}
    return [_encodable(value) for value in cell] if isinstance(cell, list | tuple) else cell


WRITERS: dict[str, Callable[[Iterable[Row], Path], int]] = {
    ".jsonl": _write_json_lines,
    ".ndjson": _write_json_lines,
    ".csv": lambda rows, path: _write_delimited(rows, path, ","),
    ".tsv": lambda rows, path: _write_delimited(rows, path, "\t"),
    ".parquet": _write_parquet,
}
"""What writes a file, by its suffix."""
