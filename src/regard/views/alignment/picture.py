"""Draw where a translator looked as a picture: PNG, SVG or PDF, through matplotlib."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...files import write_file
from ...records.alignment import Alignment
from ..drawing.colours import LEVELS, LIGHT, Colour, hexadecimal
from ..drawing.pictures import Type, image_bytes, new_figure, require_format
from ..drawing.wrapping import is_right_to_left, letters
from .words import SCALE, names, remark, tell_looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["render", "write"]

# All lengths are in points, 72 to the inch.
_MARGIN, _FOOT, _GAP = 16.0, 34.0, 6.0
_MIDDLE = "center_baseline"
_COUNTS, _BAR = 84.0, 42.0  # the column of the counts, and the longest bar in it
_LARGE, _SMALL = 20.0, 11.0  # how wide a cell is
_MOST_LARGE = 40  # pieces on a side; with more, cells are small and say no number
_LONGEST = 110.0  # a name


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where things stand: the corner of the matrix, the size of a cell and of the whole."""

    left: float
    top: float
    cell: float
    width: float
    height: float


def write(alignment: Alignment, path: Path) -> None:
    """Write the picture to a file; the name's ending says the format."""
    write_file(path, render(alignment, path.suffix.lstrip(".").lower()))


def render(alignment: Alignment, kind: str = "png") -> bytes:
    """Return the matrix in greys, as the bytes of a file: a row for each written piece."""
    require_format(kind, "a picture of an alignment")
    rows, columns = names(alignment.target_pieces), names(alignment.source_pieces)
    style = Type.for_text("".join((*rows, *columns, tell_looks(alignment), "0123456789…")))
    rows, columns = (tuple(_fit(name, style) for name in side) for side in (rows, columns))
    weights = alignment.weights
    if is_right_to_left(alignment.source):
        # What is read first stands at the right, as in the text.
        weights, columns = weights[:, ::-1], columns[::-1]
    layout = _layout(rows, columns, style)
    figure = new_figure(layout.width, layout.height)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    drawing = _Drawing(axes, style, layout)
    drawing.matrix(weights)
    drawing.heads(rows, columns)
    drawing.counts(alignment.effective_counts, len(columns))
    drawing.foot(f"{tell_looks(alignment)} {remark(alignment)}".rstrip())
    axes.set(xlim=(0, layout.width), ylim=(layout.height, 0), aspect="auto")
    return image_bytes(figure, kind)


class _Drawing:
    """Puts cells, names and bars on axes whose units are points, from the top left."""

    def __init__(self, axes: Axes, style: Type, layout: _Layout) -> None:
        self._axes = axes
        self._style = style
        self._at = layout

    def matrix(self, weights: NDArray[np.float32]) -> None:
        """Draw a grey for each weight, and its number where there is room."""
        if not weights.size:
            return
        at = self._at
        levels = np.vectorize(SCALE.level)(weights)
        greys = [LIGHT.panel, *(LIGHT.grey(level) for level in range(1, LEVELS + 1))]
        down, across = (np.arange(count + 1) * at.cell for count in weights.shape)
        # One mesh, since thousands of boxes would take seconds.
        self._axes.pcolormesh(
            at.left + across,
            at.top + down,
            np.array(greys, dtype=np.uint8)[levels],
            edgecolors=hexadecimal(LIGHT.paper),
            linewidth=1,
        )
        if at.cell < _LARGE:
            return
        for row, column in np.argwhere(levels).tolist():
            middle = (at.left + (column + 0.5) * at.cell, at.top + (row + 0.5) * at.cell)
            ink = LIGHT.ink_on(greys[levels[row, column]])
            self._text(f"{100 * weights[row, column]:.0f}", middle, ink, anchor=("center", _MIDDLE))

    def heads(self, rows: tuple[str, ...], columns: tuple[str, ...]) -> None:
        """Write what was written at the left, and the source above."""
        at = self._at
        for place, name in enumerate(rows):
            middle = at.top + (place + 0.5) * at.cell
            self._text(
                name, (at.left - _GAP, middle), LIGHT.ink, anchor=("right", _MIDDLE), head=True
            )
        for place, name in enumerate(columns):
            spot = (at.left + (place + 0.5) * at.cell, at.top - _GAP)
            self._upright(name, spot)

    def counts(self, counts: NDArray[np.float64], columns: int) -> None:
        """Draw how many pieces counted for each row: a number and a bar."""
        at = self._at
        right = at.left + columns * at.cell + 10
        if columns:
            self._text(
                "pieces that counted",
                (right, at.top - _GAP),
                LIGHT.muted,
                anchor=("left", "bottom"),
            )
        for place, count in enumerate(counts.tolist()):
            top = at.top + place * at.cell
            self._text(f"{count:.1f}", (right, top + at.cell / 2), LIGHT.muted)
            self._box(right + 24, top + at.cell / 2 - 3, (_BAR, 6.0), LIGHT.panel)
            length = _BAR * count / columns if columns else 0.0
            self._box(right + 24, top + at.cell / 2 - 3, (length, 6.0), LIGHT.sentence)

    def foot(self, said: str) -> None:
        """Write a sentence below."""
        self._text(said, (_MARGIN, self._at.height - _MARGIN), LIGHT.muted)

    def _upright(self, name: str, spot: tuple[float, float]) -> None:
        """Write the name of a column: turned, or letter below letter where that is usual."""
        stacked = _is_wide(name)
        self._axes.text(
            *spot,
            "\n".join(letters(name)) if stacked else name,
            rotation=0 if stacked else 90,
            ha="center",
            va="bottom",
            linespacing=1.05,
            color=hexadecimal(LIGHT.ink),
            fontproperties=self._style.properties(small=self._at.cell < _LARGE),
            parse_math=False,
        )

    def _text(
        self,
        text: str,
        spot: tuple[float, float],
        colour: Colour,
        *,
        anchor: tuple[str, str] = ("left", _MIDDLE),
        head: bool = False,
    ) -> None:
        self._axes.text(
            *spot,
            text,
            ha=anchor[0],
            va=anchor[1],
            color=hexadecimal(colour),
            fontproperties=self._style.properties(small=not head or self._at.cell < _LARGE),
            parse_math=False,
        )

    def _box(self, left: float, top: float, size: tuple[float, float], colour: Colour) -> None:
        from matplotlib.patches import Rectangle

        shape = Rectangle((left, top), *size, facecolor=hexadecimal(colour), linewidth=0)
        self._axes.add_patch(shape)


def _layout(rows: tuple[str, ...], columns: tuple[str, ...], style: Type) -> _Layout:
    cell = _LARGE if max(len(rows), len(columns)) <= _MOST_LARGE else _SMALL
    small = cell < _LARGE
    line = style.properties(small=small).get_size_in_points() * 1.45
    heights = [
        line * len(letters(name)) if _is_wide(name) else style.width(name, small=small)
        for name in columns
    ]
    left = _MARGIN + max((style.width(name, small=small) for name in rows), default=0) + _GAP
    top = _MARGIN + max(heights, default=0) + _GAP
    width = left + cell * len(columns) + 10 + _COUNTS + _MARGIN
    height = top + cell * len(rows) + _FOOT
    return _Layout(left, top, cell, max(width, 360.0), height)


def _is_wide(name: str) -> bool:
    """Whether a name has letters of Korean, Chinese or Japanese, which are written downwards."""
    return any(unicodedata.east_asian_width(letter) in ("W", "F") for letter in name)


def _fit(name: str, style: Type) -> str:
    """The name as it can be drawn, cut where it is long."""
    drawn = " ".join(style.drawable(name).split())
    while style.width(drawn) > _LONGEST:
        drawn = f"{drawn.removesuffix('…')[:-1]}…"
    return drawn
