"""Draw an audit as one page, never a number without its baseline."""

from __future__ import annotations

from collections.abc import Sequence

from ...records.audit import Audit, FlipTable, MethodAudit, Metric
from ...records.measures import FAMILIES, MEASURES
from ..drawing import charts
from ..drawing.page import asset, escaped, page, section
from ..drawing.tables import Cell, definitions, table
from ..drawing.words import method_in_words, plural
from .charts import needle_map, overview
from .words import flips_compared, headline, tell_warnings, title_of

__all__ = ["attention_tables", "method_tables", "render"]


def render(audit: Audit) -> str:
    """Return the whole audit as one page that makes no requests."""
    title = f"Audit of {audit.model or 'a model'}"
    sections = {
        "Overview": overview(audit),
        "The attention itself": attention_tables(audit),
        "Blind spots": needle_map(audit.needle) if audit.needle else "",
        "All measures of the methods": method_tables(audit.rankings),
    }
    drawn = "".join(section(name, body) for name, body in sections.items() if body)
    styles = charts.STYLES + asset("report.css") + asset("audit.css")
    head = f"<header><h1>{escaped(title)}</h1>{_lead(audit)}</header>"
    return page(title, head + drawn, styles=styles, scripts=asset("report.js"))


def _lead(audit: Audit) -> str:
    first, *others = headline(audit)
    listed = "".join(f"<li>{escaped(warning)}.</li>" for warning in tell_warnings(audit))
    alert = f'<ul class="warned" role="alert">{listed}</ul>' if listed else ""
    return (
        f'<div class="summary"><p class="lead">{escaped(first)}</p>'
        f"<p>{escaped(' '.join(others))}</p></div>{alert}"
    )


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
        f'<p class="note">{escaped(_sentence(protocol))}</p><div class="pair">'
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
    rows = [[Cell(method_in_words(method)), *_cells(metric)] for method, metric in metrics]
    heads = ("Method", "Value", "95 % interval", first.baseline_name.capitalize(), "n")
    return table(heads, rows, caption=f"{title_of(name)}: {_better(first)}")


def _model_table(metrics: Sequence[Metric]) -> str:
    if not metrics:
        return ""
    names = [title_of(metric.name) for metric in metrics]
    rows = [
        [Cell(name), *_cells(metric), Cell(metric.baseline_name), Cell(metric.better)]
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


def _cells(metric: Metric) -> list[Cell]:
    low, high = metric.interval.low, metric.interval.high
    sign = " ✓" if metric.beats_baseline else ""
    return [
        Cell(f"{metric.value:.3f}{sign}", metric.value),
        Cell(f"{low:.3f} to {high:.3f}", low),
        Cell(f"{metric.baseline:.3f}", metric.baseline),
        Cell(f"{metric.documents:,}", metric.documents),
    ]


def _flips(flips: FlipTable | None) -> str:
    if flips is None:
        return ""
    rows = [
        [Cell(name), *(Cell(f"{count:,}", count) for count in counts)]
        for name, counts in (
            ("heaviest flips", (flips.both, flips.only_top)),
            ("heaviest does not", (flips.only_random, flips.neither)),
        )
    ]
    caption = f"Documents whose answer flips when the weight of one {flips.unit} is set to zero"
    heads = ("", "random flips", "random does not")
    return (
        f"<h3>Single flips</h3><p>{escaped(flips_compared(flips))}</p>"
        f"<details><summary>The numbers</summary>{table(heads, rows, caption=caption)}</details>"
    )
