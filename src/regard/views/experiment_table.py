"""The table of an experiment in Markdown, which reads well in a terminal too."""

from __future__ import annotations

from ..records.experiment import Experiment, Spread

__all__ = ["experiment_lines"]


def experiment_lines(experiment: Experiment) -> list[str]:
    """Return the lines of the table: means over the seeds, ± their standard deviation."""
    heads = ["", *experiment.columns, "seconds"]
    body = [
        [
            name,
            *(_cell(experiment.spread(row, column)) for column in range(len(experiment.columns))),
            f"{experiment.seconds(row):.1f}",
        ]
        for row, name in enumerate(experiment.row_names)
    ]
    widths = [max(map(len, column)) for column in zip(heads, *body, strict=True)]
    lines = [_line(cells, widths) for cells in [heads, *body]]
    marks = ["-" * (width + 1) + (":" if place else "-") for place, width in enumerate(widths)]
    lines.insert(1, f"|{'|'.join(marks)}|")
    return [*lines, *_notes(experiment)]


def _line(cells: list[str], widths: list[int]) -> str:
    padded = [
        cell.rjust(width) if place else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "| " + " | ".join(padded) + " |"


def _cell(spread: Spread | None) -> str:
    if spread is None:
        return "never"
    said = _number(spread.mean)
    if spread.deviation is not None:
        said += f" ± {_number(spread.deviation)}"
    if spread.count < spread.seeds:
        said += f" ({spread.count} of {spread.seeds} seeds)"
    return said


def _number(value: float) -> str:
    if value == int(value) and abs(value) >= 1:
        return f"{value:,.0f}"
    if value and not 1e-3 <= abs(value) < 1e4:
        return f"{value:.1e}"
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.4f}"


def _notes(experiment: Experiment) -> list[str]:
    """What each seed adds in words; which seed it was, where there are several."""
    lines: list[str] = []
    for finding in experiment.findings:
        if finding.notes:
            lines += ["", *([f"seed {finding.seed}:"] if len(experiment.seeds) > 1 else [])]
            lines += finding.notes
    return lines
