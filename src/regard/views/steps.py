"""The weight of each step of a series as bars: inline SVG, or a picture through matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ..errors import DataError
from ..files import write_file
from .charts import Axis, Frame, figure
from .colours import LIGHT, Colour, hexadecimal
from .glyphs import Type
from .images import image_bytes, new_figure, require_format
from .page import escaped
from .scale import percent

__all__ = ["StepWeights", "draw", "render", "write"]

_MOST_NAMES = 24  # below the bars; of more every second, third, ... is written


@dataclass(frozen=True, slots=True)
class StepWeights:
    """What to draw: of each step its name, and its weight in the mean over some series."""

    names: tuple[str, ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]  # from series to series; zeros where there is only one
    series: int = 1
    mark: int | None = None  # the step to point out, such as the one that holds the answer

    @classmethod
    def of(
        cls,
        weights: ArrayLike,
        names: Sequence[object] | None = None,
        *,
        mark: int | None = None,
    ) -> StepWeights:
        """Average weights of shape (steps,) or (series, steps); steps are counted from 0."""
        rows = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
            raise DataError(
                f"weights of shape {np.shape(weights)} cannot be drawn; "
                "give finite numbers, (steps,) or (series, steps)"
            )
        count = rows.shape[1]
        named = tuple(map(str, range(count) if names is None else names))
        if len(named) != count:
            raise DataError(f"{len(named)} names do not fit {count} steps")
        if mark is not None and not 0 <= mark < count:
            raise DataError(f"there is no step {mark} among {count}; they are counted from 0")
        means, deviations = rows.mean(0).tolist(), rows.std(0).tolist()
        return cls(named, tuple(means), tuple(deviations), len(rows), mark)

    @property
    def shown_names(self) -> list[tuple[int, str]]:
        """The steps whose names are written: all, or every so manyth, and the marked one."""
        every = -(-len(self.names) // _MOST_NAMES)
        chosen = set(range(0, len(self.names), every))
        if self.mark is not None and self.mark not in chosen:
            # A neighbour's name would run into that of the marked step.
            chosen = {place for place in chosen if abs(place - self.mark) >= every}
            chosen.add(self.mark)
        return [(place, self.names[place]) for place in sorted(chosen)]

    def told(self, place: int) -> str:
        """Say one step in words."""
        spread = self.deviations[place]
        more = f" ± {percent(spread)}" if self.series > 1 else ""
        return f"step {self.names[place]}: {percent(self.means[place])}{more}"


def draw(steps: StepWeights, *, title: str) -> str:
    """Return the bars as SVG to stand in a page with the styles of the charts.

    Thin lines are the deviation from series to series, the dashed line is the even share.
    """
    frame = _frame(steps)
    floor, even = frame.height - frame.bottom, frame.down(1 / len(steps.means))
    parts = [frame.axes()]
    parts += [_bar(frame, steps, place) for place in range(len(steps.means))]
    parts += [
        f'<text x="{frame.across(place + 0.5)}" y="{floor + 18}" text-anchor="middle">'
        f"{escaped(name)}</text>"
        for place, name in steps.shown_names
    ]
    parts.append(
        f'<line class="ideal" x1="{frame.left}" x2="{frame.width - frame.right}" '
        f'y1="{even}" y2="{even}"/>'
    )
    described = "; ".join(map(steps.told, range(len(steps.means))))
    return figure(
        "".join(parts), size=(frame.width, frame.height), title=title, description=described
    )


def write(steps: StepWeights, path: Path, *, title: str) -> None:
    """Write the picture to a file; the name's ending says the format."""
    write_file(path, render(steps, path.suffix.lstrip(".").lower(), title=title))


def render(steps: StepWeights, kind: str = "png", *, title: str) -> bytes:
    """Return the bars as the bytes of a picture: png, svg or pdf."""
    require_format(kind, "a picture of weights")
    style = Type.for_text("".join((title, *steps.names, "0123456789 %.±")))
    canvas = new_figure(460, 270)
    axes = canvas.add_axes((0.12, 0.2, 0.85, 0.66))
    places = np.arange(len(steps.means))
    colours = [_unit(LIGHT.word if place == steps.mark else LIGHT.sentence) for place in places]
    axes.bar(places, steps.means, color=colours, width=0.8)
    if steps.series > 1:
        axes.vlines(places, *_ends(steps), color=_unit(LIGHT.muted), linewidth=0.8)
    axes.axhline(1 / len(places), color=_unit(LIGHT.muted), linewidth=0.8, linestyle=(0, (4, 4)))
    small, muted = style.properties(small=True), hexadecimal(LIGHT.muted)
    shown = steps.shown_names
    names = [style.drawable(name) for _, name in shown]
    axes.set_xticks([place for place, _ in shown], names, fontproperties=small, color=muted)
    for label in axes.get_xticklabels():
        label.set_parse_math(False)
    ticks = _frame(steps).y.ticks
    axes.set_yticks(ticks, [percent(tick) for tick in ticks], fontproperties=small, color=muted)
    axes.set_xlabel(_below(steps), fontproperties=small, color=muted)
    axes.set_xlim(-0.6, len(places) - 0.4)
    axes.set_ylim(0, ticks[-1])
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(length=0)
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=hexadecimal(LIGHT.line), linewidth=0.6)
    title_type = style.properties(bold=True)
    canvas.text(0.02, 0.93, style.drawable(title), fontproperties=title_type, parse_math=False)
    return image_bytes(canvas, kind)


def _frame(steps: StepWeights) -> Frame:
    highest = max((*_ends(steps)[1], 1 / len(steps.means)))
    up = Axis.around([0.0, highest], "Weight", percent)
    across = Axis(0, len(steps.means), (), _below(steps))
    return Frame(across, up, width=560, height=280)


def _below(steps: StepWeights) -> str:
    return "Step" if steps.series == 1 else f"Step; mean of {steps.series:,} series"


def _ends(steps: StepWeights) -> tuple[list[float], list[float]]:
    """Where the line of each step's deviation begins and ends; no weight is below zero."""
    pairs = list(zip(steps.means, steps.deviations, strict=True))
    return [max(0.0, mean - spread) for mean, spread in pairs], [m + s for m, s in pairs]


def _bar(frame: Frame, steps: StepWeights, place: int) -> str:
    left, right = frame.across(place + 0.1), frame.across(place + 0.9)
    floor, top = frame.height - frame.bottom, frame.down(steps.means[place])
    colour = "orange" if place == steps.mark else "blue"
    line = ""
    if steps.series > 1:
        middle = frame.across(place + 0.5)
        low, high = (frame.down(ends[place]) for ends in _ends(steps))
        line = f'<line class="grey" x1="{middle}" x2="{middle}" y1="{low}" y2="{high}"/>'
    return (
        f"<g><title>{escaped(steps.told(place))}</title>"
        f'<rect class="{colour}-fill" x="{left}" y="{top}" width="{right - left:.2f}" '
        f'height="{max(floor - top, 0.5):.2f}" rx="1"/>{line}</g>'
    )


def _unit(colour: Colour) -> tuple[float, ...]:
    return tuple(part / 255 for part in colour)
