"""Files of many kinds, read as a stream of documents; every row that is not read is counted.

Texts and labels may also come as numpy, pandas and scikit-learn hand them over.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..config import require_one_of
from ..errors import DataError
from ..records.data import BadRow, ReadCounts
from ..text.document import Document
from .columns import PARTS, Columns, Found, Row, RowError, to_document
from .formats.delimited import delimited_rows
from .formats.jsonlines import json_rows
from .formats.lines import STANDARD_INPUT, Dialect, Lines, NamedLines, Resumed, in_encoding_of
from .formats.table import Format, find_format

__all__ = [
    "OnBadRow",
    "Reader",
    "label_rows",
    "one_column",
    "read_documents",
    "read_rows",
    "read_strings",
    "read_texts",
]

OnBadRow = Literal["stop", "skip"]
_KEPT_EXAMPLES = 100
_ADVICE = "; --on-bad-row skip leaves such rows out"
_TEXTS = Columns(label=None)


class Reader:
    """The documents of one source, as a stream; each iteration reads it anew.

    ``counts`` says, while and after reading, how many rows became documents and how many did not.
    What comes through a pipe can be read ``once``, and a second time is an error.
    """

    def __init__(
        self,
        name: str,
        rows: Callable[[], Iterator[Found]],
        *,
        columns: Columns,
        on_bad_row: OnBadRow,
        lines: Lines | None = None,
        tell: Callable[[str], None] | None = None,
        once: bool = False,
        count: Callable[[], int] | None = None,
        advice: str = "",
    ) -> None:
        require_one_of("on_bad_row", on_bad_row, ("stop", "skip"))
        self.name = name
        self.columns = columns  # once rows were read, with the names that they have
        self._asked = columns
        self._tell = tell
        self.skipped: list[BadRow] = []  # the first hundred
        self._rows = rows
        self._stop = on_bad_row == "stop"
        self._lines = lines
        self.once = once
        self._advice = advice  # what to do about a bad row, where that stops
        self._count = count  # of rows, where lines do not say how far they are
        self._total = 0
        self._begun = False
        self.dialect = Dialect()  # once rows were read, how the file is written if it is CSV
        self.first: Document | None = None  # that was read
        self._reset()

    def __iter__(self) -> Iterator[Document]:
        if self.once and self._begun:
            raise DataError(
                f"{self.name} is a pipe, which cannot be read again; write it to a file first"
            )
        self._begun = True
        self._reset()
        if self._count is not None:
            with suppress(OSError, DataError):  # whoever reads on says what is wrong
                self._total = self._count()
        columns: Columns | None = None
        for found in self._rows():
            if isinstance(found, Row):
                if columns is None:
                    columns = self.columns = self._find_columns(found.values)
                try:
                    document = to_document(found.values, columns)
                except RowError as problem:
                    self._reject(BadRow(self.name, found.line, problem.fault, problem.reason))
                    continue
                self._read += 1
                self._empty += not document.text.strip()
                self.first = self.first or document
                yield document
            elif isinstance(found, BadRow):
                self._reject(found)
            elif isinstance(found, Dialect):
                self.dialect = in_encoding_of(self._lines, found) if self._lines else found
            else:
                self._ignored += 1
        if self.skipped and not self._read:
            count, first = self._faults.total(), self.skipped[0]
            if count == 1:
                raise DataError(f"the only row of {self.name} is bad: {first}")
            raise DataError(f"all {count:,} rows of {self.name} are bad; first {first}")

    def share_read(self) -> float | None:
        """How much of the file was read, from 0 to 1; None where that is not known."""
        if self._lines is not None:
            return self._lines.share_read()
        done = self._read + self._faults.total() + self._ignored
        return min(1.0, done / self._total) if self._total else None

    @property
    def counts(self) -> ReadCounts:
        """What was read so far and what was not."""
        return ReadCounts(
            file=self.name,
            rows=self._read,
            skipped=tuple(self._faults.most_common()),
            ignored=self._ignored,
            empty_texts=self._empty,
            encoding=self._lines.encoding if self._lines else "utf-8",
            examples=tuple(self.skipped[:10]),
        )

    def _find_columns(self, names: Collection[str]) -> Columns:
        """The columns that the first row has, for all rows; say which are not those asked for."""
        found = self._asked.found_among(names)
        for part in PARTS:
            missing, taken = getattr(self._asked, part), getattr(found, part)
            if missing != taken and self._tell is not None:
                self._tell(
                    f"{self.name} has no column {missing!r} as the training data had; column "
                    f"{taken!r} is read in its place"
                )
        return found

    def _reset(self) -> None:
        self.skipped.clear()
        self._faults: Counter[str] = Counter()
        self._read = self._ignored = self._empty = 0

    def _reject(self, row: BadRow) -> None:
        if self._stop:
            # Without a column every row is bad, and to leave such rows out is no way on.
            advised = self._advice if row.fault != "missing column" else ""
            raise DataError(f"{row}{advised}")
        self._faults[row.fault] += 1
        if len(self.skipped) < _KEPT_EXAMPLES:
            self.skipped.append(row)


def read_documents(
    path: Path | str,
    columns: Columns | None = None,
    *,
    on_bad_row: OnBadRow = "stop",
    tell: Callable[[str], None] | None = None,
) -> Reader:
    """Read a file, a folder of texts, or with ``-`` standard input.

    ``tell`` hears of a column that the data lack and of the other that is read in its place.
    """
    wanted = columns or Columns()
    place = Path(path)
    standard = str(path) == STANDARD_INPUT
    form = _STANDARD_INPUT if standard else find_format(place)
    if form.read_lines is None:
        whole = form.read_path
        assert whole is not None  # every format has one of the two
        return Reader(
            str(path),
            lambda: whole(place, wanted),
            columns=wanted,
            on_bad_row=on_bad_row,
            tell=tell,
            count=None if form.count is None else partial(form.count, place),
            advice=_ADVICE,
        )
    rows, lines = form.read_lines, Lines(path, wanted.encoding)
    return Reader(
        lines.name,
        lambda: rows(lines, wanted),
        columns=wanted,
        on_bad_row=on_bad_row,
        lines=lines,
        tell=tell,
        once=standard or (place.exists() and not place.is_file()),
        advice=_ADVICE,
    )


def read_rows(
    rows: Iterable[Mapping[str, object]],
    columns: Columns | None = None,
    *,
    name: str = "rows",
    on_bad_row: OnBadRow = "stop",
) -> Reader:
    """Read Python mappings, each one row; they are counted from 1."""
    found = lambda: (Row(number, row) for number, row in enumerate(rows, 1))  # noqa: E731
    return Reader(name, found, columns=columns or Columns(), on_bad_row=on_bad_row)


def read_texts(
    texts: Iterable[object],
    labels: Iterable[object] | None = None,
    *,
    on_bad_row: OnBadRow = "stop",
) -> Reader:
    """Read Python strings and as many labels, each a string, a whole number or a list of them."""
    listed = one_column(texts, "texts")
    columns = _TEXTS if labels is None else Columns(label="label")
    given = None if labels is None else _list_labels(labels)
    return Reader("texts", lambda: _pair_up(listed, given), columns=columns, on_bad_row=on_bad_row)


def read_strings(texts: Iterable[object]) -> Iterator[str]:
    """Pass Python strings on as they come; what is none is the error that ``read_texts`` raises."""
    for number, text in enumerate(one_column(texts, "texts"), 1):
        if isinstance(text, str):
            yield text
        else:
            row = Row(number, {"text": text})
            reader = Reader("texts", lambda: iter([row]), columns=_TEXTS, on_bad_row="stop")  # noqa: B023
            yield from (document.text for document in reader)


def _list_labels(labels: Iterable[object]) -> Iterable[object]:
    """Labels as Python's own values: numpy and pandas hand over arrays of theirs."""
    rows = label_rows(labels)
    if isinstance(rows, np.ndarray):
        raise DataError(
            f"labels must be one a text, got an array of shape {rows.shape}; for several labels "
            "a text give lists of their names"
        )
    return rows


def _pair_up(texts: Iterable[object], labels: Iterable[object] | None) -> Iterator[Found]:
    if labels is None:
        yield from (Row(number, {"text": text}) for number, text in enumerate(texts, 1))
        return
    nothing = object()
    pairs = itertools.zip_longest(texts, labels, fillvalue=nothing)
    for number, (text, label) in enumerate(pairs, 1):
        if text is nothing or label is nothing:
            more, fewer = ("labels", "texts") if text is nothing else ("texts", "labels")
            raise DataError(
                f"there are more {more} than {fewer}, of which there are {number - 1:,}"
            )
        yield Row(number, {"text": text, "label": label})


def _standard_input_rows(lines: NamedLines, columns: Columns) -> Iterator[Found]:
    """JSON lines if the first line begins like an object, else CSV."""
    rest = iter(lines)
    first = next(rest, None)
    if first is None:
        return iter(())
    rows = json_rows if first[0].lstrip().startswith("{") else delimited_rows
    return rows(Resumed(lines.name, first, rest), columns)


_STANDARD_INPUT = Format(title="JSON lines or CSV", read_lines=_standard_input_rows)


def one_column(given: Iterable[object], name: str) -> Iterable[object]:
    """Return the items one after the other: of a table of one column, its cells.

    A frame of pandas goes through its column names when it is iterated, and a matrix through its
    rows; neither are texts.
    """
    _require_in_order(given, name, of="strings")
    shape = _shape(given)
    if shape is None and hasattr(given, "to_pylist"):  # Arrow's own values are not Python's
        listed: list[object] = given.to_pylist()
        return listed
    if shape is None or len(shape) == 1:
        return given
    if len(shape) == 2 and shape[1] == 1:
        column: NDArray[np.object_] = np.asarray(given, dtype=object)
        return column[:, 0].tolist()
    columns = getattr(given, "column_names", getattr(given, "columns", None))
    named = f" with the columns {_shown(columns)}" if columns is not None else ""
    raise DataError(
        f"{name} must be one column, got a table of shape {shape}{named}; give one column of it"
    )


def _require_in_order(given: object, name: str, *, of: str) -> None:
    """Raise ``DataError`` for what is no list of these, or has them in no order."""
    wanted = f"{name} must be a list of {of}, got"
    if isinstance(given, str | bytes):
        raise DataError(f"{wanted} a single one; put it in a list")
    if isinstance(given, Mapping):
        raise DataError(f"{wanted} a mapping of {_shown(given)}")
    if isinstance(given, set | frozenset):
        raise DataError(f"{wanted} a set, whose order is another in every run")
    if not isinstance(given, Iterable) and not _shape(given):  # a table of Arrow has a shape alone
        raise DataError(f"{wanted} {given!r:.100}")


def label_rows(given: Iterable[object]) -> Iterable[object] | NDArray[np.generic]:
    """Return labels as Python's own values, or as a matrix where they have several columns."""
    _require_in_order(given, "labels", of="labels")
    if _shape(given) is None and hasattr(given, "to_pylist"):
        listed: list[object] = given.to_pylist()
        return listed
    dense = given.toarray() if hasattr(given, "toarray") else given
    shape = _shape(dense)
    if shape is None:
        return dense
    rows = np.asarray(dense)
    if rows.ndim == 2 and rows.shape[1] != 1:
        return rows
    if rows.ndim > 2 or rows.ndim == 0:
        raise DataError(f"labels must be one a text, got an array of shape {rows.shape}")
    # As Python's own values; where a frame has several kinds, its array has objects.
    return rows.reshape(-1).tolist()


def _shape(given: object) -> tuple[int, ...] | None:
    shape = getattr(given, "shape", None)
    return tuple(shape) if isinstance(shape, tuple | list) else None


def _shown(names: Iterable[object]) -> str:
    listed = [str(name) for name in names]
    return ", ".join(listed[:5]) + (", ..." if len(listed) > 5 else "")
