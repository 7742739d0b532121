"""A comparison as one page that needs nothing else: the picture, the table, the tests."""

from __future__ import annotations

from ...records.comparison import Comparison, Standing
from ..drawing import charts
from ..drawing.charts import figure
from ..drawing.colours import LEVELS
from ..drawing.page import TableCell, asset, definitions, escape, report, summarise, table
from ..drawing.words import percent, points, write_interval
from .layout import HEIGHT, WIDTH, Bubble, Layout, lay_out
from .words import (
    accuracy_of,
    headline,
    how_measured,
    lead_of,
    memory_of,
    number,
    write_bytes,
)

__all__ = ["render"]

_STYLES = """
figure.arena { max-width: 60rem; }
svg.chart .spread { stroke: var(--muted); stroke-width: 1.5; opacity: .6; }
svg.chart .bubble { stroke: var(--muted); stroke-width: 1.2; fill: var(--blue); }
svg.chart .bubble.ours { stroke: var(--orange); stroke-width: 2.5; }
svg.chart .bubble.silent { fill: none; stroke-dasharray: 3 3; }
svg.chart .leader { stroke: var(--muted); stroke-width: .75; opacity: .7; }
svg.chart text.ours { font-weight: 600; }
.scroll tbody th, .scroll td { white-space: nowrap; }
.shades { display: inline-flex; vertical-align: middle; margin: 0 .4rem; }
.shades i { width: 1.1rem; height: .8rem; background: var(--blue); }
"""


def render(comparison: Comparison) -> str:
    """Return the whole page, which makes no requests."""
    sections = {
        "Picture": _picture(comparison),
        "All numbers": _standings(comparison),
        "Who is better": _pairs(comparison),
        "How it was measured": _measured(comparison),
    }
    styles = charts.STYLES + asset("report.css") + _STYLES
    title = f"Models compared on {comparison.data}"
    head = summarise(headline(comparison))
    return report(title, head, sections, styles=styles, scripts=asset("report.js"))


def _picture(comparison: Comparison) -> str:
    layout = lay_out(comparison)
    body = layout.frame.axes() + "".join(map(_drawn, layout.bubbles))
    told = "; ".join(_tell(one.standing) for one in layout.bubbles)
    drawn = figure(
        body,
        size=(WIDTH, HEIGHT),
        title="Accuracy, speed, memory and faithfulness",
        description=told,
    )
    return f'<figure class="arena">{drawn}{_legend(layout)}</figure>'


def _drawn(one: Bubble) -> str:
    x, y = one.label
    ours = " ours" * one.standing.ours
    strength = "" if one.level is None else f' fill-opacity="{one.level / LEVELS:.2f}"'
    silent = " silent" * (one.level is None)
    far = abs(y - one.y) > one.radius + 16
    leader = f'<line class="leader" x1="{one.x}" y1="{one.y}" x2="{x}" y2="{y - 4}"/>' * far
    return (
        f"<g><title>{escape(_tell(one.standing))}</title>{leader}"
        f'<line class="spread" x1="{one.x}" x2="{one.x}" y1="{one.top}" y2="{one.bottom}"/>'
        f'<circle class="bubble{ours}{silent}" cx="{one.x}" cy="{one.y}" r="{one.radius:.1f}"'
        f'{strength}/><text class="strong{ours}" x="{x:.1f}" y="{y:.1f}">'
        f"{escape(one.standing.title)}</text></g>"
    )


def _tell(one: Standing) -> str:
    """All numbers of a model in a line."""
    return (
        f"{one.title}: {accuracy_of(one)} % right, {number(one.documents_per_second)} documents/s, "
        f"{memory_of(one)} of memory, faithfulness {lead_of(one)}"
    )


def _legend(layout: Layout) -> str:
    shades = "".join(
        f'<i style="opacity:{level / LEVELS:.2f}"></i>' for level in range(0, LEVELS + 1, 2)
    )
    parts = [
        "Up: more accurate (lines: 95 % interval). Right: quicker. Larger: more memory. "
        f'Stronger: more faithful explanations, from 0<span class="shades">{shades}</span>to '
        f"{points(layout.strongest)} "
        "points; dashed: explains nothing. Orange rim: regard's recipes."
    ]
    for one in layout.below:
        parts.append(f"Far below, not drawn: {escape(one.title)}, {percent(one.accuracy)}.")
    return f'<p class="note">{" ".join(parts)}</p>'


def _standings(comparison: Comparison) -> str:
    rows = [
        [
            TableCell(one.title),
            TableCell(accuracy_of(one), one.accuracy),
            TableCell(write_interval(one.interval), one.interval.low),
            TableCell(f"{100 * one.macro_f1:.1f}", one.macro_f1),
            TableCell(lead_of(one), one.faithfulness.lead if one.faithfulness else None),
            TableCell(_flips(one), one.faithfulness.flips if one.faithfulness else None),
            TableCell(number(one.documents_per_second), one.documents_per_second),
            TableCell(f"{one.milliseconds:.3g}", one.milliseconds),
            TableCell(memory_of(one), one.peak_bytes),
            TableCell(write_bytes(one.disk_bytes), one.disk_bytes),
            TableCell("–" if one.parameters is None else f"{one.parameters:,}", one.parameters),
            TableCell(f"{one.training_seconds:,.0f} s", one.training_seconds),
        ]
        for one in comparison.standings
    ]
    heads = (
        "Model",
        "Accuracy",
        "95 %",
        "Macro-F1",
        "Faithful",
        "Flips",
        "Documents/s",
        "ms alone",
        "Memory",
        "On disk",
        "Parameters",
        "Training",
    )
    return table(heads, rows, caption="Every number; choose a heading to sort")


def _flips(one: Standing) -> str:
    if one.faithfulness is None:
        return "–"
    return f"{percent(one.faithfulness.flips, 0)} ({percent(one.faithfulness.random_flips, 0)})"


def _pairs(comparison: Comparison) -> str:
    titles = {one.name: one.title for one in comparison.standings}
    rows = [
        [
            TableCell(titles[pair.name]),
            TableCell(points(pair.difference, 2, sign=True), pair.difference),
            TableCell(
                f"{points(pair.interval.low, 2, sign=True)} to "
                f"{points(pair.interval.high, 2, sign=True)}",
                pair.interval.low,
            ),
            TableCell(f"{pair.p_value:.2g}", pair.p_value),
            TableCell(f"{pair.corrected:.2g}", pair.corrected),
            TableCell(f"{pair.won} of {pair.seeds}", pair.won / pair.seeds),
            TableCell(pair.verdict),
        ]
        for pair in comparison.pairs
    ]
    heads = ("Model", "Difference", "95 %", "p", "p, corrected", "Seeds won", "It is")
    caption = f"Each beside {titles[comparison.against]}, in points of accuracy"
    return table(heads, rows, caption=caption)


def _measured(comparison: Comparison) -> str:
    lines = "".join(f"<li>{escape(line)}</li>" for line in how_measured(comparison))
    lines += (
        "<li>Flips: the share of answers that change without a fifth of the words, those that the "
        "explanation puts first; in brackets, without random ones.</li>"
    )
    facts = definitions(
        [
            ("Trained on", f"{comparison.training_documents:,} documents of {comparison.data}"),
            ("Tested on", f"{comparison.test_documents:,} documents, {comparison.test}"),
            ("Classes", ", ".join(comparison.classes[:20])),
            ("Seeds", ", ".join(map(str, comparison.seeds))),
            ("regard", f"{comparison.version}, {comparison.date}"),
        ],
        "facts",
    )
    return f'<ul class="plain">{lines}</ul>{facts}'
