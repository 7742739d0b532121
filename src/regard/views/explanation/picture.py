"""Draw an explanation as a picture: PNG, SVG or PDF, through matplotlib."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...files import write_file
from ...records.explanation import Decision, Explanation
from ..drawing.colours import LIGHT, Colour, Scale, Theme
from ..drawing.pictures import Type, image_bytes, new_figure, require_format
from ..drawing.words import percent
from ..drawing.wrapping import Styled, break_lines, is_right_to_left
from .passages import Stretch, passages, unit_of
from .receipt import conclusion
from .words import is_answer, tell_answer, tell_finding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["WIDTH", "Block", "Ink", "Picture", "height_of", "render", "room_for_text", "write"]

# A picture is to be seen at a glance: of a longer text those sentences are drawn that count most,
# for the label or against it.
_MOST_LINES = 60


def write(explanation: Explanation, path: Path) -> None:
    """Write the picture to a file; the name's ending says the format."""
    kind = path.suffix.lstrip(".").lower()
    write_file(path, render(explanation, kind))


def render(explanation: Explanation, kind: str = "png") -> bytes:
    """Return the picture of the first decision as the bytes of a file."""
    require_format(kind, "a picture of an explanation")
    decision = explanation.decisions[0]
    style = Type.for_text(_everything(explanation, decision))
    blocks = _shorten(_blocks(explanation, decision, style))
    figure = new_figure(WIDTH, height_of(blocks) + _LINE * _has_long_legend(decision))
    Picture(figure, style, LIGHT).draw(explanation, decision, blocks)
    return image_bytes(figure, kind)


def _everything(explanation: Explanation, decision: Decision) -> str:
    return f"{explanation.source}{decision.label}{explanation.method}{explanation.true_labels}⋯"


def _blocks(explanation: Explanation, decision: Decision, style: Type) -> list[Block]:
    weights = decision.words
    sentences = decision.level("sentence")
    scale = Scale.of(weights)
    values = weights.amounts if weights is not None else ()

    def inked(stretch: Stretch) -> Styled[Ink]:
        value = values[stretch.word] if stretch.word is not None else 0.0
        pale = stretch.kind in ("tag", "unread")
        ink = Ink(scale.level(value), value < 0, stretch.unknown, pale)
        return Styled(style.drawable(stretch.text), ink)

    room = room_for_text(decision)
    found: list[Block] = []
    for passage in passages(explanation, decision):
        lines = break_lines(map(inked, passage.stretches), room, style.width)
        text = "".join(stretch.text for stretch in passage.stretches)
        weight = 0.0
        if sentences is not None and passage.sentence is not None:
            weight = sentences.amounts[passage.sentence]
        found.append(Block(lines, passage.sentence, weight, is_right_to_left(text)))
    return found


def _shorten(blocks: list[Block]) -> list[Block]:
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
    dots = [Styled("⋯", Ink(pale=True))]
    gap = Block([dots], None, 0.0, False)
    found: list[Block] = []
    for place, block in enumerate(blocks):
        if place in kept:
            left_out = [dots] * (len(block.lines) > _MOST_LINES)
            found.append(replace(block, lines=block.lines[:_MOST_LINES] + left_out))
        elif not found or found[-1] is not gap:
            found.append(gap)
    return found


# All lengths are in points, 72 to the inch.
WIDTH = 620.0
_MARGIN, _GUTTER, _LINE, _HEAD, _FOOT = 22.0, 78.0, 18.0, 44.0, 30.0
_BAR_WIDTH, _BAR_HEIGHT = 36.0, 10.0


@dataclass(frozen=True, slots=True)
class Ink:
    """How a run of text looks."""

    level: int = 0
    against: bool = False
    unknown: bool = False
    pale: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of one passage, with the weight beside them."""

    lines: list[list[Styled[Ink]]]
    sentence: int | None
    weight: float
    right_to_left: bool


def room_for_text(decision: Decision) -> float:
    """How wide a line of text may be."""
    return WIDTH - 2 * _MARGIN - (_GUTTER if decision.level("sentence") is not None else 0.0)


def height_of(blocks: list[Block]) -> float:
    """How high a picture of these blocks is."""
    return 2 * _MARGIN + _HEAD + _FOOT + _LINE * sum(len(block.lines) for block in blocks)


def _has_long_legend(decision: Decision) -> bool:
    """Whether what words and sentences mean needs a line each: scores have longer names."""
    words, sentences = decision.words, decision.level("sentence")
    return sentences is not None and words is not None and words.scores is not None


class Picture:
    """Puts text and boxes on a figure, from the top down."""

    def __init__(self, figure: Figure, style: Type, theme: Theme) -> None:
        self._figure = figure
        self._style = style
        self._theme = theme
        self._width, self._height = (72 * size for size in figure.get_size_inches())
        self._top = _MARGIN

    def draw(self, explanation: Explanation, decision: Decision, blocks: list[Block]) -> None:
        """Draw the answer, the lines and the legend."""
        self._headline(explanation, decision)
        sentences = decision.level("sentence")
        left = _MARGIN + (_GUTTER if sentences is not None else 0.0)
        for block in blocks:
            if sentences is not None and block.sentence is not None:
                self._bar(block.weight, Scale.of_sentences(sentences))
            for line in block.lines:
                self._line(line, left, right_to_left=block.right_to_left)
                self._top += _LINE
        self._legend(explanation, decision)

    def _headline(self, explanation: Explanation, decision: Decision) -> None:
        label = self._style.drawable(" ".join(str(decision.label).split()))[:60]
        said = f"{percent(decision.probability)}   explained by {explanation.method}"
        if tell_answer(explanation):
            label, said = "no label", f"{label} {said}"
        self._write(label, _MARGIN, self._theme.ink, bold=True)
        if explanation.true_labels is not None:
            truth = " ".join(", ".join(map(str, explanation.true_labels)).split()) or "none"
            said += f"   true label {self._style.drawable(truth)[:60]}"
        place = _MARGIN + self._style.width(label, bold=True) + 8
        self._write(said, place, self._theme.muted)
        self._top += _LINE
        said = tell_finding(explanation, decision)
        if decision.receipt is not None:
            # The line above names the label, and one of any length would not fit here.
            named = "the answer" if is_answer(explanation, decision) else "this label"
            said = conclusion(decision.receipt, named)
        self._write(said, _MARGIN, self._theme.muted)
        self._top += _HEAD - _LINE

    def _legend(self, explanation: Explanation, decision: Decision) -> None:
        self._top += _FOOT - _LINE
        place = _MARGIN
        weights = decision.words
        if weights is not None:
            scale = Scale.of(weights)
            for level, sign in scale.swatches():
                said = scale.text(sign * scale.value_at(level))
                size = self._style.width(said, small=True)
                shade = self._theme.shade(level, against=sign < 0)
                self._box(place, self._top + 2, (size + 8, _LINE - 4), shade)
                self._write(said, place + 4, self._theme.ink_on(shade), small=True)
                place += size + 9
            said = f"share of the {weights.by}" if weights.scores is None else unit_of(weights)
            place = self._remark(f"word, {said}", place + 4)
        if _has_long_legend(decision):
            place = _MARGIN
            self._top += _LINE
        if decision.level("sentence") is not None:
            self._box(place, self._top + 4, (16.0, _BAR_HEIGHT), self._theme.sentence)
            said = unit_of(decision.level("sentence"))
            place = self._remark(f"sentence, {said}", place + 21)
        if explanation.unknown:
            size = self._style.width("word", small=True)
            self._box(place, self._top + _LINE - 3.6, (size, 0.8), self._theme.muted)
            place = self._remark("word", place) - 10
            self._remark("not in the vocabulary", place)

    def _remark(self, text: str, place: float) -> float:
        """Write small text; return where the next may stand."""
        self._write(text, place, self._theme.muted, small=True)
        return place + self._style.width(text, small=True) + 14

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

    def _line(self, line: list[Styled[Ink]], left: float, *, right_to_left: bool) -> None:
        place = self._width - _MARGIN if right_to_left else left
        for run in _runs(line):
            size = self._style.width(run.text)
            start = place - size if right_to_left else place
            self._run(run, start, size)
            place = start if right_to_left else place + size

    def _run(self, run: Styled[Ink], start: float, size: float) -> None:
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


def _runs(line: list[Styled[Ink]]) -> list[Styled[Ink]]:
    """Join neighbours that look alike, since each text drawn costs time."""
    runs: list[Styled[Ink]] = []
    for part in line:
        if runs and runs[-1].style == part.style and not part.style.level:
            runs[-1] = Styled(runs[-1].text + part.text, runs[-1].style)
        else:
            runs.append(part)
    return runs
