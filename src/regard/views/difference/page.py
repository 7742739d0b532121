"""Draw where two models differ as one page."""

from __future__ import annotations

from ...records.look import ChangedDocument, Difference
from ..drawing import charts
from ..drawing.charts import Histogram, draw_histogram
from ..drawing.page import asset, contents, escaped, page, section
from ..drawing.tables import Cell, table
from ..drawing.words import two_digits
from ..explanation.page import BESIDE_STYLES, beside, scripts_for, styles_for
from .words import answered, headline, moved

__all__ = ["render"]
_OPEN = 3  # changes that are unfolded on the page
_WIDEST = 60  # characters of a text on the terminal


def render(difference: Difference) -> str:
    """Return the whole page, which makes no requests."""
    sections = {
        "Overlap of reasons": _overlap(difference),
        "Changed documents": _changes(difference),
        "All changes": _table(difference) if len(difference.changes) > 1 else "",
    }
    drawn = {name: body for name, body in sections.items() if body}
    first, *rest = headline(difference)
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
        f"<span><b><bdi>{escaped(moved(change))}</bdi></b>{outcome}</span> "
        f"<span>{escaped(two_digits(change.overlap))} of the reasons shared</span></summary>"
        f"{beside((names[0], old), (names[1], new))}</details>"
    )


def _table(difference: Difference) -> str:
    rows = [
        [
            Cell(f"{change.index + 1:,}", change.index + 1),
            Cell(answered(change.old)),
            Cell(answered(change.new)),
            Cell(change.outcome),
            Cell(two_digits(change.overlap), change.overlap, change.overlap),
            Cell(change.start[:_WIDEST]),
        ]
        for change in difference.changes
    ]
    heads = ("Document", difference.old, difference.new, "Truth", "Reasons shared", "Text")
    return table(heads, rows, caption="Every change; choose a heading to sort")
