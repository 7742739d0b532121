"""An audit as lines for a terminal, never a number without its baseline."""

from __future__ import annotations

from ...records.audit import Audit, Metric
from .words import headline, tell_flips, tell_rival, tell_warnings, title_of

__all__ = ["summary"]


def summary(audit: Audit) -> list[str]:
    """Say the audit in lines for a terminal: the verdict, then value, interval and baseline."""
    lines = [*headline(audit), *(f"  {warning}" for warning in tell_warnings(audit))]
    for one in audit.rankings:
        lines += ["", one.method, *(_line(metric) for metric in one.metrics)]
    if audit.rivals:
        lines += ["", f"{audit.default_method} beside the best that needs no taught model"]
        lines += [f"  {title_of(one.measure):36} {tell_rival(one)}" for one in audit.rivals]
    if audit.about_model:
        lines += ["", "the attention itself", *(_line(metric) for metric in audit.about_model)]
    if audit.flips:
        lines.append(f"  {tell_flips(audit.flips)}")
    return lines


def _line(metric: Metric) -> str:
    return f"  {title_of(metric.name):36} {_numbers(metric)}  n={metric.documents:,}"


def _numbers(metric: Metric) -> str:
    return (
        f"{metric.value:7.3f}  ({metric.interval.low:.3f} to {metric.interval.high:.3f})  "
        f"{metric.baseline_name} {metric.baseline:.3f}"
    )
