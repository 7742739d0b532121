"""JSON lines: one object a line, read and written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from ...errors import DataError
from ...records.data import BadRow
from ..columns import Columns, Found, Ignored, Row
from .lines import NamedLines
from .rows import Cells, RowEncoder, finite

__all__ = ["JsonEncoder", "json_lines", "json_rows"]

_DEEPEST = 100
_TOO_DEEP = f"nested more than {_DEEPEST} levels deep"
_NESTED = (dict, list)


def json_rows(lines: NamedLines, columns: Columns) -> Iterator[Found]:
    """Walk through the objects of the file; the columns are looked up in each of them."""
    for number, (text, problem) in enumerate(lines, 1):
        if problem is not None:
            yield BadRow(lines.name, number, "invalid encoding", problem)
            continue
        text = text.strip(" \t\r\n")  # what JSON passes over, and nothing else
        if text.isspace() or not text:
            yield Ignored(number)
            continue
        if number == 1 and text.startswith("["):
            raise DataError(
                f"{lines.name} holds one JSON list; write one object a line instead (jq -c '.[]')"
            )
        yield _row(lines.name, number, text)


def _row(file: str, number: int, text: str) -> Row | BadRow:
    try:
        value, end = _DECODER.raw_decode(text)
        if end < len(text):
            raise json.JSONDecodeError("Extra data", text, end)
        if isinstance(value, dict) and not _is_deep(value):
            return Row(number, value)
        nested = isinstance(value, _NESTED) and _is_deep(value)
        reason = _TOO_DEEP if nested else f"not a JSON object but a {type(value).__name__}"
    except _Doubled as name:
        reason = f"the name {name.args[0]!r} stands twice in one object"
    except ValueError as problem:
        reason = f"not JSON: {problem}"
    except RecursionError:
        reason = _TOO_DEEP
    return BadRow(file, number, "broken JSON", reason)


class _Doubled(Exception):
    """A name that an object has twice, so that one of the values would be lost."""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise _Doubled(Counter(name for name, _ in pairs).most_common(1)[0][0])
    return values


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)  # made once: that takes as long as a row


def _is_deep(value: dict[str, object] | list[object]) -> bool:
    """Whether a value has more levels than we promise to carry through and write again."""
    level: list[dict[str, object] | list[object]] = [value]
    for _ in range(_DEEPEST + 1):
        below = []
        for outer in level:
            for inner in outer.values() if isinstance(outer, dict) else outer:
                if isinstance(inner, _NESTED):
                    below.append(inner)
        if not below:
            return False
        level = below
    return True


def json_lines(rows: Sequence[Cells]) -> str:
    """Write one JSON object a line."""
    return "".join(json.dumps(finite(row), default=str, allow_nan=False) + "\n" for row in rows)


class JsonEncoder(RowEncoder):
    """One JSON object a line, every row with its own columns."""

    def encode(self, rows: Sequence[Cells], first: int) -> bytes:
        """Return the lines of these rows."""
        return json_lines(rows).encode("utf-8")
