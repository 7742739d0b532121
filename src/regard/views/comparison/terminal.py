"""A comparison as lines for a terminal or a log."""

from __future__ import annotations

from ...records.comparison import Comparison, Standing
from ..drawing.terminal import printable_line, table_lines
from ..drawing.words import points
from .words import accuracy_of, headline, lead_of, memory_of, number, paired_with, write_bytes

__all__ = ["summary"]

_HEADS = (
    "model",
    "accuracy",
    "beside",
    "faithful",
    "documents/s",
    "memory",
    "on disk",
    "training",
)


def summary(comparison: Comparison) -> list[str]:
    """Return the table, and what there is to say about it."""
    rows = [_row(comparison, one) for one in comparison.standings]
    said = [f"- {printable_line(line)}" for line in headline(comparison)]
    return [*table_lines(_HEADS, rows), "", *said]


def _row(comparison: Comparison, one: Standing) -> list[str]:
    pair = paired_with(comparison, one.name)
    beside = "" if pair is None else f"{points(pair.difference, sign=True)} {_mark(pair.verdict)}"
    return [
        printable_line(one.title),
        accuracy_of(one),
        beside.strip(),
        lead_of(one),
        number(one.documents_per_second),
        memory_of(one),
        write_bytes(one.disk_bytes),
        f"{one.training_seconds:.0f} s",
    ]


def _mark(verdict: str) -> str:
    return {"better": "better", "worse": "worse"}.get(verdict, "alike")
