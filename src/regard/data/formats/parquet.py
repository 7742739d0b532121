"""Parquet files, read a thousand rows at a time and written by a detour."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import DataError
from ...files import replacing
from ...records.data import BadRow
from ..columns import Columns, Found, Row, require_columns, unique_names
from .rows import Cell, Cells, RowEncoder, require_known_columns

if TYPE_CHECKING:
    import pyarrow
    import pyarrow.parquet

__all__ = ["ParquetEncoder", "count_rows", "parquet_rows"]

_ROWS_AT_A_TIME = 1024
_DIGITS = 38  # of a decimal number of 128 bits


def parquet_rows(path: Path, columns: Columns) -> Iterator[Found]:
    """Walk through the rows of the file, counted from 1."""
    import pyarrow.parquet

    if path.exists() and not path.is_file():
        raise DataError(f"{path} is no regular file; Parquet cannot be read from a pipe")
    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for found in _rows(file, str(path), columns):
                number = found.line
                yield found
    except OSError as problem:
        raise DataError(f"cannot read {path}: {problem.strerror or problem}") from problem
    except pyarrow.ArrowException as problem:
        where = f" behind row {number:,}" if number else ""
        raise DataError(
            f"{path} is no Parquet file, or a damaged one{where}: {problem}"
        ) from problem


def count_rows(path: Path) -> int:
    """How many rows the file says it has; 0 where it does not."""
    import pyarrow.parquet

    if not path.is_file():
        return 0  # a pipe would keep whoever asks waiting
    try:
        return int(pyarrow.parquet.read_metadata(path).num_rows)
    except (OSError, pyarrow.ArrowException):
        return 0  # whoever reads on says what is wrong


def _rows(file: pyarrow.parquet.ParquetFile, name: str, columns: Columns) -> Iterator[Row | BadRow]:
    columns = require_columns(name, file.schema_arrow.names, columns)
    wanted = None if columns.carry else list(columns.needed)
    written = {
        field.name
        for field in file.schema_arrow
        if (wanted is None or field.name in wanted) and _has_times(field.type)
        if not _python_holds(file, field.name)
    }
    number = 0
    for batch in file.iter_batches(_ROWS_AT_A_TIME, columns=wanted):
        names = unique_names(batch.schema.names)
        values = [
            _values(column, write_times=field.name in written)
            for field, column in zip(batch.schema, batch.columns, strict=True)
        ]
        for row in zip(*values, strict=True):
            number += 1
            yield _row(name, number, dict(zip(names, row, strict=True)), columns)


def _python_holds(file: pyarrow.parquet.ParquetFile, name: str) -> bool:
    """Whether Python has a value for each time in a column: none beyond year 9999, no nanosecond.

    One that it cannot hold makes text of all the column, for a column has one type.
    """
    import pyarrow

    try:
        for batch in file.iter_batches(_ROWS_AT_A_TIME, columns=[name]):
            for column in batch.columns:
                _in_microseconds(column).to_pylist()
    except (ValueError, OverflowError, pyarrow.ArrowException):
        return False
    return True


def _in_microseconds(column: pyarrow.Array) -> pyarrow.Array:
    """Return the column with times as fine as Python's own; an error where that would lose some.

    Where pandas is installed, Arrow would hand out its times, or drop nanoseconds in silence.
    """
    kind = _coarser(column.type)
    return column if kind == column.type else column.cast(kind)


def _coarser(kind: pyarrow.DataType) -> pyarrow.DataType:
    """The type with microseconds in place of nanoseconds, however deep they lie."""
    import pyarrow
    from pyarrow import types

    if types.is_struct(kind):
        return pyarrow.struct([field.with_type(_coarser(field.type)) for field in kind])
    if types.is_map(kind):
        return pyarrow.map_(_coarser(kind.key_type), _coarser(kind.item_type))
    if types.is_fixed_size_list(kind):
        return pyarrow.list_(_coarser(kind.value_type), kind.list_size)
    if types.is_list(kind):
        return pyarrow.list_(_coarser(kind.value_type))
    if types.is_large_list(kind):
        return pyarrow.large_list(_coarser(kind.value_type))
    if not types.is_temporal(kind) or getattr(kind, "unit", "") != "ns":
        return kind
    if types.is_timestamp(kind):
        return pyarrow.timestamp("us", tz=kind.tz)
    return pyarrow.duration("us") if types.is_duration(kind) else pyarrow.time64("us")


def _values(column: pyarrow.Array, *, write_times: bool) -> list[object]:
    if not write_times and not _has_maps(column.type):
        try:
            return _in_microseconds(column).to_pylist()
        except UnicodeDecodeError:
            pass
    return [_value(scalar, write_times=write_times) for scalar in column]


def _value(scalar: pyarrow.Scalar, *, write_times: bool) -> object:
    """A value as Python has it: a map as a list of its pairs, text that is not UTF-8 as bytes."""
    from pyarrow import types

    def inner(one: pyarrow.Scalar) -> object:
        return _value(one, write_times=write_times)

    kind = scalar.type
    if not scalar.is_valid:
        return None
    if types.is_dictionary(kind):
        return inner(scalar.value)
    if types.is_map(kind):
        return [
            {"key": inner(pair["key"]), "value": inner(pair["value"])} for pair in scalar.values
        ]
    if types.is_struct(kind):
        return {kind.field(place).name: inner(scalar[place]) for place in range(kind.num_fields)}
    if types.is_nested(kind):
        return [inner(one) for one in scalar.values]
    if write_times and types.is_temporal(kind):
        return _written_time(scalar)
    try:
        if types.is_temporal(kind):
            return scalar.cast(_coarser(kind)).as_py()
        return scalar.as_py()
    except UnicodeDecodeError:
        return scalar.as_buffer().to_pybytes()


def _written_time(scalar: pyarrow.Scalar) -> str:
    """A time as text that has all of it, such as ``12000-01-31`` or ``17 ns``."""
    import pyarrow
    from pyarrow import types

    kind, zone = scalar.type, ""
    unit = "days" if types.is_date(kind) else str(kind.unit)
    if types.is_duration(kind):
        return f"{scalar.value} {unit}"
    if types.is_timestamp(kind) and kind.tz:
        scalar, zone = pyarrow.scalar(scalar.value, pyarrow.timestamp(unit)), "Z"
    text = str(scalar.cast(pyarrow.string()).as_py())
    return f"{scalar.value} {unit} from 1970 on" if text.startswith("<") else text + zone


def _has_times(kind: pyarrow.DataType) -> bool:
    from pyarrow import types

    return any(types.is_temporal(one) for one in _all_types(kind))


def _has_maps(kind: pyarrow.DataType) -> bool:
    from pyarrow import types

    return any(types.is_map(one) for one in _all_types(kind))


def _all_types(kind: pyarrow.DataType) -> Iterator[pyarrow.DataType]:
    """A type and those inside of it."""
    from pyarrow import types

    yield kind
    if types.is_dictionary(kind):
        yield from _all_types(kind.value_type)
    for place in range(kind.num_fields):
        yield from _all_types(kind.field(place).type)


def _row(file: str, number: int, values: dict[str, object], columns: Columns) -> Row | BadRow:
    for name in columns.needed:
        value = values[name]
        if not isinstance(value, bytes):
            continue
        try:
            values[name] = value.decode()
        except UnicodeDecodeError as problem:
            reason = f"column {name!r} is not valid utf-8: {problem.reason}"
            return BadRow(file, number, "invalid encoding", reason)
    return Row(number, values)


class ParquetEncoder(RowEncoder):
    """Parquet files end with what their parts have in common, so none can be gone on with.

    Until all rows are there they lie in Arrow's stream format, whose parts stand by themselves.
    """

    def __init__(self) -> None:
        self._schema: pyarrow.Schema | None = None

    def encode(self, rows: Sequence[Cells], first: int) -> bytes:
        """Return the rows as a part of a stream, and before the first its schema."""
        import pyarrow

        begun = self._schema is not None
        encodable = [_encodable_row(row) for row in rows]
        try:
            if self._schema is None:
                self._schema = _schema(encodable)
            names = set(self._schema.names)
            nested = [field for field in self._schema if pyarrow.types.is_nested(field.type)]
            for number, row in enumerate(encodable, first):
                require_known_columns(row, names, number)
                for field in nested:
                    _require_known_names(row.get(field.name), field.type, number)
            batch = pyarrow.RecordBatch.from_pylist(encodable, self._schema)
            _require_writable(self._schema)
        except (pyarrow.ArrowException, OverflowError, ValueError) as problem:
            if isinstance(problem, DataError):
                raise
            raise DataError(
                f"some of the rows from {first:,} on do not fit one type a column ({problem}); "
                "write .jsonl instead"
            ) from problem
        head = b"" if begun else self._schema.serialize().to_pybytes()
        return head + batch.serialize().to_pybytes()

    def encode_none(self, like: Cells) -> bytes:
        """Return the columns alone, with the types that they have in this row."""
        self.encode([like], 1)  # what Parquet cannot hold is an error here too
        assert self._schema is not None
        return self._schema.serialize().to_pybytes()

    def adopt(self, path: Path) -> None:
        """Take the schema that the file has."""
        import pyarrow

        with pyarrow.OSFile(os.fsencode(path)) as file:
            self._schema = pyarrow.ipc.open_stream(file).schema

    def finish(self, unfinished: Path, path: Path) -> None:
        """Write the stream as Parquet."""
        import pyarrow
        import pyarrow.parquet

        with pyarrow.OSFile(os.fsencode(unfinished)) as rows, replacing(path) as file:
            stream = pyarrow.ipc.open_stream(rows) if self._schema is not None else ()
            schema = self._schema or pyarrow.schema([])
            with pyarrow.parquet.ParquetWriter(file, schema) as writer:
                for batch in stream:
                    writer.write_batch(batch)
        unfinished.unlink()


def _schema(rows: Sequence[Cells]) -> pyarrow.Schema:
    """The columns of the first row with their types in all of these."""
    import pyarrow

    found = pyarrow.Table.from_pylist(rows).schema
    return pyarrow.schema([field.with_type(_type(field.type)) for field in found])


def _type(found: pyarrow.DataType) -> pyarrow.DataType:
    """The type of a column; of one that holds nothing yet, text."""
    import pyarrow

    if pyarrow.types.is_null(found):
        return pyarrow.string()
    if pyarrow.types.is_list(found):
        return pyarrow.list_(_type(found.value_type))
    if pyarrow.types.is_struct(found):
        return pyarrow.struct([one.with_type(_type(one.type)) for one in found])
    if pyarrow.types.is_decimal(found):
        # Of as many digits as these rows need, and later ones may need more.
        wide = pyarrow.decimal128 if found.precision <= _DIGITS else pyarrow.decimal256
        return wide(_DIGITS if found.precision <= _DIGITS else 2 * _DIGITS, found.scale)
    return found


def _require_writable(schema: pyarrow.Schema) -> None:
    """Raise what Parquet has against these types before hours of work are lost to it."""
    import pyarrow
    import pyarrow.parquet

    with pyarrow.parquet.ParquetWriter(pyarrow.BufferOutputStream(), schema) as writer:
        writer.write_table(schema.empty_table())


def _require_known_names(cell: Cell, kind: pyarrow.DataType, number: int) -> None:
    """Raise ``DataError`` for a name inside a cell that its column lacks: Arrow would drop it."""
    import pyarrow

    if isinstance(cell, Mapping) and pyarrow.types.is_struct(kind):
        known = {field.name: field.type for field in kind}
        for name, inner in cell.items():
            if name not in known:
                raise DataError(
                    f"row {number:,} has a cell with {name!r} inside, which the first ones lack; "
                    "write .jsonl instead"
                )
            _require_known_names(inner, known[name], number)
    elif isinstance(cell, list) and pyarrow.types.is_list(kind):
        for inner in cell if pyarrow.types.is_nested(kind.value_type) else ():
            _require_known_names(inner, kind.value_type, number)


def _encodable_row(row: Cells) -> dict[str, Cell]:
    return {str(_encodable(name)): _encodable(cell) for name, cell in row.items()}


def _encodable(cell: Cell) -> Cell:
    """The cell with lone surrogates, which UTF-8 cannot hold, shown as ``\\ud800``."""
    if isinstance(cell, str):
        return cell.encode("utf-8", "backslashreplace").decode()
    if isinstance(cell, Mapping):
        return _encodable_row(cell)
    return [_encodable(value) for value in cell] if isinstance(cell, list | tuple) else cell
