"""What a look through a corpus found as lines for a terminal or a log."""

from __future__ import annotations

from ...records.look import Look, WordUse
from ..drawing.terminal import printable
from ..drawing.words import percent, plural, two_digits
from .words import headline, use_line

__all__ = ["summary"]

_SENTENCES = 3  # shown on the terminal for each class
_CLASSES = 12
_SUSPECTS = 10
_WIDEST = 100  # characters of a sentence on the terminal


def summary(look: Look) -> list[str]:
    """Return the findings as lines for a terminal or a log."""
    lines = headline(look)
    for context in look.words:
        lines += ["", f"‘{context.word}’ by answer (weights within the {context.by})"]
        width = max(len(_name(use)) for use in context.uses)
        lines += [f"  {_name(use):<{width}}  {use_line(use)}" for use in context.uses]
    lines += _classes(look)
    if look.suspects:
        lines += ["", "Suspicious labels:"]
    for suspect in look.suspects[:_SUSPECTS]:
        given = ", ".join(map(str, suspect.labels)) or "none"
        lines.append(
            f"  document {suspect.index + 1:,}: label {given}, model {suspect.answer} "
            f"{percent(suspect.probability)}, {suspect.verdict}"
        )
    more = len(look.suspects) - _SUSPECTS
    lines += [f"  and {more:,} more"] if more > 0 else []
    return [printable(line) for line in lines]


def _classes(look: Look) -> list[str]:
    lines: list[str] = []
    for entry in look.classes[:_CLASSES]:
        if entry.sentences:
            lines += ["", f"What decides for {entry.label} ({plural(entry.documents, 'document')})"]
        for sentence in entry.sentences[:_SENTENCES]:
            text = sentence.text
            text = text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
            often = f" in {sentence.count:,} documents" if sentence.count > 1 else ""
            lines.append(f"  −{two_digits(sentence.drop)}{often}  {text}")
    left_out = len(look.classes) - _CLASSES
    return lines + ([f"and {plural(left_out, 'rarer answer')}"] if left_out > 0 else [])


def _name(use: WordUse) -> str:
    return "all" if use.label is None else str(use.label)
