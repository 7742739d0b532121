"""Draw an explanation as a picture: PNG, SVG or PDF, through matplotlib."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConfigError, MissingExtra
from ..records.explanation import Decision, Explanation
from .colours import LIGHT, Colour, Theme
from .glyphs import Type
from .passages import Stretch, is_right_to_left, passages
from .scale import Scale
from .summary import spread
from .wrapping import Styled, broken

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "render", "write"]

FORMATS = ("png", "svg", "pdf")

# All lengths are in points, 72 to the inch.
_WIDTH, _MARGIN, _GUTTER, _LINE, _HEAD = 620.0, 22.0, 78.0, 18.0, 44.0
_BAR_WIDTH, _BAR_HEIGHT = 36.0, 10.0
_DOTS_PER_INCH = 160

# A picture is to be seen at a glance: of a longer text the heaviest sentences are drawn.
_MOST_LINES = 60


@dataclass(frozen=True, slots=True)
class _Ink:
    """How a run of text looks."""

    level: int = 0
    against: bool = False
    unknown: bool = False
    pale: bool = False


@dataclass(frozen=True, slots=True)
class _Block:
    """The lines of one passage, with the weight beside them."""

    lines: list[list[Styled[_Ink]]]
    sentence: int | None
    weight: float
    right_to_left: bool


def write(explanation: Explanation, path: Path) -> None:
    """Write the picture to a file; the name's ending says the format."""
    kind = path.suffix.lstrip(".").lower()
    path.write_bytes(render(explanation, kind))


def render(explanation: Explanation, kind: str = "png") -> bytes:
    """Return the picture of the first decision as the bytes of a file."""
    if kind not in FORMATS:
        raise ConfigError(f"a picture cannot be {kind or 'without format'!r}; use png, svg or pdf")
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as problem:
        raise MissingExtra("matplotlib", "plots", "a picture of an explanation") from problem
    decision = explanation.decisions[0]
    style = Type.for_text(_everything(explanation, decision))
    blocks = _shortened(_blocks(explanation, decision, style))
    line_count = sum(len(block.lines) for block in blocks)
    height = 2 * _MARGIN + _HEAD + line_count * _LINE
    figure = Figure(figsize=(_WIDTH / 72, height / 72), dpi=_DOTS_PER_INCH)
    _Picture(figure, style, LIGHT).draw(explanation, decision, blocks)
    file = io.BytesIO()
    # A fixed salt and no date: the same explanation gives the same bytes.
    with matplotlib.rc_context({"svg.hashsalt": "regard"}):
        dated = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
        figure.savefig(file, format=kind, metadata=dated[kind], facecolor="white")
    return file.getvalue()


def _everything(explanation: Explanation, decision: Decision) -> str:
    return f"{explanation.source}{decision.label}{explanation.method}⋯%.,"


def _blocks(explanation: Explanation, decision: Decision, style: Type) -> list[_Block]:
    weights = decision.importance() or decision.level("word")
    sentences = decision.level("sentence")
    scale = Scale.of(weights) if weights is not None else Scale(0.0)
    values = weights.values if weights is not None else ()

    def inked(stretch: Stretch) -> Styled[_Ink]:
        value = values[stretch.word] if stretch.word is not None else 0.0
        pale = stretch.kind in ("tag", "unread")
        ink = _Ink(scale.level(value), value < 0, stretch.unknown, pale)
        return Styled(style.drawable(stretch.text), ink)

    room = _WIDTH - 2 * _MARGIN - (_GUTTER if sentences is not None else 0.0)
    found: list[_Block] = []
    for passage in passages(explanation, decision):
        lines = broken(map(inked, passage.stretches), room, style.width)
        text = "".join(stretch.text for stretch in passage.stretches)
        weight = 0.0
        if sentences is not None and passage.sentence is not None:
            weight = sentences.values[passage.sentence]
        found.append(_Block(lines, passage.sentence, weight, is_right_to_left(text)))
    return found


def _shortened(blocks: list[_Block]) -> list[_Block]:
    """Leave out the lightest passages of a long text, with a mark where some are missing."""
    if sum(len(block.lines) for block in blocks) <= _MOST_LINES:
        return blocks
    kept: set[int] = set()
    used = 0
    for place in sorted(range(len(blocks)), key=lambda place: -abs(blocks[place].weight)):
        used += len(blocks[place].lines) + 1
        if used > _MOST_LINES and kept:
            break
        kept.add(place)
    gap = _Block([[Styled("⋯", _Ink(pale=True))]], None, 0.0, False)
    found: list[_Block] = []
    for place, block in enumerate(blocks):
        if place in kept:
            lines = block.lines[:_MOST_LINES]
            found.append(_Block(lines, block.sentence, block.weight, block.right_to_left))
        elif not found or found[-1] is not gap:
            found.append(gap)
    return found


class _Picture:
    """Puts text and boxes on a figure, from the top down."""

    def __init__(self, figure: Figure, style: Type, theme: Theme) -> None:
        self._figure = figure
        self._style = style
        self._theme = theme
        self._width, self._height = (72 * size for size in figure.get_size_inches())
        self._top = _MARGIN

    def draw(self, explanation: Explanation, decision: Decision, blocks: list[_Block]) -> None:
        self._headline(explanation, decision)
        sentences = decision.level("sentence")
        left = _MARGIN + (_GUTTER if sentences is not None else 0.0)
        for block in blocks:
            if sentences is not None and block.sentence is not None:
                self._bar(block.weight, Scale.of_sentences(sentences))
            for line in block.lines:
                self._line(line, left, right_to_left=block.right_to_left)
                self._top += _LINE

    def _headline(self, explanation: Explanation, decision: Decision) -> None:
        label = self._style.drawable(" ".join(str(decision.label).split()))[:60]
        self._write(label, _MARGIN, self._theme.ink, bold=True)
        said = f"{100 * decision.probability:.1f} %   by {explanation.method}"
        place = _MARGIN + self._style.width(label, bold=True) + 8
        self._write(said, place, self._theme.muted)
        self._top += _LINE
        self._write(spread(decision), _MARGIN, self._theme.muted)
        self._top += _HEAD - _LINE

    def _bar(self, weight: float, scale: Scale) -> None:
        right = _MARGIN + _GUTTER - 10
        middle = self._top + _LINE / 2 - _BAR_HEIGHT / 2
        length = _BAR_WIDTH * scale.length(weight)
        hue = self._theme.against if weight < 0 else self._theme.sentence
        self._box(right - _BAR_WIDTH, middle, (_BAR_WIDTH, _BAR_HEIGHT), self._theme.panel)
        self._box(right - length, middle, (length, _BAR_HEIGHT), hue)
        said = scale.text(weight)
        place = right - _BAR_WIDTH - 5 - self._style.width(said, small=True)
        self._write(said, place, self._theme.muted, small=True)

    def _line(self, line: list[Styled[_Ink]], left: float, *, right_to_left: bool) -> None:
        place = self._width - _MARGIN if right_to_left else left
        for run in _runs(line):
            size = self._style.width(run.text)
            start = place - size if right_to_left else place
            self._run(run, start, size)
            place = start if right_to_left else place + size

    def _run(self, run: Styled[_Ink], start: float, size: float) -> None:
        ink = run.style
        colour = self._theme.muted if ink.pale else self._theme.ink
        if ink.level:
            shade = self._theme.shade(ink.level, against=ink.against)
            self._box(start - 1, self._top + 2, (size + 2, _LINE - 4), shade)
            colour = self._theme.ink_on(shade)
        if ink.unknown:
            self._box(start, self._top + _LINE - 3.6, (size, 0.8), self._theme.muted)
        self._write(run.text, start, colour)

    def _box(self, left: float, top: float, size: tuple[float, float], colour: Colour) -> None:
        from matplotlib.patches import Rectangle

        corner = (left / self._width, 1 - (top + size[1]) / self._height)
        box = Rectangle(
            corner,
            size[0] / self._width,
            size[1] / self._height,
            transform=self._figure.transFigure,
            facecolor=[part / 255 for part in colour],
            linewidth=0,
        )
        self._figure.add_artist(box)

    def _write(
        self, text: str, left: float, colour: Colour, *, bold: bool = False, small: bool = False
    ) -> None:
        if not text.strip():
            return
        self._figure.text(
            left / self._width,
            1 - (self._top + _LINE * 0.72) / self._height,
            text,
            fontproperties=self._style.properties(bold=bold, small=small),
            color=[part / 255 for part in colour],
            parse_math=False,
        )


def _runs(line: list[Styled[_Ink]]) -> list[Styled[_Ink]]:
    """Join neighbours that look alike, since each text drawn costs time."""
    runs: list[Styled[_Ink]] = []
    for part in line:
        plain = not part.text.strip() and runs and not runs[-1].style.level
        if runs and (runs[-1].style == part.style or plain) and not part.style.level:
            runs[-1] = Styled(runs[-1].text + part.text, runs[-1].style)
        else:
            runs.append(part)
    return runs
