"""Draw an explanation as a picture: PNG, SVG or PDF, through matplotlib."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..files import write_file
from ..records.explanation import Decision, Explanation
from .drawing.colours import LIGHT
from .drawing.pictures import Type, image_bytes, new_figure, require_format
from .drawing.scale import Scale
from .drawing.wrapping import Styled, broken, is_right_to_left
from .passages import Stretch, passages
from .picture import WIDTH, Block, Ink, Picture, height_of, room_for_text

__all__ = ["render", "write"]

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
    blocks = _shortened(_blocks(explanation, decision, style))
    figure = new_figure(WIDTH, height_of(blocks))
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
