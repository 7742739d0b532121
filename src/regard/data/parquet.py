"""Parquet files, read a thousand rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataError
from ..records.reading import BadRow
from .columns import Columns, Found, Row, require_columns

if TYPE_CHECKING:
    import pyarrow

__all__ = ["parquet_rows"]

_ROWS_AT_A_TIME = 1024


def parquet_rows(path: Path, columns: Columns) -> Iterator[Found]:
    """Walk through the rows of the file, counted from 1."""
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(path)
    except OSError as problem:
        raise DataError(f"cannot read {path}: {problem.strerror or problem}") from problem
    except pyarrow.lib.ArrowInvalid as problem:
        raise DataError(f"{path} is no Parquet file, or a damaged one: {problem}") from problem
    with file:
        names: list[str] = file.schema_arrow.names
        require_columns(str(path), names, columns)
        wanted = names if columns.carry else list(columns.needed)
        number = 0
        for batch in file.iter_batches(_ROWS_AT_A_TIME, columns=wanted):
            values = [_values(column) for column in batch.columns]
            for row in zip(*values, strict=True):
                number += 1
                cells = dict(zip(batch.schema.names, row, strict=True))
                yield _row(str(path), number, cells, columns)


def _values(column: pyarrow.Array) -> list[object]:
    """The values of a column; if one of its texts is not UTF-8, all of them in bytes."""
    try:
        return column.to_pylist()
    except UnicodeDecodeError:
        return column.cast("large_binary").to_pylist()
    except ValueError:  # Python's times end at microseconds
        return column.cast("timestamp[us]", safe=False).to_pylist()


def _row(file: str, number: int, values: dict[str, object], columns: Columns) -> Row | BadRow:
    for name in columns.needed:
        value = values[name]
        if isinstance(value, bytes):
            try:
                values[name] = value.decode()
            except UnicodeDecodeError as problem:
                reason = f"column {name!r} is not valid utf-8: {problem.reason}"
                return BadRow(file, number, "invalid encoding", reason)
    return Row(number, values)
