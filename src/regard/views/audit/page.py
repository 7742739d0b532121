"""Draw an audit as one page, never a number without its baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...records.audit import Audit, FlipTable, MethodAudit, Metric, NeedleCell, NeedleMap
from ...records.evaluation import Interval
from ...records.measures import FAMILIES, MEASURES, Measure
from ..drawing import charts
from ..drawing.charts import Axis, Frame, figure
from ..drawing.page import TableCell, asset, definitions, escape, numbers, page, section, table
from ..drawing.words import method_in_words, plural
from .words import compare_flips, headline, tell_interval, tell_metric, tell_warnings, title_of

__all__ = ["attention_tables", "method_tables", "needle_map", "overview", "render"]


def render(audit: Audit) -> str:
    """Return the whole audit as one page that makes no requests."""
    title = f"Audit of {audit.model or 'a model'}" + (f" on {audit.data}" if audit.data else "")
    sections = {
        "Overview": overview(audit),
        "Beside opponents": _rivals(audit),
        "The attention itself": attention_tables(audit),
        "Blind spots": needle_map(audit.needle) if audit.needle else "",
        "All measures of the methods": method_tables(audit.rankings),
    }
    drawn = "".join(section(name, body) for name, body in sections.items() if body)
    styles = charts.STYLES + asset("report.css") + asset("audit.css")
    head = f"<header><h1>{escape(title)}</h1>{_lead(audit)}</header>"
    return page(title, head + drawn, styles=styles, scripts=asset("report.js"))


def _lead(audit: Audit) -> str:
    first, *others = headline(audit)
    listed = "".join(f"<li>{escape(warning)}.</li>" for warning in tell_warnings(audit))
    alert = f'<ul class="warned" role="alert">{listed}</ul>' if listed else ""
    return (
        f'<div class="summary"><p class="lead">{escape(first)}</p>'
        f"<p>{escape(' '.join(others))}</p></div>{alert}"
    )


def _rivals(audit: Audit) -> str:
    """The default method beside the best ranking that needs no taught model, by measure."""
    if not audit.rivals:
        return ""
    rows = [
        [
            TableCell(title_of(one.measure)),
            TableCell(one.name),
            TableCell(f"{one.value:.3f}", one.value),
            TableCell(f"{one.lead:+.3f}{' ✓' * one.beaten}", one.lead),
            _interval_cell(one.interval, "+"),
            TableCell(f"{one.documents:,}", one.documents),
        ]
        for one in audit.rivals
    ]
    heads = ("Measure", "Best opponent", "It gets", "Better by", "95 % interval", "n")
    caption = (
        f"{method_in_words(audit.default_method)} against position, sentence length, rare words, "
        "TF-IDF, a linear model and shuffled weights; ✓: better with the whole paired interval"
    )
    return table(heads, rows, caption=caption[:1].upper() + caption[1:])


_SIGNS = "✓: the whole interval is better than the baseline; n: how many documents"


def method_tables(rankings: Sequence[MethodAudit]) -> str:
    """Return the measures of all methods, one fold for each question they answer."""
    drawn = "".join(
        _family(name, rankings) for name, family in FAMILIES.items() if family.of_methods
    )
    return f'<p class="note">{_SIGNS}.</p>{drawn}' if drawn else ""


def attention_tables(audit: Audit) -> str:
    """Return the measures of the attention itself, and what single flips did."""
    return _model_table(audit.about_model) + _flips(audit.flips)


def _family(name: str, rankings: Sequence[MethodAudit]) -> str:
    family = FAMILIES[name]
    protocols: dict[str, list[str]] = {}  # the measures of each protocol
    for one, measure in MEASURES.items():
        found = [metric for ranked in rankings if (metric := ranked.metric(one)) is not None]
        if found and measure.family == name:
            protocols.setdefault(found[0].protocol, []).append(one)
    if not protocols:
        return ""
    body = "".join(
        f'<p class="note">{escape(_sentence(protocol))}</p><div class="pair">'
        f"{''.join(_method_table(name, rankings) for name in names)}</div>"
        for protocol, names in protocols.items()
    )
    count = plural(sum(map(len, protocols.values())), "measure")
    return (
        f'<details class="family"><summary><b>{family.title}</b> {family.question} '
        f"<small>{count}</small></summary>{body}</details>"
    )


def _method_table(name: str, rankings: Sequence[MethodAudit]) -> str:
    found = [(one.method, one.metric(name)) for one in rankings]
    metrics = [(method, metric) for method, metric in found if metric is not None]
    first = metrics[0][1]
    rows = [[TableCell(method_in_words(method)), *_cells(metric)] for method, metric in metrics]
    heads = ("Method", "Value", "95 % interval", first.baseline_name.capitalize(), "n")
    return table(heads, rows, caption=f"{title_of(name)}: {_better(first)}")


def _model_table(metrics: Sequence[Metric]) -> str:
    if not metrics:
        return ""
    names = [title_of(metric.name) for metric in metrics]
    rows = [
        [
            TableCell(name),
            *_cells(metric),
            TableCell(metric.baseline_name),
            TableCell(metric.better),
        ]
        for name, metric in zip(names, metrics, strict=True)
    ]
    heads = ("Measure", "Value", "95 % interval", "Baseline", "n", "Baseline is", "Better")
    protocols = [_sentence(metric.protocol) for metric in metrics]
    told = definitions(list(zip(names, protocols, strict=True)), "glossary")
    return (
        f'<div class="itself">{table(heads, rows, caption=_SIGNS)}</div>'
        f'<details class="glossary"><summary>How they were measured</summary>{told}</details>'
    )


def _better(metric: Metric) -> str:
    return "lower is better" if metric.better == "low" else "higher is better"


def _sentence(protocol: str) -> str:
    return f"{protocol[:1].upper()}{protocol[1:]}."


def _cells(metric: Metric) -> list[TableCell]:
    sign = " ✓" if metric.beats_baseline else ""
    return [
        TableCell(f"{metric.value:.3f}{sign}", metric.value),
        _interval_cell(metric.interval),
        TableCell(f"{metric.baseline:.3f}", metric.baseline),
        TableCell(f"{metric.documents:,}", metric.documents),
    ]


def _interval_cell(interval: Interval | None, sign: str = "") -> TableCell:
    return TableCell(tell_interval(interval, sign), None if interval is None else interval.low)


def _flips(flips: FlipTable | None) -> str:
    if flips is None:
        return ""
    rows = [
        [TableCell(name), *(TableCell(f"{count:,}", count) for count in counts)]
        for name, counts in (
            ("heaviest flips", (flips.both, flips.only_top)),
            ("heaviest does not", (flips.only_random, flips.neither)),
        )
    ]
    caption = f"Documents whose answer flips when the weight of one {flips.unit} is set to zero"
    heads = ("", "random flips", "random does not")
    return (
        f"<h3>Single flips</h3><p>{escape(compare_flips(flips))}</p>"
        f"<details><summary>The numbers</summary>{table(heads, rows, caption=caption)}</details>"
    )


_WIDTH, _LEFT, _TOP, _BOTTOM = 976, 176, 58, 30
_ROW = 38
_BEFORE, _AFTER = 10, 62  # of a column's width: air, and air with the number
_KEY = (
    "<span><i>●</i> clearly better than random</span> "
    "<span><i>○</i> not clearly better</span> <span><i>—</i> 95 % interval</span> "
    '<span><i class="random">❙</i> random ranking</span>'
)


@dataclass(frozen=True, slots=True)
class _Column:
    """One measure of all methods on one scale; ``frame`` says where a value lies."""

    measure: Measure
    metrics: dict[str, Metric]
    frame: Frame


def overview(audit: Audit) -> str:
    """Return the picture as inline SVG with its key; nothing where no main measure was taken."""
    columns = _columns(audit.rankings)
    if not columns:
        return ""
    height = _TOP + _ROW * len(audit.rankings) + _BOTTOM
    parts = [
        _band(place)
        for place, one in enumerate(audit.rankings)
        if one.method == audit.default_method
    ]
    parts += [_scale(column, height) for column in columns]
    parts += [
        _row(one, place, columns, default=one.method == audit.default_method)
        for place, one in enumerate(audit.rankings)
    ]
    svg = figure(
        "".join(parts),
        size=(_WIDTH, height),
        title="Methods by the main measures",
        description="; ".join(_tell_method(one, columns) for one in audit.rankings),
    )
    words = definitions([(one.measure.heading, one.measure.meaning) for one in columns], "glossary")
    return (
        f'<figure class="overview"><figcaption>{_KEY}</figcaption><div class="scroll" tabindex="0" '
        f'role="region" aria-label="Overview of the methods">{svg}</div></figure>'
        f'<details class="glossary"><summary>What the columns mean</summary>{words}</details>'
    )


def _columns(rankings: Sequence[MethodAudit]) -> list[_Column]:
    headed = [(name, measure) for name, measure in MEASURES.items() if measure.heading]
    # What people marked says nothing of the model: it stands last.
    main = sorted(headed, key=lambda pair: pair[1].family == "marks")
    found = [
        (measure, {one.method: metric for one in rankings if (metric := one.metric(name))})
        for name, measure in main
    ]
    taken = [(measure, metrics) for measure, metrics in found if metrics]
    width = (_WIDTH - _LEFT) // max(len(taken), 1)
    return [
        _Column(measure, metrics, _frame(list(metrics.values()), _LEFT + width * place, width))
        for place, (measure, metrics) in enumerate(taken)
    ]


def _frame(metrics: Sequence[Metric], start: int, width: int) -> Frame:
    """A frame whose axis holds all values, intervals and baselines of one column."""
    values = [
        value for metric in metrics for value in (metric.value, *_ends(metric), metric.baseline)
    ]
    axis = _tighten(Axis.around(values, "", lambda value: _write_minus(f"{value:g}")), values)
    return Frame(axis, axis, width=start + width, left=start + _BEFORE, right=_AFTER)


def _ends(metric: Metric) -> tuple[float, float]:
    """Where the line through a dot begins and ends; without an interval it has no length."""
    interval = metric.interval
    return (metric.value,) * 2 if interval is None else (interval.low, interval.high)


def _tighten(axis: Axis, values: Sequence[float]) -> Axis:
    """End the axis just outside the values: a column has little room to spare."""
    air = 0.04 * (max(values) - min(values))
    if not air:
        return axis
    low, high = min(values) - air, max(values) + air
    ticks = tuple(tick for tick in axis.ticks if low <= tick <= high)
    return replace(axis, low=low, high=high, ticks=ticks)


def _write_minus(number: str) -> str:
    return number.replace("-", "−")


def _middle(place: int) -> float:
    return _TOP + _ROW * (place + 0.5)


def _band(place: int) -> str:
    top = _TOP + _ROW * place
    return (
        f'<rect class="band-default" x="0" y="{top}" width="{_WIDTH}" height="{_ROW}" rx="6"/>'
        f'<rect class="blue-fill" x="0" y="{top + 6}" width="3" height="{_ROW - 12}" rx="1.5"/>'
    )


def _scale(column: _Column, height: int) -> str:
    """The heading of a column, which way is better, and the ends of its scale."""
    frame, axis = column.frame, column.frame.x
    low = any(metric.better == "low" for metric in column.metrics.values())
    better = "← lower is better" if low else "higher is better →"
    floor = height - _BOTTOM
    ends = "".join(
        f'<line class="grid" x1="{x}" x2="{x}" y1="{_TOP - 4}" y2="{floor + 4}"/>'
        f'<text x="{x}" y="{floor + 20}" text-anchor="middle">{escape(axis.text(tick))}</text>'
        for tick in sorted({axis.ticks[0], axis.ticks[-1]})
        for x in [frame.across(tick)]
    )
    return (
        f'<text class="name default" x="{frame.left}" y="20">{escape(column.measure.heading)}'
        f"<title>{escape(column.measure.meaning)}</title></text>"
        f'<text x="{frame.left}" y="38">{better}</text>{ends}'
    )


def _row(one: MethodAudit, place: int, columns: Sequence[_Column], *, default: bool) -> str:
    middle = _middle(place)
    kind, floor = ("name default", middle - 2) if default else ("name", middle + 4)
    said = f'<text x="14" y="{middle + 13}" font-size="11">default</text>' if default else ""
    name = (
        f'<text class="{kind}" x="14" y="{floor}" font-size="13">'
        f"{escape(method_in_words(one.method))}</text>{said}"
    )
    dots = "".join(
        _dot(column, metric, middle, default=default)
        for column in columns
        if (metric := column.metrics.get(one.method)) is not None
    )
    return f"<g>{name}{dots}</g>"


def _dot(column: _Column, metric: Metric, middle: float, *, default: bool) -> str:
    frame, colour = column.frame, "blue" if default else "grey"
    low, high = map(frame.across, _ends(metric))
    value, baseline = map(frame.across, (metric.value, metric.baseline))
    filled = f"{colour}-fill" if metric.beats_baseline else f"hollow {colour}"
    kind = "name default" if default else "name"
    line = (
        f'<line class="{colour}" stroke-width="2" stroke-linecap="round" x1="{low}" x2="{high}" '
        f'y1="{middle}" y2="{middle}"/>'
    )
    number = _write_minus(f"{round(metric.value, 2) + 0.0:.2f}")  # no minus before 0.00
    return (
        f"<g><title>{escape(column.measure.heading)}: {escape(tell_metric(metric))}, "
        f"n={metric.documents:,}</title>"
        f'<line class="orange" stroke-width="2.5" x1="{baseline}" x2="{baseline}" '
        f'y1="{middle - 9}" y2="{middle + 9}"/>{line if metric.interval else ""}'
        f'<circle class="{filled}" r="5" stroke-width="2" cx="{value}" cy="{middle}"/>'
        f'<text class="{kind}" x="{frame.width - 12}" y="{middle + 4}" text-anchor="end">'
        f"{number}</text></g>"
    )


def _tell_method(one: MethodAudit, columns: Sequence[_Column]) -> str:
    taken = [
        f"{column.measure.heading} {tell_metric(metric)}"
        for column in columns
        if (metric := column.metrics.get(one.method)) is not None
    ]
    return f"{method_in_words(one.method)}: {', '.join(taken) or 'not measured'}"


_CELL_WIDTH, _CELL_HEIGHT, _MAP_LEFT, _MAP_TOP = 44, 34, 70, 24


def needle_map(needle: NeedleMap) -> str:
    """Return the map as inline SVG with words beside it; a dark cell is found, a crossed unread."""
    positions = sorted({cell.position for cell in needle.cells})
    lengths = needle.lengths
    parts = [
        f'<text x="{_MAP_LEFT + _CELL_WIDTH * (column + 0.5)}" y="16" text-anchor="middle">'
        f"{place + 1}</text>"
        for column, place in enumerate(positions)
    ]
    parts += [
        f'<text x="{_MAP_LEFT - 8}" y="{_MAP_TOP + _CELL_HEIGHT * (row + 0.5) + 4}" '
        f'text-anchor="end">{length}</text>'
        for row, length in enumerate(lengths)
    ]
    parts += [
        _draw_cell(cell, positions.index(cell.position), lengths.index(cell.length))
        for cell in needle.cells
    ]
    size = (
        _MAP_LEFT + _CELL_WIDTH * len(positions) + 8,
        _MAP_TOP + _CELL_HEIGHT * len(lengths) + 8,
    )
    described = "; ".join(map(_tell_cell, needle.cells))
    svg = figure("".join(parts), size=size, title="Planted sentences found", description=described)
    note = f'<p class="note">{escape(_caption(needle))}</p>'
    drawn = f'<figure class="map"><div class="scroll">{svg}</div></figure>'
    return f"{note}{drawn}{_needle_table(needle)}"


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


def _draw_cell(cell: NeedleCell, column: int, row: int) -> str:
    left, top = _MAP_LEFT + _CELL_WIDTH * column, _MAP_TOP + _CELL_HEIGHT * row
    wide, high = _CELL_WIDTH - 2, _CELL_HEIGHT - 2
    crossed = ""
    if cell.documents and cell.unread == cell.documents:
        crossed = (
            f'<line class="axis" x1="{left}" y1="{top}" x2="{left + wide}" y2="{top + high}"/>'
        )
    return (
        f"<g><title>{escape(_tell_cell(cell))}</title>"
        f'<rect x="{left}" y="{top}" width="{wide}" height="{high}" '
        f'fill="rgba(var(--blue-rgb), {0.08 + 0.6 * cell.recall:.2f})"/>{crossed}'
        f'<text class="strong" x="{left + wide / 2}" y="{top + high / 2 + 4}" '
        f'text-anchor="middle">{cell.recall:.1f}</text></g>'
    )


def _tell_cell(cell: NeedleCell) -> str:
    unread = f", {cell.unread} unread" if cell.unread else ""
    return (
        f"sentence {cell.position + 1} of {cell.length}: found in {cell.found} of "
        f"{cell.documents}{unread}"
    )


def _needle_table(needle: NeedleMap) -> str:
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
