"""Draw an explanation as a picture: PNG, SVG or PDF, through matplotlib."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

from ..errors import ConfigError, MissingExtra
from ..records.explanation import Decision, Explanation
from .colours import LIGHT
from .glyphs import Type
from .passages import Stretch, is_right_to_left, passages
from .picture import WIDTH, Block, Ink, Picture, height_of, room_for_text
from .scale import Scale
from .wrapping import Styled, broken

__all__ = ["FORMATS", "render", "write"]

FORMATS = ("png", "svg", "pdf")

_DOTS_PER_INCH = 160

# A picture is to be seen at a glance: of a longer text the heaviest sentences are drawn.
_MOST_LINES = 60


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
    figure = Figure(figsize=(WIDTH / 72, height_of(blocks) / 72), dpi=_DOTS_PER_INCH)
    Picture(figure, style, LIGHT).draw(explanation, decision, blocks)
    file = io.BytesIO()
    # A fixed salt and no date: the same explanation gives the same bytes. No hinting: text
    # is then as wide as it was measured.
    with matplotlib.rc_context({"svg.hashsalt": "regard", "text.hinting": "no_hinting"}):
        dated = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
        figure.savefig(file, format=kind, metadata=dated[kind], facecolor="white")
    return file.getvalue()


def _everything(explanation: Explanation, decision: Decision) -> str:
    return f"{explanation.source}{decision.label}{explanation.method}{explanation.true_labels}⋯"


def _blocks(explanation: Explanation, decision: Decision, style: Type) -> list[Block]:
    weights = decision.importance() or decision.level("word")
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
        lines = broken(map(inked, passage.stretches), room, style.width)
        text = "".join(stretch.text for stretch in passage.stretches)
        weight = 0.0
        if sentences is not None and passage.sentence is not None:
            weight = sentences.amounts[passage.sentence]
        found.append(Block(lines, passage.sentence, weight, is_right_to_left(text)))
    return found


def _shortened(blocks: list[Block]) -> list[Block]:
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
