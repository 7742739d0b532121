"""JSON lines: one object a line, read and written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from ...errors import DataError
from ...records.reading import BadRow
from ..columns import Columns, Found, Ignored, Row
from .lines import NamedLines
from .rows import Cells, RowEncoder, finite

__all__ = ["JsonEncoder", "json_lines", "json_rows"]

_DEEPEST = 100


def json_rows(lines: NamedLines, columns: Columns) -> Iterator[Found]:
    """Walk through the objects of the file; the columns are looked up in each of them."""
    for number, (text, problem) in enumerate(lines, 1):
        if problem is not None:
            yield BadRow(lines.name, number, "invalid encoding", problem)
            continue
        if not text.strip():
            yield Ignored(number)
            continue
        if number == 1 and text.lstrip().startswith("["):
            raise DataError(
                f"{lines.name} holds one JSON list; write one object a line instead (jq -c '.[]')"
            )
        yield _row(lines.name, number, text)


def _row(file: str, number: int, text: str) -> Row | BadRow:
    try:
        value = json.loads(text, object_pairs_hook=_unique)
        deep = text.count("[") + text.count("{") > _DEEPEST and _is_deep(value)
    except _Doubled as name:
        reason = f"the name {name.args[0]!r} stands twice in one object"
        return BadRow(file, number, "broken JSON", reason)
    except ValueError as problem:
        return BadRow(file, number, "broken JSON", f"not JSON: {problem}")
    except RecursionError:
        deep = True
    if deep:
        reason = f"nested more than {_DEEPEST} levels deep"
        return BadRow(file, number, "broken JSON", reason)
    if not isinstance(value, dict):
        return BadRow(
            file, number, "broken JSON", f"not a JSON object but a {type(value).__name__}"
        )
    return Row(number, value)


class _Doubled(Exception):
    """A name that an object has twice, so that one of the values would be lost."""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise _Doubled(Counter(name for name, _ in pairs).most_common(1)[0][0])
    return values


def _is_deep(value: object) -> bool:
    """Whether a value has more levels than we promise to carry through and write again."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(_DEEPEST + 1):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def json_lines(rows: Sequence[Cells]) -> str:
    """Write one JSON object a line."""
    return "".join(json.dumps(finite(row), default=str, allow_nan=False) + "\n" for row in rows)


class JsonEncoder(RowEncoder):
    """One JSON object a line, every row with its own columns."""

    def encode(self, rows: Sequence[Cells], first: int) -> bytes:
        """Return the lines of these rows."""
        return json_lines(rows).encode("utf-8")
