"""What a reader said of a passage: that it is the reason for a label, or beside the point."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import DataError
from .encoding import Record

__all__ = ["IRRELEVANT", "REASON", "Mark"]

REASON, IRRELEVANT = "reason", "irrelevant"


@dataclass(frozen=True, slots=True)
class Mark(Record):
    """A passage of a text, and what a reader said of it."""

    text: str  # the whole text, never altered
    start: int
    end: int
    kind: str  # "reason" or "irrelevant"
    label: str  # that the passage speaks for, or has nothing to do with
    model: str = ""  # whose answer was being read
    reader: str = ""  # who marked it, as they call themselves

    def __post_init__(self) -> None:
        if self.kind not in (REASON, IRRELEVANT):
            raise DataError(f"a mark is {REASON!r} or {IRRELEVANT!r}, not {self.kind!r}")
        if not 0 <= self.start < self.end <= len(self.text):
            raise DataError(
                f"{self.start}:{self.end} is no passage of a text of {len(self.text):,} characters"
            )
