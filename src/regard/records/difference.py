"""Where two models differ on the same documents, in answers or in reasons: plain data."""

from __future__ import annotations

from dataclasses import dataclass

from .encoding import decode, encode
from .explanation import ClassName, Explanation

__all__ = ["Answer", "ChangedDocument", "Difference"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What one model said of one document."""

    labels: tuple[ClassName, ...]  # one, or for multi-label data all that hold
    probability: float  # of the first label, or of the likeliest where none holds
    explanation: Explanation | None = None  # kept for the documents that are shown


@dataclass(frozen=True, slots=True)
class ChangedDocument:
    """A document about which two models disagree."""

    index: int  # its place, from 0
    start: str  # how its text begins
    old: Answer
    new: Answer
    overlap: float  # the share of their reasons that both have, 0 to 1
    label_changed: bool
    true_labels: tuple[ClassName, ...] | None = None  # None: not known

    @property
    def outcome(self) -> str:
        """What the change did where the truth is known: "mended", "broken", or nothing said."""
        if self.true_labels is None or not self.label_changed:
            return ""
        truth = set(map(str, self.true_labels))
        right = [set(map(str, answer.labels)) == truth for answer in (self.old, self.new)]
        return {(False, True): "mended", (True, False): "broken"}.get((right[0], right[1]), "")


@dataclass(frozen=True, slots=True)
class Difference:
    """Which documents two models answer otherwise, or for other reasons.

    The reasons of a document count as changed where their overlap is below ``least_overlap``.
    """

    old: str  # the names of the models
    new: str
    documents: int
    changes: tuple[ChangedDocument, ...]  # changed labels first, then the least overlap first
    label_changes: int = 0
    reason_changes: int = 0  # documents with the same label for other reasons
    mended: int = 0
    broken: int = 0
    mean_overlap: float = 1.0
    overlaps: tuple[int, ...] = ()  # documents by overlap, in equal steps from 0 to 1
    least_overlap: float = 0.5
    method: str = ""

    def __bool__(self) -> bool:
        """Whether anything changed."""
        return bool(self.changes)

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the difference as one JSON object."""
        return encode(self, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> Difference:
        """Read what ``to_json`` wrote."""
        return decode(cls, text)
