"""Small charts as inline SVG: coloured by the page, with words for those who cannot see them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .page import escape
from .words import percent, two_digits

__all__ = [
    "STYLES",
    "Axis",
    "Frame",
    "Histogram",
    "IntervalRow",
    "Line",
    "draw_histogram",
    "draw_intervals",
    "draw_lines",
    "figure",
]

STYLES = """
svg.chart { display: block; width: 100%; height: auto; overflow: visible; font-size: 12px;
  font-variant-numeric: tabular-nums; }
svg.chart text { fill: var(--muted); }
svg.chart .strong { fill: var(--ink); stroke: var(--paper); stroke-width: 5px;
  stroke-linejoin: round; paint-order: stroke; }
svg.chart .grid { stroke: var(--line); stroke-width: 1; }
svg.chart .axis { stroke: var(--muted); stroke-width: 1; }
svg.chart .ideal { stroke: var(--muted); stroke-width: 1; stroke-dasharray: 4 4; fill: none; }
svg.chart .line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
svg.chart .band { opacity: .16; stroke: none; }
svg.chart .blue { stroke: var(--blue); } svg.chart .blue-fill { fill: var(--blue); }
svg.chart .orange { stroke: var(--orange); } svg.chart .orange-fill { fill: var(--orange); }
svg.chart .grey { stroke: var(--muted); } svg.chart .grey-fill { fill: var(--muted); }
"""


@dataclass(frozen=True, slots=True)
class Axis:
    """One direction of a chart: its ends, where it is marked, and how a mark is written."""

    low: float
    high: float
    ticks: tuple[float, ...]
    title: str = ""
    text: Callable[[float], str] = str

    def place(self, value: float) -> float:
        """Where the value lies between the ends, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    @classmethod
    def around(cls, values: Sequence[float], title: str, text: Callable[[float], str]) -> Axis:
        """Choose round ends about the values, with some four steps between them."""
        low, high = min(values), max(values)
        spread = high - low or abs(high) or 1.0
        step = next(
            size * factor
            for size in (10.0**power for power in range(-6, 12))
            for factor in (1, 2, 5)
            if size * factor * 4.5 >= spread
        )
        first, last = int(low / step // 1), int(-(-high / step // 1))
        last = max(last, first + 1)
        ticks = tuple(round(step * number, 9) for number in range(first, last + 1))
        return cls(ticks[0], ticks[-1], ticks, title, text)

    @classmethod
    def shares(cls, title: str, low: float = 0.0) -> Axis:
        """Mark shares from ``low``, rounded down, to 100 %."""
        step = 0.25 if low < 0.5 else 0.1 if low < 0.8 else 0.05 if low < 0.9 else 0.02
        count = int((1 - low) / step + 0.999999) or 1
        ticks = tuple(round(1 - step * number, 6) for number in range(count, -1, -1))
        return cls(ticks[0], 1.0, ticks, title, lambda share: percent(share, 0))


@dataclass(frozen=True, slots=True)
class Frame:
    """The area that a chart is drawn in, in the units of its view box."""

    x: Axis
    y: Axis
    width: int = 440
    height: int = 280
    left: int = 62
    right: int = 16
    top: int = 12
    bottom: int = 46

    def across(self, value: float) -> float:
        """Where a value of the horizontal axis lies."""
        return round(self.left + self.x.place(value) * (self.width - self.left - self.right), 2)

    def down(self, value: float) -> float:
        """Where a value of the vertical axis lies."""
        inner = self.height - self.top - self.bottom
        return round(self.height - self.bottom - self.y.place(value) * inner, 2)

    def axes(self) -> str:
        """Draw the grid, the marks and the titles of both axes."""
        floor, wall = self.height - self.bottom, self.width - self.right
        parts = [
            f'<line class="grid" x1="{self.left}" x2="{wall}" y1="{y}" y2="{y}"/>'
            f'<text x="{self.left - 8}" y="{y + 4}" text-anchor="end">{escape(self.y.text(tick))}'
            "</text>"
            for tick in self.y.ticks
            for y in [self.down(tick)]
        ]
        parts += [
            f'<text x="{self.across(tick)}" y="{floor + 18}" text-anchor="middle">'
            f"{escape(self.x.text(tick))}</text>"
            for tick in self.x.ticks
        ]
        parts.append(
            f'<line class="axis" x1="{self.left}" x2="{wall}" y1="{floor}" y2="{floor}"/>'
            f'<text x="{(self.left + wall) / 2}" y="{floor + 38}" text-anchor="middle">'
            f"{escape(self.x.title)}</text>"
        )
        if self.y.title:
            middle = (self.top + floor) / 2
            parts.append(
                f'<text transform="translate(12 {middle}) rotate(-90)" text-anchor="middle">'
                f"{escape(self.y.title)}</text>"
            )
        return "".join(parts)


@dataclass(frozen=True, slots=True)
class Line:
    """A series of points joined by a line, drawn in a named colour; ``notes`` tell each point."""

    points: tuple[tuple[float, float], ...]
    colour: str = "blue"
    notes: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """A dot with its interval, beside a name and the number in words."""

    name: str
    value: float
    low: float
    high: float
    text: str
    colour: str = "grey"


def figure(body: str, *, size: tuple[int, int], title: str, description: str) -> str:
    """Wrap drawn parts into one picture with a name and a description."""
    return (
        f'<svg class="chart" viewBox="0 0 {size[0]} {size[1]}" role="img" '
        f'aria-label="{escape(title)}. {escape(description)}">{body}</svg>'
    )


def draw_lines(
    frame: Frame,
    lines: Sequence[Line],
    *,
    title: str,
    description: str,
    mark: float | None = None,
) -> str:
    """Draw lines over one frame, with dots that tell their values; ``mark`` is a dashed upright."""
    parts = [frame.axes()]
    if mark is not None:
        x, floor = frame.across(mark), frame.height - frame.bottom
        parts.append(f'<line class="ideal" x1="{x}" x2="{x}" y1="{frame.top}" y2="{floor}"/>')
    for line in lines:
        path = " ".join(f"{frame.across(x)},{frame.down(y)}" for x, y in line.points)
        parts.append(f'<polyline class="line {line.colour}" points="{path}"/>')
        for (x, y), note in zip(line.points, line.notes, strict=False):
            # Dots are small where there are many, but always large enough to point at.
            seen = 3 if len(line.points) <= 30 else 0
            parts.append(
                f'<g><circle class="{line.colour}-fill" r="{seen}" cx="{frame.across(x)}" '
                f'cy="{frame.down(y)}"/><circle r="7" fill="transparent" cx="{frame.across(x)}" '
                f'cy="{frame.down(y)}"/><title>{escape(note)}</title></g>'
            )
    return figure(
        "".join(parts), size=(frame.width, frame.height), title=title, description=description
    )


def draw_intervals(axis: Axis, rows: Sequence[IntervalRow], *, title: str, width: int = 440) -> str:
    """Draw one dot with its interval a row: names above, numbers at the right."""
    row_height, right = 46, 12
    frame = Frame(axis, axis, width, row_height * len(rows) + 32, left=12, right=right, bottom=28)
    floor = frame.height - frame.bottom
    parts = [
        f'<line class="grid" x1="{x}" x2="{x}" y1="6" y2="{floor}"/>'
        f'<text x="{x}" y="{floor + 18}" text-anchor="middle">{escape(axis.text(tick))}</text>'
        for tick in axis.ticks
        for x in [frame.across(tick)]
    ]
    for number, row in enumerate(rows):
        top = 22 + row_height * number
        low, value, high = map(frame.across, (row.low, row.value, row.high))
        parts.append(
            f"<g><title>{escape(row.name)}: {escape(row.text)}</title>"
            f'<text class="strong" x="12" y="{top}">{escape(row.name)}</text>'
            f'<text class="strong" x="{width - right}" y="{top}" text-anchor="end" '
            f'font-weight="600">{escape(row.text)}</text>'
            f'<line class="{row.colour}" stroke-width="2" x1="{low}" x2="{high}" '
            f'y1="{top + 13}" y2="{top + 13}"/>'
            f'<circle class="{row.colour}-fill" r="5" cx="{value}" cy="{top + 13}"/></g>'
        )
    described = "; ".join(f"{row.name} {row.text}" for row in rows)
    return figure("".join(parts), size=(width, frame.height), title=title, description=described)


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many values fell between each two edges, and what to call the values."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    name: str  # of the values: "weight"
    noun: str  # what was counted: "use"
    colour: str = "blue"
    mean: float | None = None

    @property
    def shares(self) -> list[float]:
        """The share of all values in each bin; none where there are no values."""
        total = sum(self.counts)
        return [count / total if total else 0.0 for count in self.counts]


def draw_histogram(
    histogram: Histogram, *, title: str, highest: float | None = None, x_title: str = ""
) -> str:
    """Draw the share of values in each bin, the mean as a dashed line.

    Give ``highest``, a share, to histograms that are to be compared.
    """
    edges, shares = histogram.edges, histogram.shares
    top = highest or max(shares, default=0.0) or 1.0
    ticks = (edges[0], (edges[0] + edges[-1]) / 2, edges[-1])
    across = Axis(edges[0], edges[-1], ticks, x_title, lambda value: f"{value:.3g}")
    up = Axis(0.0, top, (0.0, top), "", lambda share: percent(share, 0))
    below = 46 if x_title else 24
    frame = Frame(across, up, width=260, height=96 + below, left=40, right=12, top=10, bottom=below)
    parts = [frame.axes(), *(_bar(frame, histogram, place) for place in range(len(shares)))]
    if histogram.mean is not None:
        x, floor = frame.across(histogram.mean), frame.height - frame.bottom
        parts.append(f'<line class="ideal" x1="{x}" x2="{x}" y1="{frame.top}" y2="{floor}"/>')
    described = "; ".join(
        _tell_bar(histogram, place) for place, share in enumerate(shares) if share
    )
    return figure(
        "".join(parts), size=(frame.width, frame.height), title=title, description=described
    )


def _bar(frame: Frame, histogram: Histogram, place: int) -> str:
    share = histogram.shares[place]
    if not share:
        return ""
    left, right = frame.across(histogram.edges[place]), frame.across(histogram.edges[place + 1])
    floor, top = frame.height - frame.bottom, frame.down(share)
    return (
        f'<rect class="{histogram.colour}-fill" x="{left + 0.5:.2f}" y="{top:.2f}" '
        f'width="{max(right - left - 1, 0.5):.2f}" height="{max(floor - top, 0.75):.2f}" rx="1">'
        f"<title>{escape(_tell_bar(histogram, place))}</title></rect>"
    )


def _tell_bar(histogram: Histogram, place: int) -> str:
    low, high = histogram.edges[place], histogram.edges[place + 1]
    count = histogram.counts[place]
    noun = histogram.noun if count == 1 else histogram.noun + "s"
    share = two_digits(histogram.shares[place])
    return f"{histogram.name} {low:.3g} to {high:.3g}: {count:,} {noun}, {share}"
