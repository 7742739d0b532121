"""What a single cell of a table means: a label, several labels, a time."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import math
import operator
import re
from collections.abc import Iterable, Mapping

import numpy as np

from ..records.reading import RowFault
from ..text.document import Label

__all__ = ["RowError", "is_missing", "is_number", "shown_value", "time_number", "to_label"]


_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)


class RowError(Exception):
    """A row cannot become a document; whoever reads the file says where it stands."""

    def __init__(self, fault: RowFault, reason: str) -> None:
        super().__init__(reason)
        self.fault = fault
        self.reason = reason


def to_label(value: object, separator: str | None = None) -> Label:
    """Return the label a cell holds; a list or a separator makes it several, possibly none."""
    if separator is not None and isinstance(value, str):
        return _several(value.split(separator))
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
    """A label that was not written as text: true, 3, or 3.0 as spreadsheets write it."""
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
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
