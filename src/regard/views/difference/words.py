"""Where two models differ in plain words, for the terminal and the page alike."""

from __future__ import annotations

from ...records.look import Answer, ChangedDocument, Difference
from ..drawing.words import percent, plural, two_digits

__all__ = ["answered", "headline", "moved"]


def headline(difference: Difference) -> list[str]:
    """Say in a few sentences what changed; the first is the one to keep."""
    count = plural(difference.documents, "document")
    if not difference:
        return [f"Nothing changed: the same labels for the same reasons on {count}."]
    said = [
        f"Of {count}, {difference.label_changes:,} got another label and "
        f"{difference.reason_changes:,} the same label for other reasons."
    ]
    if difference.mended or difference.broken:
        said.append(f"{difference.mended:,} were mended and {difference.broken:,} broken.")
    said.append(
        f"Explained by {difference.method.replace('_', ' ')}, the models share "
        f"{two_digits(difference.mean_overlap)} of their reasons on average; reasons count as "
        f"changed below {two_digits(difference.least_overlap)}."
    )
    return said


def moved(change: ChangedDocument) -> str:
    """Say what became of one answer: ``good 90.0 % → bad 60.0 %``."""
    if change.label_changed:
        return f"{answered(change.old)} → {answered(change.new)}"
    return f"{answered(change.old)}, for other reasons"


def answered(answer: Answer) -> str:
    """Write the labels of an answer with its probability."""
    return f"{', '.join(map(str, answer.labels)) or 'none'} {percent(answer.probability)}"
