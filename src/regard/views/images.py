"""Pictures as files: which formats there are, and the bytes of a figure in one of them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from ..errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "image_bytes", "new_figure", "require_format"]

FORMATS = ("png", "svg", "pdf")

_DOTS_PER_INCH = 160


def require_format(kind: str, purpose: str) -> None:
    """Raise unless such a picture can be made here; ``purpose`` says what for."""
    if kind not in FORMATS:
        raise ConfigError(f"a picture cannot be {kind or 'without format'!r}; use png, svg or pdf")
    try:
        import matplotlib  # noqa: F401
    except ImportError as problem:
        raise MissingExtra("matplotlib", "plots", purpose) from problem


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of so many points, 72 to the inch; nothing global is touched."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width / 72, height / 72), dpi=_DOTS_PER_INCH)


def image_bytes(figure: Figure, kind: str) -> bytes:
    """Return the figure as the bytes of a file; the same figure always gives the same."""
    import matplotlib

    file = io.BytesIO()
    # A fixed salt and no date: the same picture gives the same bytes. No hinting: text is then
    # as wide as it was measured.
    with matplotlib.rc_context({"svg.hashsalt": "regard", "text.hinting": "no_hinting"}):
        dated = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
        figure.savefig(file, format=kind, metadata=dated[kind], facecolor="white")
    return file.getvalue()
