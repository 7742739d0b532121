"""Draw where a translator looked as text for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len, set_cell_size

from ...records.alignment import Alignment
from ..drawing.colours import LEVELS
from ..drawing.terminal import Terminal, printable_line
from ..drawing.words import two_digits
from ..drawing.wrapping import Styled, break_lines, letters
from .words import SCALE, heaviest, names, remark, score, tell_looks, tell_verdict, write_need

__all__ = ["Terminal", "render"]

_BLOCKS = " ░▒▓█"  # where there are no greys
_CELL = 2  # as wide as a letter of Korean or Chinese
_LONGEST_NAME = 14
_HIGHEST_HEAD = 10
_LEGEND = (1, 4, 7, 10)  # levels; one for each of the blocks

Style = Callable[[str], str]
"""Writes a text with the codes of its style."""


def render(candidates: Sequence[Alignment], terminal: Terminal) -> str:
    """Return the matrix of each candidate about one source: a row a piece, shades for weights."""
    lines = _wrap(printable_line(candidates[0].source), terminal, terminal.dim)
    for rank, alignment in enumerate(candidates, start=1):
        number = f"{rank}. " if len(candidates) > 1 else ""
        lines += [""] * (rank > 1)
        lines += _wrap(f"{number}{printable_line(alignment.target)}", terminal, terminal.bold)
        ranked = f"{score(alignment).capitalize()}. " if number else ""
        said = f"{ranked}{tell_looks(alignment)} {remark(alignment)}".strip()
        lines += _wrap(printable_line(said), terminal, terminal.dim)
        lines += _matrix(alignment, terminal)
        for place, said in enumerate(tell_verdict(alignment)):
            lines += [""] * (place == 0)
            lines += _wrap(said, terminal, str if place else terminal.bold)
    behind = "Behind each row: how many pieces counted, and the heaviest."
    if any(one.receipt is not None and one.receipt.written for one in candidates):
        behind += (
            " Then what its probability loses without what it looked at, in percentage points, "
            "and in brackets without random pieces."
        )
    return "\n".join([*lines, "", _legend(terminal), *_wrap(behind, terminal, terminal.dim)])


def _matrix(alignment: Alignment, terminal: Terminal) -> list[str]:
    """The rows, a block of columns below the other where they do not fit side by side."""
    if not alignment.weights.size:
        return []
    heads = [printable_line(name) for name in names(alignment.source_pieces)]
    longest = min(_LONGEST_NAME, terminal.width // 5)
    labels = [_fit(printable_line(name), longest) for name in names(alignment.target_pieces)]
    label_width = max(map(cell_len, labels))
    tails = _tails(alignment, [_fit(head, longest) for head in heads])
    room = terminal.width - label_width - 1 - max(map(cell_len, tails))
    columns = max(4, room // _CELL)
    found: list[str] = []
    for first in range(0, len(heads), columns):
        shown = range(first, min(first + columns, len(heads)))
        found += ["", *_heads([heads[place] for place in shown], label_width + 1)]
        for weights, label, tail in zip(alignment.weights, labels, tails, strict=True):
            cells = "".join(_shade(SCALE.level(float(weights[n])), terminal) for n in shown)
            line = f"{' ' * (label_width - cell_len(label))}{label} {cells}"
            found.append(line + (terminal.dim(tail) if first == 0 else ""))
    return found


def _tails(alignment: Alignment, heads: Sequence[str]) -> list[str]:
    """What stands behind each row: how many pieces counted, and the heaviest."""
    found: list[str] = []
    for weights, count in zip(alignment.weights, alignment.effective_counts, strict=True):
        best = [f" {heads[n]} {two_digits(float(weights[n]))}" for n in heaviest(weights, 1)]
        found.append(f"{count:5.1f}{''.join(best)}")
    written = alignment.receipt.written if alignment.receipt else ()
    if not written:
        return found
    width = max(map(cell_len, found))
    return [
        f"{tail}{' ' * (width - cell_len(tail))}  {write_need(one, lost='lost ')}"
        for tail, one in zip(found, written, strict=True)
    ]


def _heads(shown: Sequence[str], indent: int) -> list[str]:
    """The names of the columns, written downwards, to end right above the matrix."""
    stacks = [_stack(name) for name in shown]
    height = max(map(len, stacks))
    filled = [[""] * (height - len(stack)) + stack for stack in stacks]
    rows = [
        " " * indent + "".join(set_cell_size(stack[level], _CELL) for stack in filled)
        for level in range(height)
    ]
    return [row.rstrip() for row in rows]


def _stack(name: str) -> list[str]:
    """The letters of a name, of a long one the first."""
    found = letters(name)
    return found if len(found) <= _HIGHEST_HEAD else [*found[: _HIGHEST_HEAD - 1], "…"]


def _shade(level: int, terminal: Terminal) -> str:
    if terminal.depth in ("bold", "none"):
        # Rounded up, so that what is drawn at all is drawn here too.
        return _BLOCKS[-(-level * (len(_BLOCKS) - 1) // LEVELS)] * _CELL
    # Every cell is painted, the palest as well: the matrix is right on any background.
    return terminal.coloured("█" * _CELL, terminal.theme.grey(level))


def _legend(terminal: Terminal) -> str:
    return "  ".join(
        f"{_shade(level, terminal)} {two_digits(SCALE.value_at(level))}" for level in _LEGEND
    )


def _fit(name: str, width: int) -> str:
    """The name, cut where it is longer than so many cells."""
    return name if cell_len(name) <= width else set_cell_size(name, width - 1) + "…"


def _wrap(text: str, terminal: Terminal, style: Style = str) -> list[str]:
    """The text in lines that fit, each in its style."""
    lines = break_lines([Styled(text, None)], terminal.width)
    return [style("".join(part.text for part in line)) for line in lines]
