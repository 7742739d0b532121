"""Draw where a captioner looked as a grid of pictures, one for each word, through matplotlib."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...errors import DataError
from ...files import write_file
from ...records.caption import Caption
from ..drawing.colours import LIGHT, hexadecimal
from ..drawing.pictures import Type, image_bytes, new_figure, require_format
from ..drawing.words import two_digits
from .words import LEVELS, levels, tell_looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["render", "write"]

# All lengths are in points, 72 to the inch.
_SIDE, _GAP, _NAME, _MARGIN = 110.0, 10.0, 18.0, 16.0
_ACROSS = 6  # pictures side by side
_DARKEST = 0.8


def write(caption: Caption, path: Path) -> None:
    """Write the picture to a file; the name's ending says the format."""
    write_file(path, render(caption, path.suffix.lstrip(".").lower()))


def render(caption: Caption, kind: str = "png") -> bytes:
    """Return the picture, then one for each word with what it did not look at under a veil."""
    require_format(kind, "a picture of a caption")
    if not caption.picture:
        raise DataError(f"the caption of {caption.name} does not hold its picture")
    from PIL import Image

    with Image.open(io.BytesIO(caption.picture)) as image:
        pixels = np.asarray(image.convert("RGB"))
    count = len(caption.words) + 1
    across, down = min(_ACROSS, count), -(-count // _ACROSS)
    high = _SIDE * caption.height / max(1, caption.width)
    width = 2 * _MARGIN + across * (_SIDE + _GAP) - _GAP
    height = 2 * _MARGIN + down * (high + _NAME + _GAP) + _NAME
    figure = new_figure(width, height)
    name = Path(caption.name).name
    style = Type.for_text(f"{name}{caption.text}{tell_looks(caption)}0123456789 %<>.…")
    shown = levels(caption.weights)
    for place in range(count):
        row, column = divmod(place, _ACROSS)
        left = _MARGIN + column * (_SIDE + _GAP)
        top = _MARGIN + _NAME + row * (high + _NAME + _GAP)
        box = (left / width, 1 - (top + high) / height, _SIDE / width, high / height)
        axes = figure.add_axes(box)
        axes.set_axis_off()
        axes.imshow(pixels, extent=(0, caption.columns, caption.rows, 0), aspect="auto")
        title = name
        if place:
            _draw_veil(axes, caption, shown[place - 1])
            peak = two_digits(float(caption.weights[place - 1].max()))
            title = f"{caption.words[place - 1]}  {peak}"
        axes.text(
            0,
            -0.02 * caption.rows,
            _fit(style.drawable(" ".join(title.split())), style),
            va="bottom",
            color=hexadecimal(LIGHT.ink if place else LIGHT.muted),
            fontproperties=style.properties(small=True, bold=bool(place)),
            parse_math=False,
        )
    figure.text(
        _MARGIN / width,
        (_MARGIN / 2) / height,
        tell_looks(caption),
        color=hexadecimal(LIGHT.muted),
        fontproperties=style.properties(small=True),
    )
    return image_bytes(figure, kind)


def _draw_veil(axes: Axes, caption: Caption, shades: np.ndarray) -> None:
    veil = np.zeros((caption.rows, caption.columns, 4))
    veil[..., 3] = _DARKEST * (1 - shades.reshape(caption.rows, caption.columns) / LEVELS)
    axes.imshow(veil, extent=(0, caption.columns, caption.rows, 0), aspect="auto")


def _fit(name: str, style: Type) -> str:
    """The name, cut where it is wider than a picture."""
    while name and style.width(name, small=True) > _SIDE:
        name = f"{name.removesuffix('…')[:-1]}…"
    return name
