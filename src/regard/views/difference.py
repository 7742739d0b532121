"""Draw where two models differ: a page, and lines for a terminal."""

from __future__ import annotations

from ..records.difference import Answer, ChangedDocument, Difference
from .drawing import charts
from .drawing.charts import Histogram, draw_histogram
from .drawing.page import asset, contents, escaped, page, section
from .drawing.tables import Cell, table
from .drawing.terminal import printable
from .drawing.words import percent, plural, two_digits
from .explanation.page import BESIDE_STYLES, beside, scripts_for, styles_for

__all__ = ["render", "summary"]

_LINES = 20  # changes on the terminal
_OPEN = 3  # changes that are unfolded on the page
_WIDEST = 60  # characters of a text on the terminal


def summary(difference: Difference) -> list[str]:
    """Return the difference as lines for a terminal or a log."""
    lines = [*_headline(difference), *map(_line, difference.changes[:_LINES])]
    more = len(difference.changes) - _LINES
    if more > 0:
        lines.append(f"and {more:,} more; --out and --json list them all")
    return [printable(" ".join(line.split())) for line in lines]


def render(difference: Difference) -> str:
    """Return the whole page, which makes no requests."""
    sections = {
        "Overlap of reasons": _overlap(difference),
        "Changed documents": _changes(difference),
        "All changes": _table(difference) if len(difference.changes) > 1 else "",
    }
    drawn = {name: body for name, body in sections.items() if body}
    first, *rest = _headline(difference)
    told = "".join(f"<p>{escaped(line)}</p>" for line in rest)
    title = f"{difference.old} → {difference.new}"
    body = [
        f'<header><h1>{escaped(title)}</h1><div class="summary"><p class="lead">{escaped(first)}'
        f"</p>{told}</div>{contents(list(drawn))}</header>",
        *(section(name, body) for name, body in drawn.items()),
    ]
    shown = [
        answer.explanation
        for change in difference.changes
        for answer in (change.old, change.new)
        if answer.explanation is not None
    ]
    styles = charts.STYLES + asset("report.css") + asset("look.css")
    styles += styles_for(shown) + BESIDE_STYLES
    scripts = asset("report.js") + scripts_for(shown)
    return page(title, "\n".join(body), styles=styles, scripts=scripts)


def _headline(difference: Difference) -> list[str]:
    count = plural(difference.documents, "document")
    if not difference:
        return [f"Nothing changed: the same labels for the same reasons on {count}."]
    said = [
        f"Of {count}, {difference.label_changes:,} got another label and "
        f"{difference.reason_changes:,} the same label for other reasons."
    ]
    if difference.mended or difference.broken:
        said.append(f"{difference.mended:,} were mended and {difference.broken:,} broken.")
    said.append(
        f"Explained by {difference.method.replace('_', ' ')}, the models share "
        f"{two_digits(difference.mean_overlap)} of their reasons on average; reasons count as "
        f"changed below {two_digits(difference.least_overlap)}."
    )
    return said


def _line(change: ChangedDocument) -> str:
    start = change.start if len(change.start) <= _WIDEST else change.start[: _WIDEST - 1] + "…"
    shared = f"{two_digits(change.overlap)} of the reasons shared"
    outcome = f" ({change.outcome})" if change.outcome else ""
    return f"document {change.index + 1:,}: {_moved(change)}{outcome}, {shared}: {start}"


def _moved(change: ChangedDocument) -> str:
    if change.label_changed:
        return f"{_said(change.old)} → {_said(change.new)}"
    return f"{_said(change.old)}, for other reasons"


def _said(answer: Answer) -> str:
    return f"{', '.join(map(str, answer.labels)) or 'none'} {percent(answer.probability)}"


def _overlap(difference: Difference) -> str:
    steps = len(difference.overlaps)
    if not steps:
        return ""
    edges = tuple(place / steps for place in range(steps + 1))
    histogram = Histogram(
        edges, difference.overlaps, "overlap", "document", mean=difference.mean_overlap
    )
    drawn = draw_histogram(histogram, title="Documents by overlap", x_title="overlap")
    note = (
        "The share of the weight that both models put on the same words: 100 % for the very same "
        "reasons, 0 % for none in common. Where the label changed, both are asked about the old "
        "label. Dashed: the mean."
    )
    return f'<p class="note">{note}</p><div class="pair"><figure>{drawn}</figure></div>'


def _changes(difference: Difference) -> str:
    shown = [change for change in difference.changes if change.old.explanation]
    names = difference.old, difference.new
    return "".join(_change(change, names, place < _OPEN) for place, change in enumerate(shown))


def _change(change: ChangedDocument, names: tuple[str, str], unfolded: bool) -> str:
    old, new = change.old.explanation, change.new.explanation
    if old is None or new is None:
        return ""
    outcome = f" ({change.outcome})" if change.outcome else ""
    return (
        f'<details class="mistake"{" open" * unfolded}><summary>'
        f"<span>Document {change.index + 1:,}</span> "
        f"<span><b><bdi>{escaped(_moved(change))}</bdi></b>{outcome}</span> "
        f"<span>{escaped(two_digits(change.overlap))} of the reasons shared</span></summary>"
        f"{beside((names[0], old), (names[1], new))}</details>"
    )


def _table(difference: Difference) -> str:
    rows = [
        [
            Cell(f"{change.index + 1:,}", change.index + 1),
            Cell(_said(change.old)),
            Cell(_said(change.new)),
            Cell(change.outcome),
            Cell(two_digits(change.overlap), change.overlap, change.overlap),
            Cell(change.start[:_WIDEST]),
        ]
        for change in difference.changes
    ]
    heads = ("Document", difference.old, difference.new, "Truth", "Reasons shared", "Text")
    return table(heads, rows, caption="Every change; choose a heading to sort")
