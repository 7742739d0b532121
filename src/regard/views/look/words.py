"""What a look through a corpus found in plain words, for the terminal and the page alike."""

from __future__ import annotations

from ...records.look import Evenness, Look, WordUse
from ..drawing.words import plural, two_digits

__all__ = ["doubts", "evenness", "headline", "use_line"]


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


def evenness(spread: Evenness) -> str:
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
