"""An experiment: its table in Markdown, which reads well in a terminal too, and its picture.

The picture is SVG or PNG, through matplotlib.
"""

from __future__ import annotations

import io
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConfigError, MissingExtra
from ..files import write_file
from ..records.experiment import Chart, Curve, Experiment, Spread
from .drawing.colours import SERIES, hexadecimal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "PLOT_FORMATS",
    "experiment_lines",
    "mean_curve",
    "render_plot",
    "require_plots",
    "write_plot",
]

PLOT_FORMATS = ("svg", "png")

_COLOURS = tuple(map(hexadecimal, SERIES))
_MUTED = "#8a8a8a"


def require_plots() -> None:
    """Say which extra is missing where there is no matplotlib; before any work is done."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as problem:
        raise MissingExtra("matplotlib", "plots", "the plot of an experiment") from problem


def write_plot(experiment: Experiment, path: Path) -> None:
    """Write the picture to a file; the name's ending says the format."""
    write_file(path, render_plot(experiment, path.suffix.lstrip(".").lower()))


def render_plot(experiment: Experiment, kind: str = "svg") -> bytes:
    """Return the picture of all seeds together as the bytes of a file."""
    if kind not in PLOT_FORMATS:
        raise ConfigError(f"a plot cannot be {kind or 'without format'!r}; use svg or png")
    require_plots()
    import matplotlib
    from matplotlib.figure import Figure

    charts = [finding.chart for finding in experiment.findings]
    file = io.BytesIO()
    # The same numbers give the same bytes: no date, a fixed salt. Text stays text, which is small.
    with matplotlib.rc_context(
        {
            "svg.hashsalt": "regard",
            "svg.fonttype": "none",
            "font.size": 9.0,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": _MUTED,
            "legend.frameon": False,
        }
    ):
        figure = Figure(figsize=_size(charts[0]), layout="constrained")
        _DRAWN[charts[0].kind](figure, charts)
        figure.suptitle(experiment.title, fontsize=10)
        undated = {"svg": {"Date": None}, "png": {"Software": None}}
        figure.savefig(file, format=kind, dpi=130, metadata=undated[kind], facecolor="white")
    return file.getvalue()


def _size(chart: Chart) -> tuple[float, float]:
    if chart.kind == "bars":
        return 7.2, 0.7 + 1.45 * -(-len(chart.curves) // 2)
    return (7.2, 5.4) if chart.kind == "map" else (6.4, 3.8)


def _lines(figure: Figure, charts: Sequence[Chart]) -> None:
    """Draw each curve once a seed; with several seeds pale ones, and their mean."""
    axes = figure.subplots()
    for number, curve in enumerate(charts[0].curves):
        colour = _COLOURS[number % len(_COLOURS)]
        dashes = "-" if number < len(_COLOURS) else "--"
        over_seeds = [chart.curves[number] for chart in charts]
        if len(charts) > 1:
            for one in over_seeds:
                axes.plot(*_places(one.points), color=colour, linewidth=0.8, alpha=0.35)
        mean = mean_curve(over_seeds)
        marker = "o" if len(mean) < 15 else ""
        axes.plot(
            *_places(mean), dashes, color=colour, marker=marker, markersize=3, label=curve.name
        )
    if charts[0].level is not None:
        axes.axhline(charts[0].level, color=_MUTED, linewidth=0.8, linestyle="--")
    if charts[0].logarithmic:
        axes.set_yscale("log")
    _count_across(axes)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    axes.legend(fontsize=8)
    _name_axes(axes, charts[0])


def _bars(figure: Figure, charts: Sequence[Chart]) -> None:
    """Draw a panel of bars for each curve, with the deviation over the seeds."""
    curves = charts[0].curves
    panels = list(figure.subplots(-(-len(curves) // 2), 2, squeeze=False).flat)
    for number, (axes, curve) in enumerate(zip(panels, curves, strict=False)):
        mean = mean_curve([chart.curves[number] for chart in charts])
        across, heights = _places(mean)
        spreads = [
            statistics.stdev(chart.curves[number].points[place][1] for chart in charts)
            if len(charts) > 1
            else 0.0
            for place in range(len(mean))
        ]
        axes.bar(across, heights, color=_COLOURS[0], yerr=spreads, error_kw={"linewidth": 0.7})
        axes.set_ylim(bottom=0)
        _count_across(axes)
        axes.set_title(curve.name, fontsize=8)
        axes.tick_params(labelsize=7)
    for axes in panels[len(curves) :]:
        axes.set_visible(False)
    figure.supxlabel(charts[0].across, fontsize=8)
    figure.supylabel(charts[0].down, fontsize=8)


def _map(figure: Figure, charts: Sequence[Chart]) -> None:
    """Write each curve's name at its point; of several seeds the first, since maps turn."""
    axes = figure.subplots()
    for curve in charts[0].curves:
        ((x, y),) = curve.points
        axes.plot(x, y, ".", color=_COLOURS[0], markersize=3)
        axes.annotate(curve.name, (x, y), fontsize=7.5, parse_math=False)
    _name_axes(axes, charts[0])


_DRAWN = {"lines": _lines, "bars": _bars, "map": _map}


def _name_axes(axes: Axes, chart: Chart) -> None:
    axes.set_xlabel(chart.across)
    axes.set_ylabel(chart.down)


def _count_across(axes: Axes) -> None:
    """Mark whole numbers alone: there is no half of an epoch or of a step."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def mean_curve(curves: Sequence[Curve]) -> list[tuple[float, float]]:
    """Average curves at every place; one that ended earlier counts with its last value."""
    known = [dict(curve.points) for curve in curves]
    found, latest = [], [math.nan] * len(curves)
    for x in sorted({x for points in known for x in points}):
        latest = [points.get(x, before) for points, before in zip(known, latest, strict=True)]
        found.append((x, statistics.fmean(latest)))
    return found


def _places(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def experiment_lines(experiment: Experiment) -> list[str]:
    """Return the lines of the table: means over the seeds, ± their standard deviation."""
    names = experiment.row_names
    columns = [("", list(names))]
    for place, head in enumerate(experiment.columns):
        spreads = [experiment.spread(row, place) for row in range(len(names))]
        columns.append((head, _cells(spreads, counts=_are_counts(experiment, place))))
    seconds = [experiment.seconds(row) for row in range(len(names))]
    if any(seconds):
        columns.append(("seconds", [f"{value:.1f}" for value in seconds]))
    widths = [max(map(len, (head, *cells))) for head, cells in columns]
    heads = [head for head, _ in columns]
    body = list(zip(*(cells for _, cells in columns), strict=True))
    lines = [_line(cells, widths) for cells in (heads, *body)]
    marks = ["-" * (width + 1) + (":" if place else "-") for place, width in enumerate(widths)]
    lines.insert(1, f"|{'|'.join(marks)}|")
    return [*lines, *_notes(experiment)]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell.rjust(width) if place else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "| " + " | ".join(padded) + " |"


def _are_counts(experiment: Experiment, column: int) -> bool:
    """Whether a column holds whole numbers, such as epochs, and not shares of 0 or 1."""
    rows = [row for finding in experiment.findings for row in finding.rows]
    values = [value for row in rows if (value := row.values[column]) is not None]
    return all(value == int(value) for value in values) and any(value > 1 for value in values)


def _cells(spreads: Sequence[Spread | None], *, counts: bool) -> list[str]:
    """Write a column: counts as such, shares with four digits, very small numbers by powers."""

    def number(value: float, like: float) -> str:
        if counts:
            return f"{value:,.1f}" if value != int(value) else f"{value:,.0f}"
        if like and not 1e-3 <= abs(like) < 1e4:
            return f"{value:.1e}"
        return f"{value:.2f}" if abs(like) >= 10 else f"{value:.4f}"

    def cell(spread: Spread | None) -> str:
        if spread is None:
            return "–"
        said = number(spread.mean, spread.mean)
        if spread.deviation is not None:
            said += f" ± {number(spread.deviation, spread.mean)}"
        return said + (f" ({spread.count} of {spread.seeds} seeds)" if spread.partial else "")

    return [cell(spread) for spread in spreads]


def _notes(experiment: Experiment) -> list[str]:
    """What each seed adds in words; which seed it was, where there are several."""
    lines: list[str] = []
    for finding in experiment.findings:
        if finding.notes:
            lines += ["", *([f"seed {finding.seed}:"] if len(experiment.seeds) > 1 else [])]
            lines += finding.notes
    return lines
