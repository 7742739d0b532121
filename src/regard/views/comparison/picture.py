"""A comparison as an image, through matplotlib: what the page draws, in one file."""

from __future__ import annotations

from pathlib import Path

from ...files import write_file
from ...records.comparison import Comparison
from ..drawing.colours import LEVELS, LIGHT, hexadecimal, mix
from ..drawing.pictures import image_bytes, new_figure, require_format
from ..drawing.words import percent, points
from .layout import FONT, HEIGHT, WIDTH, Bubble, lay_out

__all__ = ["write_picture"]


def write_picture(comparison: Comparison, path: Path) -> None:
    """Write the picture; the name's ending says the format."""
    kind = path.suffix.lstrip(".").lower()
    require_format(kind, "the picture of a comparison")
    from matplotlib.axes import Axes

    layout, room = lay_out(comparison), 56
    frame = layout.frame
    figure = new_figure(WIDTH, HEIGHT + room)
    axes = Axes(figure, (0, 0, 1, 1))
    figure.add_axes(axes)
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(HEIGHT, -room)
    axes.set_axis_off()
    muted, line = hexadecimal(LIGHT.muted), hexadecimal(LIGHT.line)
    floor, wall = frame.height - frame.bottom, frame.width - frame.right
    for tick in frame.y.ticks:
        y = frame.down(tick)
        axes.plot([frame.left, wall], [y, y], color=line, linewidth=0.8, zorder=0)
        axes.text(frame.left - 8, y + 4, frame.y.text(tick), color=muted, ha="right", size=FONT - 2)
    for tick in frame.x.ticks:
        x, said = frame.across(tick), frame.x.text(tick)
        axes.text(x, floor + 16, said, color=muted, ha="center", size=FONT - 2)
    axes.plot([frame.left, wall], [floor, floor], color=muted, linewidth=0.8)
    middle = (frame.left + wall) / 2
    axes.text(middle, floor + 36, frame.x.title, color=muted, ha="center", size=FONT - 2)
    for bubble in layout.bubbles:
        _draw(axes, bubble)
    below = [f"far below: {one.title}, {percent(one.accuracy)}" for one in layout.below]
    title = f"Accuracy on {comparison.test_documents:,} documents of {comparison.data}"
    axes.text(frame.left, -34, title, size=FONT + 1, parse_math=False)
    told = [
        "larger: more memory",
        f"stronger: more faithful explanations, up to {points(layout.strongest)} points",
        "orange: regard's recipes",
        *below,
    ]
    axes.text(frame.left, -14, "; ".join(told), size=FONT - 3, color=muted, parse_math=False)
    write_file(path, image_bytes(figure, kind))


def _draw(axes: object, one: Bubble) -> None:
    from matplotlib.axes import Axes
    from matplotlib.patches import Circle

    assert isinstance(axes, Axes)
    muted = hexadecimal(LIGHT.muted)
    share = 0.0 if one.level is None else one.level / LEVELS
    axes.plot([one.x, one.x], [one.top, one.bottom], color=muted, linewidth=1, alpha=0.6, zorder=1)
    axes.add_patch(
        Circle(
            (one.x, one.y),
            one.radius,
            facecolor=hexadecimal(mix(LIGHT.paper, LIGHT.sentence, share)),
            edgecolor=hexadecimal(LIGHT.mark if one.standing.ours else LIGHT.muted),
            linewidth=2 if one.standing.ours else 0.9,
            linestyle="--" if one.level is None else "-",
            alpha=0.9,
            zorder=2,
        )
    )
    x, y = one.label
    if abs(y - one.y) > one.radius + 16:
        axes.plot([one.x, x], [one.y, y - 4], color=muted, linewidth=0.6, zorder=1)
    weight = "bold" if one.standing.ours else "normal"
    axes.text(x, y, one.standing.title, size=FONT - 1.5, weight=weight, zorder=3, parse_math=False)
