"""Where two models differ as lines for a terminal or a log."""

from __future__ import annotations

from ...records.look import ChangedDocument, Difference
from ..drawing.terminal import printable
from ..drawing.words import two_digits
from .words import headline, moved

__all__ = ["summary"]

_LINES = 20  # changes on the terminal
_WIDEST = 60  # characters of a text on the terminal


def summary(difference: Difference) -> list[str]:
    """Return the difference as lines for a terminal or a log."""
    lines = [*headline(difference), *map(_line, difference.changes[:_LINES])]
    more = len(difference.changes) - _LINES
    if more > 0:
        lines.append(f"and {more:,} more; --out and --json list them all")
    return [printable(" ".join(line.split())) for line in lines]


def _line(change: ChangedDocument) -> str:
    start = change.start if len(change.start) <= _WIDEST else change.start[: _WIDEST - 1] + "…"
    shared = f"{two_digits(change.overlap)} of the reasons shared"
    outcome = f" ({change.outcome})" if change.outcome else ""
    return f"document {change.index + 1:,}: {moved(change)}{outcome}, {shared}: {start}"
