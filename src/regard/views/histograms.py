"""Histograms as small inline SVG."""

from __future__ import annotations

from dataclasses import dataclass

from .charts import Axis, Frame, figure
from .drawing.words import percent, two_digits
from .page import escaped

__all__ = ["Histogram", "draw_histogram"]


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
    described = "; ".join(_told(histogram, place) for place, share in enumerate(shares) if share)
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
        f"<title>{escaped(_told(histogram, place))}</title></rect>"
    )


def _told(histogram: Histogram, place: int) -> str:
    low, high = histogram.edges[place], histogram.edges[place + 1]
    count = histogram.counts[place]
    noun = histogram.noun if count == 1 else histogram.noun + "s"
    share = two_digits(histogram.shares[place])
    return f"{histogram.name} {low:.3g} to {high:.3g}: {count:,} {noun}, {share}"
