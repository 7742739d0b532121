"""An audit as lines for a terminal, never a number without its baseline."""

from __future__ import annotations

from collections.abc import Sequence

from ...records.audit import Audit, Metric
from .words import headline, tell_flips, tell_interval, tell_rival, tell_warnings, title_of

__all__ = ["brief", "summary"]


def summary(audit: Audit) -> list[str]:
    """Say the audit in lines for a terminal: the verdict, then value, interval and baseline."""
    lines = brief(audit)
    for one in audit.rankings:
        lines += ["", one.method, *_lines(one.metrics)]
    if audit.rivals:
        width = max(len(title_of(one.measure)) for one in audit.rivals)
        lines += ["", f"{audit.default_method} beside the best that needs no taught model"]
        lines += [f"  {title_of(one.measure):{width}} {tell_rival(one)}" for one in audit.rivals]
    if audit.about_model:
        lines += ["", "the attention itself", *_lines(audit.about_model)]
    if audit.flips:
        lines.append(f"  {tell_flips(audit.flips)}")
    return lines


def brief(audit: Audit) -> list[str]:
    """Say what the audit comes down to, for who reads the numbers on the page."""
    return [*headline(audit), *(f"  {warning}" for warning in tell_warnings(audit))]


def _lines(metrics: Sequence[Metric]) -> list[str]:
    width = max((len(title_of(one.name)) for one in metrics), default=0)
    return [
        f"  {title_of(one.name):{width}} {_numbers(one)}  n={one.documents:,}" for one in metrics
    ]


def _numbers(metric: Metric) -> str:
    return (
        f"{metric.value:7.3f}  ({tell_interval(metric.interval)})  "
        f"{metric.baseline_name} {metric.baseline:.3f}"
    )
