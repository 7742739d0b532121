"""Tables and lists as HTML; a table can be sorted by any column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .page import escaped

__all__ = ["Cell", "definitions", "numbers", "table"]

_SCROLL_FROM = 30  # rows; a longer table scrolls under its head


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell shows, and the number it is sorted by; ``share`` draws a bar behind it."""

    text: str
    number: float | None = None
    share: float | None = None


def table(heads: Sequence[str], rows: Sequence[Sequence[Cell]], *, caption: str) -> str:
    """Return a table whose first column names the rows; each head is a button that sorts."""
    head = "".join(
        f'<th scope="col"><button type="button">{escaped(text)}</button></th>' for text in heads
    )
    body = "".join(
        f"<tr>{''.join(_cell(cell, first=not place) for place, cell in enumerate(row))}</tr>"
        for row in rows
    )
    whole = (
        f'<table class="sortable"><caption>{escaped(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
    tall = " tall" if len(rows) > _SCROLL_FROM else ""
    return (
        f'<div class="scroll{tall}" tabindex="0" role="region" aria-label="{escaped(caption)}">'
        f"{whole}</div>"
    )


def numbers(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the numbers of a chart, folded away, for those who would rather read them."""
    head = "".join(f'<th scope="col">{escaped(text)}</th>' for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escaped(text)}</td>" for text in row) + "</tr>" for row in rows
    )
    return (
        "<details><summary>The numbers</summary>"
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div></details>"
    )


def _cell(cell: Cell, *, first: bool) -> str:
    sort = "" if cell.number is None else f' data-number="{cell.number:.9g}"'
    if first:
        return f'<th scope="row"{sort} dir="auto">{escaped(cell.text)}</th>'
    bar = "" if cell.share is None else f' style="--share:{100 * cell.share:.1f}%"'
    kind = "" if cell.share is None else ' class="bar"'
    return f"<td{kind}{bar}{sort}>{escaped(cell.text)}</td>"


def definitions(pairs: Sequence[tuple[str, str]], kind: str) -> str:
    """Return names with what they mean as a list of the CSS class ``kind``."""
    if not pairs:
        return ""
    body = "".join(
        f"<div><dt>{escaped(name)}</dt><dd>{escaped(text)}</dd></div>" for name, text in pairs
    )
    return f'<dl class="{kind}">{body}</dl>'
