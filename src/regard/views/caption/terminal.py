"""Draw what was written about a picture as text for a terminal: a small map for each word."""

from __future__ import annotations

from ...records.caption import Caption
from ..drawing.terminal import Terminal, printable_line
from ..drawing.words import two_digits
from .words import LEVELS, levels, name_place, tell_looks, tell_verdict, write_need

__all__ = ["Terminal", "render"]

_BLOCKS = " ░▒▓█"


def render(caption: Caption, terminal: Terminal) -> str:
    """Return the caption, then for each word where it looked, in shades where there are colours."""
    lines = [
        terminal.dim(printable_line(caption.name)),
        terminal.bold(printable_line(caption.text)),
    ]
    lines += [terminal.dim(tell_looks(caption)), ""]
    width = max((len(printable_line(word)) for word in caption.words), default=0)
    shown = levels(caption.weights)
    for row, word in enumerate(caption.words):
        peak = two_digits(float(caption.weights[row].max()))
        tail = f"{peak:>6} {name_place(caption, row)}"
        if caption.receipt is not None and caption.receipt.written:
            tail += f"  {write_need(caption.receipt.written[row])}"
        lines.append(f"{printable_line(word):<{width}}  {terminal.dim(tail)}")
        lines += [f"  {line}" for line in _map(caption, shown[row].tolist(), terminal)]
    for place, said in enumerate(tell_verdict(caption)):
        lines += ["", said] if place else ["", terminal.bold(said)]
    return "\n".join(lines)


def _map(caption: Caption, shades: list[int], terminal: Terminal) -> list[str]:
    """The cells of a picture, two characters each, row by row."""
    cells = [_shade(shade, terminal) for shade in shades]
    return [
        "".join(cells[first : first + caption.columns])
        for first in range(0, len(cells), caption.columns)
    ]


def _shade(level: int, terminal: Terminal) -> str:
    if terminal.depth in ("bold", "none"):
        return _BLOCKS[-(-level * (len(_BLOCKS) - 1) // LEVELS)] * 2
    return terminal.coloured("██", terminal.theme.grey(max(1, round(10 * level / LEVELS))))
