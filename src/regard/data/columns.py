"""Which columns of a row are its text, its label and the rest, and a row's way to a document.

What a single cell means, a label, several labels or a time, is said at the end.
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import math
import operator
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..config import checked_settings, require
from ..errors import DataError
from ..records.data import BadRow, RowFault
from ..text.document import Document, Label
from .formats.encodings import require_encoding
from .formats.lines import Dialect

__all__ = [
    "PARTS",
    "Columns",
    "Found",
    "Ignored",
    "Row",
    "RowError",
    "is_missing",
    "is_number",
    "join_texts",
    "require_columns",
    "shown_value",
    "time_number",
    "to_document",
    "to_label",
    "to_row",
    "unique_names",
]


_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)

PARAGRAPH_END = "\n\n"
"""What stands between the columns of one text: no sentence goes on over it."""

PARTS = ("text", "label", "target")
"""The parts of a document that a column can have another name for."""


@dataclass(frozen=True)
@checked_settings
class Columns:
    """Where the parts of a document stand in a file, and how the file is written.

    ``text`` may name several columns, ``"title,abstract,body"``: their cells are the text, one
    paragraph after the other. Where the file has a column of just that name, it is that one.
    """

    text: str = "text"
    label: str | None = "label"  # None: the documents have no labels, as for prediction
    target: str | None = None  # what is to be written about the text, where that is asked
    group: str | None = None  # documents of one group stay on one side of a split
    time: str | None = None  # the latest documents become the validation data
    labels_separator: str | None = None  # between the labels of one document: "a;b"
    several: bool = False  # whether the labels are for a model that gives several, or none
    delimiter: str | None = None  # between the fields of a CSV file; found out when None
    encoding: str | None = None  # found out when None
    carry: bool = True  # whether the other columns travel with the document
    other_text: str | None = None  # read where there is no column of the name in ``text``
    other_label: str | None = None
    other_target: str | None = None
    commas_part: bool = True  # whether ``text`` with commas in it names several columns

    def __post_init__(self) -> None:
        texts = self.texts
        require("" not in texts or texts == ("",), f"a name is missing in columns {self.text!r}")
        require(len(set(texts)) == len(texts), f"a column is named twice in {self.text!r}")
        require(self.label not in texts, f"text and label are both in column {self.label!r}")
        for part, name in {"group": self.group, "time": self.time}.items():
            both = f"label and {part} are both in column {name!r}"
            require(name is None or name != self.label, both)
        require(self.target not in texts, f"source and target are both in column {self.target!r}")
        require(
            self.delimiter is None or len(self.delimiter) == 1,
            f"delimiter must be one character, got {self.delimiter!r}",
        )
        require(self.labels_separator != "", "labels_separator must not be empty")
        if self.encoding is not None:
            require_encoding(self.encoding)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The columns that make the text, in the order of its paragraphs."""
        if not self.commas_part or "," not in self.text:
            return (self.text,)
        return tuple(name.strip() for name in self.text.split(","))

    @cached_property
    def needed(self) -> dict[str, str]:
        """The columns a file must have, with the option that names each."""
        text_option = "--text-column" if self.target is None else "--source-column"
        options: dict[str | None, str] = {
            **{name: text_option for name in self.texts},
            self.label: "--label-column",
            self.target: "--target-column",
            self.group: "--group-column",
            self.time: "--time-column",
        }
        return {name: option for name, option in options.items() if name is not None}

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The columns beside text and label that something is made of."""
        return tuple(name for name in (self.group, self.time, self.target) if name is not None)

    def found_among(self, names: Collection[str]) -> Columns:
        """The columns as these names have them: the other one where the first is missing.

        Of several that make the text none may be there: the other is not read in place of some.
        """
        whole = "," in self.text and self.text in names
        found = replace(self, commas_part=False) if whole else self
        for part in PARTS:
            name, other = getattr(self, part), getattr(self, f"other_{part}")
            asked = found.texts if part == "text" else (name,)
            if name is not None and not any(one in names for one in asked) and other in names:
                used = [getattr(found, one) for one in PARTS]
                found = found if other in used else replace(found, **{part: other})
        return found


class Row(NamedTuple):
    """The values of one row by the names of their columns."""

    line: int
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Ignored:
    """Something that was passed over because it is no row: a blank line, a file of another kind."""

    line: int


class RowError(Exception):
    """A row cannot become a document; whoever reads the file says where it stands."""

    def __init__(self, fault: RowFault, reason: str) -> None:
        super().__init__(reason)
        self.fault = fault
        self.reason = reason


Found = Row | BadRow | Ignored | Dialect
"""What a format finds as it walks through a file."""


def require_columns(file: str, names: Sequence[str], columns: Columns) -> Columns:
    """Return the columns as the file has them; it must have each needed one exactly once."""
    columns = columns.found_among(names)
    for needed, option in columns.needed.items():
        count = names.count(needed)
        if count == 0:
            raise DataError(f"{file} {_missing(needed, names, option)}")
        if count > 1:
            raise DataError(f"{file} has {count} columns named {needed!r}; rename all but one")
    return columns


def unique_names(names: Sequence[str]) -> list[str]:
    """Return the names of the columns, each once: a second one gets its number added."""
    found: dict[str, None] = {}
    for number, name in enumerate(names, 1):
        unique = name or f"column {number}"
        while unique in found:
            unique = f"{unique} ({number})"
        found[unique] = None
    return list(found)


def to_document(values: Mapping[str, object], columns: Columns) -> Document:
    """Make a document of a row, or raise ``RowError``; an empty text is a document."""
    for needed, option in columns.needed.items():
        if needed not in values:
            raise RowError("missing column", _missing(needed, list(values), option))
    text = _to_text(values, columns)
    label = None
    if columns.label is not None:
        label = to_label(values[columns.label], columns.labels_separator, several=columns.several)
    if columns.target is not None and not isinstance(values[columns.target], str):
        raise _wrong_text(values[columns.target], columns.target)
    if columns.group is not None and is_missing(values[columns.group]):
        raise RowError("missing value", f"the group column {columns.group!r} is empty")
    if columns.time is not None:
        time_number(values[columns.time])
    fields: dict[str, object] = {}
    text_place = None
    label_column = columns.label
    # Of several columns that make the text, each is carried as any other.
    text_column = columns.texts[0] if len(columns.texts) == 1 else None
    for name in values if columns.carry else columns.asked:
        if name in columns.asked:
            fields[name] = values[name]
        elif name == text_column:
            text_place = len(fields)
        elif name != label_column:
            fields[name] = values[name]
    return Document(text, label, fields, text_place)


def to_row(document: Document, columns: Columns) -> dict[str, object]:
    """The row that a document was made of, without its label."""
    if len(columns.texts) > 1:
        return dict(document.fields)
    return document.row(columns.texts[0])


def join_texts(cells: Iterable[str]) -> str:
    """Make one text of several cells, a paragraph each; cells that hold nothing are left out."""
    return PARAGRAPH_END.join(cell for cell in cells if not is_missing(cell))


def _to_text(values: Mapping[str, object], columns: Columns) -> str:
    if len(columns.texts) == 1:
        text = values[columns.texts[0]]
        if isinstance(text, str):
            return text
        raise _wrong_text(text, columns.texts[0])
    found = []
    for name in columns.texts:
        cell = values[name]
        if isinstance(cell, str):
            found.append(cell)
        elif not is_missing(cell):
            raise _wrong_text(cell, name)
    if not found:
        raise RowError("missing text", f"the text in columns {columns.text!r} is missing")
    return join_texts(found)


def _wrong_text(value: object, column: str) -> RowError:
    if is_missing(value):
        return RowError("missing text", f"the text in column {column!r} is missing")
    return RowError(
        "wrong type", f"the text in column {column!r} is {shown_value(value)}, not a string"
    )


def _missing(needed: str, names: Sequence[str], option: str) -> str:
    # What is no table at all may have its whole first line for the name of a column.
    short = [name if len(name) < 40 else f"{name[:37]}..." for name in names[:20]]
    shown = ", ".join(short) + (", ..." if len(names) > 20 else "")
    return f"has no column {needed!r}; it has {shown or 'none'}; use {option}"


def to_label(value: object, separator: str | None = None, *, several: bool = False) -> Label:
    """Return the label a cell holds; a list or a separator makes it several, possibly none.

    Where ``several`` are meant, an empty cell without a separator is told how it can mean none.
    """
    if separator is not None and isinstance(value, str):
        return _several(value.split(separator))
    if several and isinstance(value, str) and is_missing(value):
        raise RowError(
            "missing label",
            "the label is missing; a document may have none where --labels-separator says what "
            "stands between several",
        )
    if is_missing(value):
        raise RowError("missing label", "the label is missing")
    if isinstance(value, str):
        return value.strip() if separator is None else _several([value])
    if isinstance(value, Iterable) and not isinstance(value, Mapping | bytes):
        return _several(value)
    single = _whole(value)
    return single if separator is None else (str(single),)


def time_number(value: object) -> float:
    """Return a number that grows with time, for a number, a date or a date in ISO form."""
    if isinstance(value, str):
        value = _parsed_time(value.strip())
    # A whole number may be beyond any float, and a date beyond what its zone can be taken from.
    with contextlib.suppress(OverflowError):
        if isinstance(value, datetime.datetime):
            zoned = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
            return zoned.timestamp()
        if isinstance(value, datetime.date):
            return (value - datetime.date(1970, 1, 1)).total_seconds()
        if isinstance(value, int | float) and math.isfinite(value):
            return float(value)
    raise RowError(
        "missing value", f"{shown_value(value)} is no time; use a number or a date 2024-01-31"
    )


def _parsed_time(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        try:
            return datetime.datetime.fromisoformat(text)
        except ValueError:
            return text


def _several(values: Iterable[object]) -> tuple[str, ...]:
    labels: dict[str, None] = {}
    for value in values:
        if is_missing(value):
            continue
        labels[value.strip() if isinstance(value, str) else str(_whole(value))] = None
    return tuple(labels)


def _whole(value: object) -> str | int:
    """A label that was not written as text: true, a date, 3, or 3.0 as spreadsheets write it."""
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, decimal.Decimal) and value.is_finite() and value == int(value):
        return int(value)
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise RowError(
            "wrong type", f"a label must be a text or a whole number, not {shown_value(value)}"
        ) from None


def is_missing(value: object) -> bool:
    """Tell whether a cell holds nothing: null, white space, not a number, a database's ``\\N``."""
    if isinstance(value, str):
        return not value.strip() or value == "\\N"
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_number(text: str) -> bool:
    """Tell whether a cell's text is a number: whole, with a point or comma, or with an exponent."""
    return _NUMBER.fullmatch(text) is not None


def shown_value(value: object) -> str:
    """Return a value with its type, short enough for an error message."""
    written = repr(value)
    return f"{type(value).__name__} {written if len(written) < 40 else written[:37] + '...'}"
