"""Pictures through matplotlib: formats, the bytes of a figure, and fonts for any text."""

from __future__ import annotations

import io
import unicodedata
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from ...errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

__all__ = ["FORMATS", "Type", "image_bytes", "new_figure", "require_format"]

_SIZE, _SMALL = 10.5, 8.0

# Comes with matplotlib, so it is always there.
_FIRST = "DejaVu Sans"

# Asked in this order for what the first font lacks; few of them are on any one machine.
_OTHERS = (
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans CJK KR",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "PingFang SC",
    "Hiragino Sans",
    "Apple SD Gothic Neo",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "NanumGothic",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Arial Unicode MS",
    "Segoe UI Symbol",
    "Noto Emoji",
)

_USUAL = ("normal", 400)
_NO_GLYPH = "\u25a1"  # an empty box


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """The fonts chosen for one picture."""

    families: tuple[str, ...]
    drawn: frozenset[int]  # the code points of the text that one of them can draw
    _widths: dict[tuple[str, bool, bool], float] = field(default_factory=dict)

    @classmethod
    def for_text(cls, text: str) -> Type:
        """Choose the fonts that draw as much of the text as can be drawn on this machine."""
        from matplotlib.font_manager import fontManager

        missing = {ord(letter) for letter in text} | {ord(_NO_GLYPH)}
        # Of a family the upright face of usual weight is asked: others may lack whole scripts.
        faces = sorted(fontManager.ttflist, key=lambda face: (face.style, face.weight) == _USUAL)
        installed = {face.name: face.fname for face in faces}
        families: list[str] = []
        drawn: set[int] = set()
        for family in (_FIRST, *_OTHERS):
            if family in installed and missing:
                found = missing & _code_points(installed[family])
                if found:
                    families.append(family)
                    drawn |= found
                    missing -= found
        return cls(tuple(families), frozenset(drawn))

    def drawable(self, text: str) -> str:
        """The text with an empty box for each letter that no font can draw."""
        return "".join(
            letter if letter in "\n\t " or ord(letter) in self.drawn else _replacement(letter)
            for letter in text
        )

    def properties(self, *, bold: bool = False, small: bool = False) -> FontProperties:
        """The fonts as matplotlib wants them."""
        from matplotlib.font_manager import FontProperties

        return FontProperties(
            family=list(self.families),
            size=_SMALL if small else _SIZE,
            weight="bold" if bold else "normal",
        )

    def width(self, text: str, *, bold: bool = False, small: bool = False) -> float:
        """How wide the text gets, in points."""
        key = (text, bold, small)
        if key not in self._widths:
            from matplotlib.textpath import text_to_path

            properties = self.properties(bold=bold, small=small)
            self._widths[key] = text_to_path.get_text_width_height_descent(
                text, properties, ismath=False
            )[0]
        return self._widths[key]


def _replacement(letter: str) -> str:
    """Nothing for what cannot be seen, such as joiners; a space for spaces; else a box."""
    if letter.isspace():
        return "\n" if letter in "\r\v\f\x85\u2028\u2029" else " "
    return "" if unicodedata.category(letter) in ("Cc", "Cf", "Mn", "Me") else _NO_GLYPH


@cache
def _code_points(path: str) -> frozenset[int]:
    from matplotlib.font_manager import get_font

    return frozenset(get_font(path).get_charmap())


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
