"""Rows to bytes that can be appended to a file: JSON lines, CSV, TSV, and Parquet by a detour."""

from __future__ import annotations

import csv
import functools
import json
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ...errors import DataError
from ...files import replacing
from ..cells import is_number
from .dialects import Dialect

if TYPE_CHECKING:
    import pyarrow

__all__ = ["ROW_FORMATS", "Cell", "Row", "RowFormat", "json_lines"]

# What a spreadsheet takes for the beginning of a formula, in East Asian width too.
_FORMULAS = tuple("=+-@\t\r＝＋－＠")
_DIGITS = 38  # of a decimal number of 128 bits

Cell = object
Row = Mapping[str, Cell]


class RowFormat(Protocol):
    """How the rows of one file are written, part after part."""

    def encode(self, rows: Sequence[Row], first: int) -> bytes:
        """Return what is to be appended for these rows; ``first`` is the first one's number."""
        ...

    def adopt(self, path: Path) -> None:
        """Learn the columns of a file that others have begun."""
        ...

    def finish(self, unfinished: Path, path: Path) -> None:
        """Give a file that has all its rows its final form and name; on failure it stays."""
        ...


def json_lines(rows: Sequence[Row]) -> str:
    """Write one JSON object a line."""
    return "".join(json.dumps(_finite(row), default=str, allow_nan=False) + "\n" for row in rows)


class _JsonLines:
    """One JSON object a line, every row with its own columns."""

    def __init__(self, dialect: Callable[[], Dialect] = Dialect) -> None: ...

    def encode(self, rows: Sequence[Row], first: int) -> bytes:
        return json_lines(rows).encode("utf-8")

    def adopt(self, path: Path) -> None: ...

    def finish(self, unfinished: Path, path: Path) -> None:
        unfinished.replace(path)


class _Delimited:
    """A line of names, then one record a row, in the dialect of the file that was read."""

    def __init__(self, delimiter: str, dialect: Callable[[], Dialect], *, fixed: bool) -> None:
        self._delimiter = delimiter
        self._asked = dialect
        self._fixed = fixed
        self._names: list[str] | None = None
        self._begun: Path | None = None

    def encode(self, rows: Sequence[Row], first: int) -> bytes:
        # Only now has anything been read, so only now is it known how that is written.
        dialect = self._dialect()
        lines: list[str] = []
        if self._begun is not None:
            self._names, self._begun = _header(self._begun, dialect), None
        if self._names is None and rows:
            self._names = list(rows[0])
            lines += ["\ufeff"] if dialect.mark else []
            lines += (
                [f"sep={dialect.delimiter}{dialect.line_end}"] if dialect.separator_line else []
            )
            lines.append(_record(self._names, dialect))
        names = self._names or []
        known = set(names)
        for number, row in enumerate(rows, first):
            _require_columns(row, known, number)
            lines.append(_record([_flat(row.get(name)) for name in names], dialect))
        return _encoded("".join(lines), dialect.encoding, first)

    def adopt(self, path: Path) -> None:
        self._begun = path

    def finish(self, unfinished: Path, path: Path) -> None:
        unfinished.replace(path)

    def _dialect(self) -> Dialect:
        asked = self._asked()
        own = asked.delimiter is None or self._fixed
        return replace(asked, delimiter=self._delimiter if own else asked.delimiter)


def _header(path: Path, dialect: Dialect) -> list[str] | None:
    """The names of a file that was begun."""
    encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
    with path.open(encoding=encoding, errors="replace", newline="") as file:
        if dialect.mark and encoding != "utf-8-sig":
            file.read(1)
        if dialect.separator_line:
            file.readline()
        return next(csv.reader(file, delimiter=str(dialect.delimiter)), None)


def _record(cells: Sequence[Cell], dialect: Dialect) -> str:
    """One line, or several where a cell has some."""
    texts = [str(cell) for cell in cells]
    if dialect.protects:
        texts = [f"'{text}" if _is_formula(text) else text for text in texts]
    must = _special(str(dialect.delimiter))
    if dialect.quoting == "needed":
        # An empty text that is alone in its row would be a blank line.
        alone = len(texts) == 1
        bare = [not must(text) and not (alone and not text) for text in texts]
    else:
        numbers = dialect.quoting == "texts"
        bare = [numbers and not must(text) and (not text or is_number(text)) for text in texts]
    written = [text if it else _quoted(text) for text, it in zip(texts, bare, strict=True)]
    return str(dialect.delimiter).join(written) + dialect.line_end


@functools.cache
def _special(delimiter: str) -> Callable[[str], re.Match[str] | None]:
    return re.compile(f'[{re.escape(delimiter)}"\r\n]').search


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _is_formula(text: str) -> bool:
    return text.startswith(_FORMULAS) and not is_number(text)


def _encoded(text: str, encoding: str, first: int) -> bytes:
    """The text in bytes; a lone surrogate, which no encoding holds, is shown as ``\\ud800``."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as problem:
        letter = problem.object[problem.start]
        if "\ud800" <= letter <= "\udfff":
            shown = text.encode("utf-8", "backslashreplace").decode()
            return _encoded(shown, encoding, first)
        raise DataError(
            f"some of the rows from {first:,} on have {letter!r}, which {encoding}, the encoding "
            "of the data, cannot hold; write .jsonl instead"
        ) from problem


class _Parquet:
    """Parquet files end with what their parts have in common, so none can be gone on with.

    Until all rows are there they lie in Arrow's stream format, whose parts stand by themselves.
    """

    def __init__(self, dialect: Callable[[], Dialect] = Dialect) -> None:
        self._schema: pyarrow.Schema | None = None

    def encode(self, rows: Sequence[Row], first: int) -> bytes:
        import pyarrow

        begun = self._schema is not None
        encodable = [_encodable_row(row) for row in rows]
        try:
            if self._schema is None:
                self._schema = _schema(encodable)
            names = set(self._schema.names)
            nested = [field for field in self._schema if pyarrow.types.is_nested(field.type)]
            for number, row in enumerate(encodable, first):
                _require_columns(row, names, number)
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

    def adopt(self, path: Path) -> None:
        import pyarrow

        with pyarrow.OSFile(str(path)) as file:
            self._schema = pyarrow.ipc.open_stream(file).schema

    def finish(self, unfinished: Path, path: Path) -> None:
        import pyarrow
        import pyarrow.parquet

        with pyarrow.OSFile(str(unfinished)) as rows, replacing(path) as file:
            stream = pyarrow.ipc.open_stream(rows) if self._schema is not None else ()
            schema = self._schema or pyarrow.schema([])
            with pyarrow.parquet.ParquetWriter(file, schema) as writer:
                for batch in stream:
                    writer.write_batch(batch)
        unfinished.unlink()


def _schema(rows: Sequence[Row]) -> pyarrow.Schema:
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


def _require_columns(row: Row, names: Collection[str], number: int) -> None:
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


def _encodable_row(row: Row) -> dict[str, Cell]:
    return {str(_encodable(name)): _encodable(cell) for name, cell in row.items()}


def _encodable(cell: Cell) -> Cell:
    """The cell with lone surrogates, which UTF-8 cannot hold, shown as ``\\ud800``."""
    if isinstance(cell, str):
        return cell.encode("utf-8", "backslashreplace").decode()
    if isinstance(cell, Mapping):
        return _encodable_row(cell)
    return [_encodable(value) for value in cell] if isinstance(cell, list | tuple) else cell


ROW_FORMATS: dict[str, Callable[[Callable[[], Dialect]], RowFormat]] = {
    ".jsonl": _JsonLines,
    ".ndjson": _JsonLines,
    ".csv": lambda dialect: _Delimited(",", dialect, fixed=False),
    ".tsv": lambda dialect: _Delimited("\t", dialect, fixed=True),
    ".parquet": _Parquet,
}
"""What writes a file, by its suffix, in a dialect that is asked for when rows are there."""
