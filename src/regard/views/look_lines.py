"""What a look through a corpus found, in plain words: for the terminal and the page alike."""

from __future__ import annotations

from ..records.look import Look, Spread, WordUse
from .drawing.terminal import printable
from .drawing.words import percent, plural, two_digits

__all__ = ["doubts", "evenness", "headline", "summary", "use_line"]

_SENTENCES = 3  # shown on the terminal for each class
_CLASSES = 12
_SUSPECTS = 10
_WIDEST = 100  # characters of a sentence on the terminal


def headline(look: Look) -> list[str]:
    """Say in a few sentences what was found."""
    said = [f"Looked through {plural(look.documents, 'document')}."]
    if look.spreads:
        said += [f"{spread.level.capitalize()}s: {evenness(spread)}" for spread in look.spreads]
    if look.labelled:
        count = len(look.suspects)
        said.append(
            f"{plural(count, 'label')} {'looks' if count == 1 else 'look'} suspicious."
            if count
            else "No label looks suspicious."
        )
    return said


def evenness(spread: Spread) -> str:
    """Say how evenly a level of attention spreads its weight."""
    within = {"word": "sentence", "sentence": "document"}.get(spread.level, "row")
    return (
        f"the weight of a {within} lies as if on {spread.effective_items:.1f} of "
        f"{spread.mean_items:.1f} {spread.level}s, evenness {spread.evenness:.2f}; "
        f"in {two_digits(spread.uniform_rows)} of {within}s it is as good as uniform."
    )


def use_line(use: WordUse) -> str:
    """Say how a word was weighed under one answer."""
    times = f"{use.lift:.2f} × an even share"
    return f"{plural(use.count, 'use')}, mean weight {use.mean:.2g}, {times}"


def doubts(look: Look) -> list[str]:
    """Say how the suspicious labels were found."""
    said = [
        f"{plural(look.disagreements, 'answer')} of at least {two_digits(look.sure)} "
        f"{'contradicts' if look.disagreements == 1 else 'contradict'} the label given."
    ]
    if look.measured:
        which = "All" if look.measured == look.disagreements else f"The {look.measured:,} surest"
        count = len(look.suspects)
        said.append(
            f"{which} were explained, and the reasons measured by taking them away: in {count:,} "
            "the answer does rest on them. Those the model may know better than the label."
        )
    return said


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
