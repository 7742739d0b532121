"""What an experiment found: a table and a chart for every seed, as plain data."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Literal

from ..config import Plain
from .encoding import Record, encode

__all__ = ["Chart", "ChartKind", "Curve", "Experiment", "Finding", "ResultRow", "Setting", "Spread"]

ChartKind = Literal["lines", "bars", "map"]
"""Lines over one another, a panel of bars for each curve, or every curve's name at its point."""


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One line of the table: something that was tried, and a number for every column."""

    name: str
    values: tuple[float | None, ...]  # None: what was asked for did not happen
    # Two runs with one seed are the same run, however long each of them took.
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Curve:
    """Points that belong together."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """What is drawn: curves over two named axes."""

    kind: ChartKind
    across: str
    down: str
    curves: tuple[Curve, ...]
    level: float | None = None  # where a dashed line is drawn through a chart of lines
    logarithmic: bool = False  # the axis that goes up


@dataclass(frozen=True, slots=True)
class Finding:
    """What an experiment found with one seed."""

    seed: int
    rows: tuple[ResultRow, ...]
    chart: Chart
    notes: tuple[str, ...] = ()  # what is better said in words


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting that the experiment ran with."""

    name: str
    value: Plain


@dataclass(frozen=True, slots=True)
class Spread:
    """A number over several seeds; ``deviation`` is None for a single one."""

    mean: float
    deviation: float | None
    count: int  # seeds that gave a number
    seeds: int

    @property
    def partial(self) -> bool:
        """Whether some seeds gave no number."""
        return self.count < self.seeds

    @classmethod
    def of(cls, values: tuple[float | None, ...]) -> Spread | None:
        """Sum up the numbers that there are; None where there are none."""
        known = [value for value in values if value is not None]
        if not known:
            return None
        deviation = statistics.stdev(known) if len(known) > 1 else None
        return cls(statistics.fmean(known), deviation, len(known), len(values))


@dataclass(frozen=True, slots=True)
class Experiment(Record):
    """An experiment with all its seeds; ``columns`` name the values of every row."""

    name: str
    title: str
    columns: tuple[str, ...]
    settings: tuple[Setting, ...]
    findings: tuple[Finding, ...]

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds it was run with."""
        return tuple(finding.seed for finding in self.findings)

    @property
    def row_names(self) -> tuple[str, ...]:
        """What was tried, in the order of the table."""
        return tuple(row.name for row in self.findings[0].rows)

    def spread(self, row: int, column: int) -> Spread | None:
        """Sum up one cell of the table over the seeds."""
        return Spread.of(tuple(finding.rows[row].values[column] for finding in self.findings))

    def seconds(self, row: int) -> float:
        """How long one row took, on average over the seeds."""
        return statistics.fmean(finding.rows[row].seconds for finding in self.findings)

    def to_json(self, *, indent: int | None = 1) -> str:
        """Return the experiment as a JSON object."""
        return encode(self, indent=indent)
