"""JSON lines: one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ..errors import DataError
from ..records.reading import BadRow
from .columns import Columns, Found, Ignored, Row
from .lines import Source

__all__ = ["json_rows"]


def json_rows(lines: Source, columns: Columns) -> Iterator[Found]:
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
        value = json.loads(text)
    except ValueError as problem:
        return BadRow(file, number, "broken JSON", f"not JSON: {problem}")
    except RecursionError:
        return BadRow(file, number, "broken JSON", "not JSON for us: nested too deeply")
    if not isinstance(value, dict):
        return BadRow(
            file, number, "broken JSON", f"not a JSON object but a {type(value).__name__}"
        )
    return Row(number, value)
