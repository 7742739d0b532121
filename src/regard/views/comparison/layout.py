"""Where each model stands in the picture: the same for the page and for an image.

Across how many documents a second it answers, upwards how often it is right, as large as the memory
it takes, and as strong in colour as its explanations are faithful.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...records.comparison import Comparison, Standing
from ..drawing.charts import Axis, Frame
from ..drawing.colours import LEVELS
from ..drawing.words import percent
from .words import number

__all__ = ["FONT", "HEIGHT", "WIDTH", "Bubble", "Layout", "lay_out"]

WIDTH, HEIGHT = 900, 520
FONT = 12.0
_LETTER, _BOLD = 6.4, 7.2  # how wide a letter is, about
_SMALLEST, _LARGEST = 5.0, 26.0  # radius


@dataclass(frozen=True, slots=True)
class Bubble:
    """One model: a circle and its name."""

    standing: Standing
    x: float
    y: float
    top: float  # the ends of the interval of its accuracy
    bottom: float
    radius: float
    level: int | None  # of the colour, from 0 to ``LEVELS``; None: it explains nothing
    label: tuple[float, float]  # where the name begins, at its base line


@dataclass(frozen=True, slots=True)
class Layout:
    """All that is drawn."""

    frame: Frame
    bubbles: tuple[Bubble, ...]
    below: tuple[Standing, ...]  # too far below the others to be drawn
    strongest: float  # the faithfulness of the strongest colour


def lay_out(comparison: Comparison) -> Layout:
    """Place every model, and its name where it covers nothing."""
    shown, below = _shown(comparison.standings)
    frame = Frame(
        x=_speeds([one.documents_per_second for one in shown]),
        y=_accuracies(shown),
        width=WIDTH,
        height=HEIGHT,
        left=64,
        right=24,
        top=24,
        bottom=52,
    )
    largest = max((one.peak_bytes or 0 for one in shown), default=0)
    leads = [one.faithfulness.lead for one in shown if one.faithfulness]
    strongest = max([0.01, *leads])
    circles = [_circle(frame, one, largest, strongest) for one in shown]
    return Layout(frame, tuple(_named(frame, circles)), below, strongest)


def _shown(standings: Sequence[Standing]) -> tuple[list[Standing], tuple[Standing, ...]]:
    """Leave out the few that are so far below that all others would be drawn on one line."""
    ordered = sorted(standings, key=lambda one: -one.accuracy)
    fewest = max(1, len(ordered) - max(1, len(ordered) // 6))
    for count in range(len(ordered) - 1, fewest - 1, -1):
        kept, next_one = ordered[:count], ordered[count]
        spread = max(kept[0].accuracy - kept[-1].accuracy, 0.02)
        if kept[-1].accuracy - next_one.accuracy > 1.5 * spread:
            return kept, tuple(ordered[count:])
    return ordered, ()


def _speeds(values: Sequence[float]) -> Axis:
    """A logarithmic axis; its marks are 1, 2 and 5 times the powers of ten."""
    logs = [math.log10(value) for value in values]
    low, high = min(logs) - 0.12, max(logs) + 0.3  # names stand at the right
    ticks = [
        power + step
        for power in range(math.floor(low), math.ceil(high) + 1)
        for step in (0.0, math.log10(2), math.log10(5))
        if low <= power + step <= high
    ]
    if len(ticks) > 8:
        ticks = [tick for tick in ticks if abs(tick - round(tick)) < 1e-9]
    return Axis(
        low, high, tuple(ticks), "documents a second, logarithmic", lambda tick: number(10**tick)
    )


def _accuracies(shown: Sequence[Standing]) -> Axis:
    ends = [end for one in shown for end in (one.interval.low, one.interval.high)]
    values = [*ends, *(one.accuracy for one in shown)]
    return Axis.around(values, "accuracy", lambda share: percent(share, 1))


def _circle(frame: Frame, one: Standing, largest: int, strongest: float) -> Bubble:
    share = (one.peak_bytes or 0) / largest if largest else 0.0
    level = None
    if one.faithfulness is not None:
        level = round(LEVELS * min(max(one.faithfulness.lead / strongest, 0.0), 1.0))
    return Bubble(
        standing=one,
        x=frame.across(math.log10(one.documents_per_second)),
        y=frame.down(one.accuracy),
        top=frame.down(one.interval.high),
        bottom=frame.down(one.interval.low),
        radius=_SMALLEST + (_LARGEST - _SMALLEST) * math.sqrt(share),
        level=level,
        label=(0.0, 0.0),
    )


Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""


def _named(frame: Frame, circles: Sequence[Bubble]) -> Iterator[Bubble]:
    """Give each circle a place for its name, the nearest that is free."""
    taken: list[Box] = [
        (one.x - one.radius, one.y - one.radius, one.x + one.radius, one.y + one.radius)
        for one in circles
    ]
    for one in circles:
        place = min(_places(frame, one), key=lambda box: _cost(box, taken, one))
        taken.append(place)
        yield Bubble(
            one.standing,
            one.x,
            one.y,
            one.top,
            one.bottom,
            one.radius,
            one.level,
            (place[0], place[3] - 3),
        )


def _places(frame: Frame, one: Bubble) -> Iterator[Box]:
    """Where a name could stand: at the right, at the left, above, below, and further away."""
    letter = _BOLD if one.standing.ours else _LETTER
    width, height = letter * len(one.standing.title), FONT + 3
    for step in range(9):
        for sign in (1, -1) if step else (1,):
            middle = one.y + sign * step * height
            gap = one.radius + 5
            for left in (one.x + gap, one.x - gap - width, one.x - width / 2):
                if left == one.x - width / 2 and step * height < one.radius + height:
                    continue
                box = (left, middle - height / 2, left + width, middle + height / 2)
                inside = box[0] >= frame.left and box[2] <= frame.width - 4
                if inside and frame.top - 10 <= box[1] and box[3] <= frame.height - frame.bottom:
                    yield box


def _cost(box: Box, taken: Sequence[Box], one: Bubble) -> float:
    """How bad a place is: what it covers counts most, then how far away it is."""
    covered = sum(
        max(0.0, min(box[2], other[2]) - max(box[0], other[0]))
        * max(0.0, min(box[3], other[3]) - max(box[1], other[1]))
        for other in taken
    )
    away = abs((box[1] + box[3]) / 2 - one.y) + 0.2 * (box[0] < one.x)
    return 100 * covered + away
