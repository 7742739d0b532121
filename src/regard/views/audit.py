"""Draw an audit: on a page and on the terminal, never a number without its baseline."""

from __future__ import annotations

from ..records.audit import Audit, Metric
from .audit_overview import overview
from .audit_tables import attention_tables, method_tables
from .audit_wording import NAMES, flips_told, headline, warned
from .drawing import charts
from .drawing.page import asset, escaped, page, section
from .needles import needle_map

__all__ = ["render", "summary"]


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


def summary(audit: Audit) -> list[str]:
    """Say the audit in lines for a terminal: the verdict, then value, interval and baseline."""
    lines = [*headline(audit), *(f"  {warning}" for warning in warned(audit))]
    for one in audit.rankings:
        lines += ["", one.method, *(_line(metric) for metric in one.metrics)]
    if audit.about_model:
        lines += ["", "the attention itself", *(_line(metric) for metric in audit.about_model)]
    if audit.flips:
        lines.append(f"  {flips_told(audit.flips)}")
    return lines


def _line(metric: Metric) -> str:
    name = NAMES.get(metric.name, metric.name)
    return f"  {name:36} {_numbers(metric)}  n={metric.documents:,}"


def _numbers(metric: Metric) -> str:
    return (
        f"{metric.value:7.3f}  ({metric.interval.low:.3f} to {metric.interval.high:.3f})  "
        f"{metric.baseline_name} {metric.baseline:.3f}"
    )


def _lead(audit: Audit) -> str:
    first, *others = headline(audit)
    listed = "".join(f"<li>{escaped(warning)}.</li>" for warning in warned(audit))
    alert = f'<ul class="warned" role="alert">{listed}</ul>' if listed else ""
    return (
        f'<div class="summary"><p class="lead">{escaped(first)}</p>'
        f"<p>{escaped(' '.join(others))}</p></div>{alert}"
    )
