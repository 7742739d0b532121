"""The table of file formats: adding one is one entry here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...config import require
from ...errors import DataError, suggestion
from ..columns import Columns, Found
from .delimited import DelimitedEncoder, delimited_rows
from .folders import TEXT_SUFFIXES, files_below, folder_rows, text_rows
from .jsonlines import JsonEncoder, json_rows
from .lines import Dialect, NamedLines
from .parquet import ParquetEncoder, count_rows, parquet_rows
from .rows import RowEncoder

__all__ = [
    "FORMATS",
    "Format",
    "find_format",
    "find_written_format",
    "has_known_suffix",
    "written_suffixes",
]

_PACKED = ".gz"
_SPREADSHEETS = (".xls", ".xlsx", ".ods")


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A kind of file: how it is read and, where it can be, how it is written.

    A text file is read from its lines, whatever their encoding and whether they are compressed;
    any other from its path. A format without a suffix is that of folders.
    """

    title: str
    suffixes: tuple[str, ...] = ()
    read_lines: Callable[[NamedLines, Columns], Iterator[Found]] | None = None
    read_path: Callable[[Path, Columns], Iterator[Found]] | None = None
    write: Callable[[Callable[[], Dialect]], RowEncoder] | None = None
    count: Callable[[Path], int] | None = None  # how many rows there are, where lines do not say

    def __post_init__(self) -> None:
        one = (self.read_lines is None) != (self.read_path is None)
        require(one, "a format is read from its lines or from its path")


FORMATS: dict[str, Format] = {
    "csv": Format(
        title="a header, then rows; comma, semicolon, tab or bar is found from the header, "
        "and Excel's `sep=;` line counts",
        suffixes=(".csv",),
        read_lines=delimited_rows,
        write=lambda dialect: DelimitedEncoder(",", dialect, fixed=False),
    ),
    "tsv": Format(
        title="the same with tabs",
        suffixes=(".tsv", ".tab"),
        read_lines=lambda lines, columns: delimited_rows(lines, columns, by_suffix="\t"),
        write=lambda dialect: DelimitedEncoder("\t", dialect, fixed=True),
    ),
    "jsonl": Format(
        title="one JSON object a line",
        suffixes=(".jsonl", ".ndjson"),
        read_lines=json_rows,
        write=lambda dialect: JsonEncoder(),
    ),
    "json": Format(
        title="the same; written only as `.jsonl`, for it is no single JSON value",
        suffixes=(".json",),
        read_lines=json_rows,
    ),
    "parquet": Format(
        title="a table",
        suffixes=(".parquet", ".pq"),
        read_path=parquet_rows,
        count=count_rows,
        write=lambda dialect: ParquetEncoder(),
    ),
    "txt": Format(
        title="one text a line, for prediction only; a blank line is an empty text, so that "
        "answers stay in step with lines",
        suffixes=TEXT_SUFFIXES,
        read_lines=text_rows,
    ),
    "folder": Format(
        title="with labels, a folder for each label with `.txt` files in it; without labels, "
        "every `.txt` file below the folder",
        read_path=folder_rows,
        count=lambda folder: sum(1 for _ in files_below(folder)),
    ),
}
"""Every format by its name; the first that has a suffix reads and writes files with it."""


def find_format(path: Path) -> Format:
    """Return what reads a file or folder; a suffix that none has is an error."""
    if path.is_dir():
        return next(one for one in FORMATS.values() if not one.suffixes)
    name = path.name.lower()
    suffix = Path(name.removesuffix(_PACKED)).suffix
    if suffix in _SPREADSHEETS:
        raise DataError(f"{path} is a spreadsheet; save it as CSV (UTF-8) first")
    for one in FORMATS.values():
        # What is read from its path is unpacked by nobody.
        if suffix in one.suffixes and (one.read_lines or not name.endswith(_PACKED)):
            return one
    known = ", ".join(suffix for one in FORMATS.values() for suffix in one.suffixes)
    raise DataError(f"{path} has a suffix we cannot read; known are {known}, and folders")


def has_known_suffix(path: Path) -> bool:
    """Tell whether a name ends like that of a file which can be read, compressed or not."""
    suffix = path.suffix.lower()
    return suffix == _PACKED or any(suffix in one.suffixes for one in FORMATS.values())


def written_suffixes() -> tuple[str, ...]:
    """The suffixes of all files that can be written."""
    return tuple(suffix for one in FORMATS.values() if one.write for suffix in one.suffixes)


def find_written_format(path: Path) -> Callable[[Callable[[], Dialect]], RowEncoder]:
    """Return what writes a file; a suffix that nothing writes is an error."""
    suffix = path.suffix.lower()
    for one in FORMATS.values():
        if suffix in one.suffixes and one.write is not None:
            return one.write
    known = suggestion(suffix, written_suffixes())
    raise DataError(f"{path} has a suffix that cannot be written; {known}")
