"""Draw an audit: on a page and on the terminal, never a number without its baseline."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from ..records.audit import Audit, FlipTable, MethodAudit, Metric
from . import charts
from .needles import needle_map
from .page import escaped, page
from .tables import Cell, table

__all__ = ["render", "summary"]

NAMES = {
    "auprc": "Evidence found (AUPRC)",
    "token_f1": "Evidence, token F1",
    "iou_f1": "Evidence, span F1",
    "auprc_word": "Evidence by words alone (AUPRC)",
    "comprehensiveness": "Comprehensiveness",
    "sufficiency": "Sufficiency",
    "comprehensiveness_sentence": "Comprehensiveness, sentences",
    "sufficiency_sentence": "Sufficiency, sentences",
    "normalised_comprehensiveness": "Comprehensiveness, normalised",
    "normalised_sufficiency": "Sufficiency, normalised",
    "comprehensiveness_ferret": "Comprehensiveness (ferret)",
    "sufficiency_ferret": "Sufficiency (ferret)",
    "tau_loo": "Tau with leave-one-out",
    "tau_gradient": "Tau with gradient",
    "flip_fraction": "Units gone until the answer flips",
    "tau_shuffled_weights": "Tau with a shuffled model",
    "adversarial_jsd": "Other attention, same answer (JSD)",
    "permutation_change": "Answer moved by permuting attention",
    "uniform_gap_trained": "Gap to even attention, trained",
    "uniform_gap_forced": "Gap to even attention, forced",
    "stability_jsd": "Difference between seeds (JSD)",
    "stability_overlap": "Shared top sentences between seeds",
    "needle_recall": "Planted sentences found",
}


def render(audit: Audit) -> str:
    """Return the whole audit as one page that makes no requests."""
    title = f"Audit of {audit.model or 'a model'}"
    sections = {
        "Methods": "".join(_method_table(name, audit.rankings) for name in _measured(audit)),
        "The attention itself": _model_table(audit.about_model),
        "Single flips": _flips(audit.flips),
        "Blind spots": needle_map(audit.needle) if audit.needle else "",
    }
    drawn = "".join(
        f"<section><h2>{escaped(name)}</h2>{body}</section>"
        for name, body in sections.items()
        if body
    )
    styles = charts.STYLES + _asset("report.css")
    head = f"<header><h1>{escaped(title)}</h1>{_lead(audit)}</header>"
    return page(title, head + drawn, styles=styles, scripts=_asset("report.js"))


def summary(audit: Audit) -> list[str]:
    """Say the audit in lines for a terminal: the value, its interval, and the baseline."""
    lines = [f"{audit.documents:,} documents; default explanation: {audit.default_method}"]
    lines += [f"warning: {warning}" for warning in audit.warnings]
    for one in audit.rankings:
        lines += ["", one.method, *(_line(metric) for metric in one.metrics)]
    if audit.about_model:
        lines += ["", "the attention itself", *(_line(metric) for metric in audit.about_model)]
    if audit.flips:
        lines.append(f"  {_flips_told(audit.flips)}")
    return lines


def _line(metric: Metric) -> str:
    name = NAMES.get(metric.name, metric.name)
    return f"  {name:36} {_numbers(metric)}  n={metric.documents:,}"


def _numbers(metric: Metric) -> str:
    return (
        f"{metric.value:7.3f}  ({metric.interval.low:.3f} to {metric.interval.high:.3f})  "
        f"{metric.baseline_name} {metric.baseline:.3f}"
    )


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _lead(audit: Audit) -> str:
    where = f" of {audit.data}" if audit.data else ""
    told = (
        f"Measured on {audit.documents:,} documents{where}, drawn with seed {audit.seed}. "
        f"The default explanation of this model is {audit.default_method}."
    )
    warned = "".join(f"<li>{escaped(warning)}</li>" for warning in audit.warnings)
    listed = f'<ul class="plain" role="alert">{warned}</ul>' if warned else ""
    return f'<div class="summary"><p>{escaped(told)}</p>{listed}</div>'


def _measured(audit: Audit) -> list[str]:
    """The names of all measures of methods, in the order in which they are known."""
    found = {metric.name for one in audit.rankings for metric in one.metrics}
    return [name for name in NAMES if name in found]


def _method_table(name: str, rankings: Sequence[MethodAudit]) -> str:
    found = [(one.method, one.metric(name)) for one in rankings]
    metrics = [(method, metric) for method, metric in found if metric is not None]
    first = metrics[0][1]
    rows = [[Cell(method), *_cells(metric)] for method, metric in metrics]
    note = f'<p class="note">{escaped(first.protocol)}. Better: {escaped(first.better)}.</p>'
    heads = ("Method", "Value", "95 % interval", first.baseline_name.capitalize(), "Documents")
    return f"<h3>{escaped(NAMES[name])}</h3>{note}{table(heads, rows, caption=NAMES[name])}"


def _model_table(metrics: Sequence[Metric]) -> str:
    if not metrics:
        return ""
    rows = []
    for metric in metrics:
        name, *numbers = Cell(NAMES.get(metric.name, metric.name)), *_cells(metric)
        told = Cell(f"{metric.baseline_name}; {metric.protocol}; better: {metric.better}")
        rows.append([name, *numbers, told])
    heads = ("Measure", "Value", "95 % interval", "Baseline", "Documents", "Protocol")
    return table(heads, rows, caption="Measures of the attention itself")


def _cells(metric: Metric) -> list[Cell]:
    low, high = metric.interval.low, metric.interval.high
    sign = " ✓" if metric.beats_baseline else ""
    return [
        Cell(f"{metric.value:.3f}{sign}", metric.value),
        Cell(f"{low:.3f} to {high:.3f}", low),
        Cell(f"{metric.baseline:.3f}", metric.baseline),
        Cell(f"{metric.documents:,}", metric.documents),
    ]


def _flips_told(flips: FlipTable) -> str:
    total = max(flips.documents, 1)
    parts = {
        "both": flips.both,
        "only the heaviest": flips.only_top,
        "only the random one": flips.only_random,
        "neither": flips.neither,
    }
    said = ", ".join(f"{name} {100 * count / total:.1f} %" for name, count in parts.items())
    return f"the answer flips without one {flips.unit}: {said}; n={flips.documents:,}"


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
    said = escaped(_flips_told(flips)).capitalize()
    return f"<p>{said}.</p>{table(heads, rows, caption=caption)}"
