"""CSV and its relatives, as programs and people really write them.

Rows are split here rather than by Python's ``csv`` or pyarrow, because neither can do all of:
say on which line a bad row begins, go on behind it, take NUL characters and fields of any length.
"""

from __future__ import annotations

import csv
import functools
import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ...errors import DataError
from ...records.data import BadRow
from ..columns import Columns, Found, Ignored, Row, is_number, require_columns, unique_names
from .lines import LONGEST_ROW, Dialect, NamedLines, Quoting
from .rows import Cell, Cells, RowEncoder, finite, require_known_columns

__all__ = ["DelimitedEncoder", "delimited_rows"]

DELIMITERS = (",", ";", "\t", "|")

# Possessive, so that a doubled quote is never taken for a closing one on second thoughts.
_QUOTED = re.compile(r'([^"]*+(?:""[^"]*+)*+)("?)')
_SPACED = re.compile(r' +"([^"]*+(?:""[^"]*+)*+)" *')
_SEPARATOR_LINE = re.compile(r"sep=(.)", re.IGNORECASE)
# What a spreadsheet takes for the beginning of a formula, in East Asian width too.
_FORMULAS = tuple("=+-@\t\r＝＋－＠")


class _Line(NamedTuple):  # a tuple, for there are millions
    number: int
    text: str
    problem: str | None


class _Record(NamedTuple):
    """The fields of one row; ``bad`` says what is wrong with it, if anything is."""

    line: int
    fields: list[str]
    bad: BadRow | None
    quoted: int  # how many fields stand in quotes, so that "" is told from a blank line
    end: str = ""  # of its last line


def delimited_rows(
    lines: NamedLines, columns: Columns, *, by_suffix: str | None = None
) -> Iterator[Found]:
    """Walk through the rows below the header, which must name the needed columns.

    How the file is written comes before the first row. ``by_suffix`` parts the fields of a file
    whose suffix says so; where none does, it is found out.
    """
    feed = _Feed(lines)
    yield from _blank_lines(feed)
    said = _said_delimiter(feed)
    delimiter = columns.delimiter or said or by_suffix or _delimiter(feed, columns)
    header = _next_record(feed, delimiter, lines.name)
    if header is None:
        raise DataError(f"{lines.name} is empty; its first line must name the columns")
    if header.bad is not None:
        raise DataError(str(header.bad))
    # A mark stands inside of the file where somebody put several together.
    written = [name.strip().strip("\ufeff") for name in header.fields]
    require_columns(lines.name, [name for name in written if name], columns)
    names = _names(written)
    record = _next_record(feed, delimiter, lines.name)
    yield Dialect(
        delimiter=None if by_suffix else delimiter,
        names=tuple(names),
        line_end=header.end or Dialect().line_end,
        quoting=_quoting(header, record),
        separator_line=said is not None,
    )
    while record is not None:
        if record.bad is not None:
            yield record.bad
        elif not any(record.fields) and not (record.quoted and len(names) == 1):
            yield Ignored(record.line)
        elif len(record.fields) < len(names) or any(record.fields[len(names) :]):
            yield BadRow(
                lines.name,
                record.line,
                "wrong number of fields",
                f"{len(record.fields)} fields where the header has {len(names)}; "
                f"a text that holds {delimiter!r} must stand in quotes",
            )
        else:
            yield Row(record.line, dict(zip(names, record.fields, strict=False)))
        record = _next_record(feed, delimiter, lines.name)


class _Feed:
    """Numbered lines that can be put back."""

    def __init__(self, lines: NamedLines) -> None:
        self._lines = enumerate(lines, 1)
        self._waiting: deque[_Line] = deque()

    def take(self) -> _Line | None:
        if self._waiting:
            return self._waiting.popleft()
        for number, (text, problem) in self._lines:
            return _Line(number, text, problem)
        return None

    def put_back(self, lines: list[_Line]) -> None:
        self._waiting.extendleft(reversed(lines))


def _quoting(header: _Record, first: _Record | None) -> Quoting:
    """Which fields of the header and the first row stand in quotes."""
    if first is None or first.bad is not None or header.quoted < len(header.fields):
        return "needed"
    if first.quoted == len(first.fields):
        return "all"
    bare = sum(not field or is_number(field) for field in first.fields)
    return "texts" if first.quoted + bare == len(first.fields) else "needed"


def _blank_lines(feed: _Feed) -> Iterator[Ignored]:
    """What stands above the header and is nothing."""
    while (line := feed.take()) is not None:
        if line.text.strip() or line.problem is not None:
            feed.put_back([line])
            return
        yield Ignored(line.number)


def _said_delimiter(feed: _Feed) -> str | None:
    """What parts the fields in Excel's own word, which is taken away."""
    first = feed.take()
    said = _SEPARATOR_LINE.fullmatch(first.text.rstrip("\r\n")) if first else None
    if first is not None and said is None:
        feed.put_back([first])
    return said[1] if said else None


def _delimiter(feed: _Feed, columns: Columns) -> str:
    """Choose what parts the fields: what gives the columns."""
    first = feed.take()
    if first is None:
        return ","
    feed.put_back([first])

    def fitness(delimiter: str) -> tuple[int, int]:
        fields = _Fields(delimiter)
        fields.feed(first.text)
        names = {name.strip() for name in fields.done}
        return len(columns.found_among(names).needed.keys() & names), len(names)

    return max(DELIMITERS, key=fitness)


def _names(header: list[str]) -> list[str]:
    """The names of the columns, each once; empty ones at the end are left out."""
    while len(header) > 1 and not header[-1]:
        header = header[:-1]
    return unique_names(header)


def _next_record(feed: _Feed, delimiter: str, file: str) -> _Record | None:
    """Take the lines of one row; after broken quoting go on with the line below its first."""
    line = feed.take()
    if line is None:
        return None
    if '"' not in line.text:
        bad = _undecodable(file, [line])
        bare = line.text.rstrip("\r\n")
        return _Record(line.number, bare.split(delimiter), bad, 0, line.text[len(bare) :])
    fields = _Fields(delimiter)
    taken = [line]
    size = len(line.text)
    while not fields.feed(taken[-1].text):
        following = feed.take() if size < LONGEST_ROW else None
        if following is None:
            long = f" within {LONGEST_ROW >> 20} MiB" if size >= LONGEST_ROW else ""
            fields.problem = f"a quoted field is never closed{long}"
            break
        taken.append(following)
        size += len(following.text)
    if fields.problem is None:
        end = taken[-1].text[len(taken[-1].text.rstrip("\r\n")) :]
        bad = _undecodable(file, taken)
        return _Record(line.number, fields.done, bad, fields.quoted, end)
    feed.put_back(taken[1:])
    bad = BadRow(file, line.number, "broken quoting", fields.problem)
    return _Record(line.number, [], bad, 0)


def _undecodable(file: str, taken: list[_Line]) -> BadRow | None:
    for line in taken:
        if line.problem is not None:
            return BadRow(file, taken[0].number, "invalid encoding", line.problem)
    return None


class _Fields:
    """Splits the lines of one row into its fields as RFC 4180 has it."""

    def __init__(self, delimiter: str) -> None:
        self.done: list[str] = []
        self.quoted = 0
        self.problem: str | None = None
        self._delimiter = delimiter
        self._pieces: list[str] | None = None

    def feed(self, line: str) -> bool:
        """Take a line; return whether the row ends with it."""
        place = 0
        end = len(line.rstrip("\r\n"))
        while True:
            if self._pieces is None and line.startswith('"', place):
                self._pieces = []
                place += 1
            elif self._pieces is None and line.startswith(" ", place):
                # Some write a space behind the separator, before the quotes.
                spaced = _SPACED.match(line, place)
                if spaced and (spaced.end() >= end or line[spaced.end()] == self._delimiter):
                    self.done.append(spaced[1].replace('""', '"'))
                    self.quoted += 1
                    place = spaced.end() + 1
                    if place > end:
                        return True
                    continue
            if self._pieces is None:
                after = line.find(self._delimiter, place, end)
                self.done.append(line[place : after if after >= 0 else end])
                if after < 0:
                    return True
                place = after + 1
                continue
            quoted = _QUOTED.match(line, place)
            assert quoted is not None  # it matches the empty text too
            self._pieces.append(quoted[1].replace('""', '"'))
            if not quoted[2]:
                return False
            self.done.append("".join(self._pieces))
            self.quoted += 1
            self._pieces = None
            place = quoted.end()
            if place >= end:
                return True
            if line[place] != self._delimiter:
                behind = line[place : place + 20].rstrip()
                self.problem = (
                    f"{behind!r} stands behind a closing quote; write a quote inside quotes twice"
                )
                return True
            place += 1


class DelimitedEncoder(RowEncoder):
    """A line of names, then one record a row, in the dialect of the file that was read."""

    def __init__(self, delimiter: str, dialect: Callable[[], Dialect], *, fixed: bool) -> None:
        self._delimiter = delimiter
        self._asked = dialect
        self._fixed = fixed
        self._names: list[str] | None = None
        self._begun: Path | None = None

    def encode(self, rows: Sequence[Cells], first: int) -> bytes:
        """Return the records of these rows, and above the first of all the names."""
        # Only now has anything been read, so only now is it known how that is written.
        dialect = self._dialect()
        lines: list[str] = []
        if self._begun is not None:
            self._names, self._begun = _header(self._begun, dialect), None
        if self._names is None and rows:
            self._names = list(rows[0])
            lines.append(_head(self._names, dialect))
        names = self._names or []
        known = set(names)
        for number, row in enumerate(rows, first):
            require_known_columns(row, known, number)
            lines.append(_record([_flat(row.get(name)) for name in names], dialect))
        return _encode("".join(lines), dialect.encoding, first)

    def encode_none(self, like: Cells) -> bytes:
        """Return the names alone."""
        dialect = self._dialect()
        return _encode(_head(list(like), dialect), dialect.encoding, 1)

    def adopt(self, path: Path) -> None:
        """Take the names that the file has; they are read when its encoding is known."""
        self._begun = path

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


def _head(names: Sequence[str], dialect: Dialect) -> str:
    """What stands above the records."""
    mark = "\ufeff" if dialect.mark else ""
    separator = f"sep={dialect.delimiter}{dialect.line_end}" if dialect.separator_line else ""
    return mark + separator + _record(names, dialect)


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
    written = [text if it else _quote(text) for text, it in zip(texts, bare, strict=True)]
    return str(dialect.delimiter).join(written) + dialect.line_end


@functools.cache
def _special(delimiter: str) -> Callable[[str], re.Match[str] | None]:
    return re.compile(f'[{re.escape(delimiter)}"\r\n]').search


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _is_formula(text: str) -> bool:
    return text.startswith(_FORMULAS) and not is_number(text)


def _encode(text: str, encoding: str, first: int) -> bytes:
    """The text in bytes; a lone surrogate, which no encoding holds, is shown as ``\\ud800``."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as problem:
        letter = problem.object[problem.start]
        if "\ud800" <= letter <= "\udfff":
            shown = text.encode("utf-8", "backslashreplace").decode()
            return _encode(shown, encoding, first)
        raise DataError(
            f"some of the rows from {first:,} on have {letter!r}, which {encoding}, the encoding "
            "of the data, cannot hold; write .jsonl instead"
        ) from problem


def _flat(cell: Cell) -> Cell:
    """A cell that one column can hold: lists and mappings as JSON."""
    if cell is None:
        return ""
    nested = isinstance(cell, list | tuple | Mapping)
    return json.dumps(finite(cell), default=str, allow_nan=False) if nested else cell
