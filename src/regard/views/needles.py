"""The needle test as a heat map: where in documents of which length is the model blind?"""

from __future__ import annotations

from ..records.audit import NeedleCell, NeedleMap
from .drawing.charts import figure
from .drawing.page import escaped
from .drawing.tables import numbers
from .drawing.words import method_in_words

__all__ = ["needle_map"]

_SIDE, _HEIGHT, _LEFT, _TOP = 44, 34, 70, 24


def needle_map(needle: NeedleMap) -> str:
    """Return the map as inline SVG with words beside it; a dark cell is found, a crossed unread."""
    positions = sorted({cell.position for cell in needle.cells})
    lengths = needle.lengths
    parts = [
        f'<text x="{_LEFT + _SIDE * (column + 0.5)}" y="16" text-anchor="middle">{place + 1}</text>'
        for column, place in enumerate(positions)
    ]
    parts += [
        f'<text x="{_LEFT - 8}" y="{_TOP + _HEIGHT * (row + 0.5) + 4}" text-anchor="end">{length}'
        "</text>"
        for row, length in enumerate(lengths)
    ]
    parts += [
        _drawn(cell, positions.index(cell.position), lengths.index(cell.length))
        for cell in needle.cells
    ]
    size = (_LEFT + _SIDE * len(positions) + 8, _TOP + _HEIGHT * len(lengths) + 8)
    described = "; ".join(map(_told, needle.cells))
    svg = figure("".join(parts), size=size, title="Planted sentences found", description=described)
    return f'<p class="note">{escaped(_caption(needle))}</p><figure>{svg}</figure>{_table(needle)}'


def _caption(needle: NeedleMap) -> str:
    blind = (
        ""
        if needle.blind_from is None
        else (f" From sentence {needle.blind_from + 1:,} on nothing is read.")
    )
    return (
        "Down: how many sentences the document has; across: which of them is the planted one. The "
        f"number is how often {method_in_words(needle.method)} gives it more than any other; a "
        "random sentence is right once in as many as there are. Crossed out: a cap kept it from "
        f"the model.{blind}"
    )


def _drawn(cell: NeedleCell, column: int, row: int) -> str:
    left, top = _LEFT + _SIDE * column, _TOP + _HEIGHT * row
    wide, high = _SIDE - 2, _HEIGHT - 2
    crossed = ""
    if cell.documents and cell.unread == cell.documents:
        crossed = (
            f'<line class="axis" x1="{left}" y1="{top}" x2="{left + wide}" y2="{top + high}"/>'
        )
    return (
        f"<g><title>{escaped(_told(cell))}</title>"
        f'<rect x="{left}" y="{top}" width="{wide}" height="{high}" '
        f'fill="rgba(var(--blue-rgb), {0.08 + 0.6 * cell.recall:.2f})"/>{crossed}'
        f'<text class="strong" x="{left + wide / 2}" y="{top + high / 2 + 4}" '
        f'text-anchor="middle">{cell.recall:.1f}</text></g>'
    )


def _told(cell: NeedleCell) -> str:
    unread = f", {cell.unread} unread" if cell.unread else ""
    return (
        f"sentence {cell.position + 1} of {cell.length}: found in {cell.found} of "
        f"{cell.documents}{unread}"
    )


def _table(needle: NeedleMap) -> str:
    heads = ("Sentences", "Planted at", "Documents", "Found", "Random", "Unread", "Label given")
    rows = [
        (
            str(cell.length),
            str(cell.position + 1),
            str(cell.documents),
            f"{cell.recall:.2f}",
            f"{1 / cell.length:.2f}",
            str(cell.unread),
            str(cell.answered),
        )
        for cell in needle.cells
    ]
    return numbers(heads, rows)
