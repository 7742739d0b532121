"""The table of an experiment in Markdown, which reads well in a terminal too."""

from __future__ import annotations

from collections.abc import Sequence

from ...records.experiment import Experiment, Spread

__all__ = ["experiment_lines"]


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
