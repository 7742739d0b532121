"""Stretches of a text that people marked, as files have them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..errors import DataError

__all__ = ["Marked", "read_marked"]

_STARTS, _ENDS, _TEXTS = ("start", "start_char"), ("end", "end_char"), ("text", "answer")


@dataclass(frozen=True, slots=True, order=True)
class Marked:
    """A stretch of a text, its end excluded, and what it is called."""

    start: int
    end: int
    label: str = ""


def read_marked(cell: object, text: str, *, where: str) -> tuple[Marked, ...]:
    """Read a cell of marked stretches, in their order; an empty one marks nothing.

    It is a list, or JSON of one, of ``{"start": 3, "end": 9, "label": "place"}`` or ``[3, 9]`` or
    ``[3, 9, "place"]``; with ``start`` and ``text`` the end is known too.
    """
    if isinstance(cell, str):
        try:
            cell = json.loads(cell) if cell.strip() else []
        except ValueError as problem:
            raise DataError(f"{where} is no JSON list of spans: {problem}") from problem
    if cell is None:
        return ()
    if not isinstance(cell, Sequence) or isinstance(cell, bytes):
        raise _wrong(where, cell)
    found = sorted(_marked(item, text, where) for item in cell)
    return tuple(found)


def _marked(item: object, text: str, where: str) -> Marked:
    label: object = ""
    if isinstance(item, Mapping):
        start, end = _first(item, _STARTS), _first(item, _ENDS)
        written = _first(item, _TEXTS)
        if end is None and isinstance(written, str) and isinstance(start, int):
            end = start + len(written)
        if isinstance(written, str) and isinstance(start, int) and isinstance(end, int):
            _require_same(written, text[start:end], where)
        label = item.get("label", "")
    elif isinstance(item, Sequence) and not isinstance(item, str) and len(item) in (2, 3):
        start, end, *rest = item
        label = rest[0] if rest else ""
    else:
        raise _wrong(where, item)
    whole = isinstance(start, int) and isinstance(end, int)
    if not whole or isinstance(start, bool) or isinstance(end, bool):
        raise _wrong(where, item)
    assert isinstance(start, int) and isinstance(end, int)
    if not 0 <= start < end <= len(text):
        raise DataError(f"{where} marks {start}:{end} in a text of {len(text):,} characters")
    return Marked(start, end, str(label))


def _first(item: Mapping[str, object], names: Sequence[str]) -> object:
    return next((item[name] for name in names if item.get(name) is not None), None)


def _require_same(written: str, found: str, where: str) -> None:
    if written != found:
        raise DataError(f"{where} says {written[:40]!r}, but at its place stands {found[:40]!r}")


def _wrong(where: str, value: object) -> DataError:
    shown = repr(value)[:60]
    return DataError(f"{where} must hold a list of {{start, end, label}}, got {shown}")
