"""What was read from a file and what was not: nothing is dropped without being counted here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .encoding import decode, encode

__all__ = ["BadRow", "ReadCounts", "RowFault"]

RowFault = Literal[
    "missing column",
    "missing text",
    "missing label",
    "missing value",
    "wrong type",
    "wrong number of fields",
    "broken quoting",
    "broken JSON",
    "invalid encoding",
    "unreadable file",
]
"""The kinds of bad rows, as the end report groups them."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be used, where it stands and why.

    ``line`` counts from 1 and is the line on which the row begins; in a Parquet file and in
    Python data it is the number of the row, and 0 stands for a file or folder as a whole.
    """

    file: str
    line: int
    fault: RowFault
    reason: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class ReadCounts:
    """How many rows one file gave, and what became of the others."""

    file: str
    rows: int = 0  # read as documents
    skipped: tuple[
        tuple[str, int], ...
    ] = ()  # how many bad rows of each kind, the most frequent first
    ignored: int = 0  # blank lines, and files of other kinds in a folder of texts
    empty_texts: int = 0  # of the rows that were read
    encoding: str = "utf-8"
    examples: tuple[BadRow, ...] = ()  # the first few bad rows

    @property
    def skipped_rows(self) -> int:
        """How many rows were skipped for whatever reason."""
        return sum(count for _, count in self.skipped)

    def to_json(self) -> str:
        """Return the counts as one JSON object."""
        return encode(self)

    @classmethod
    def from_json(cls, text: str) -> ReadCounts:
        """Read what ``to_json`` wrote."""
        return decode(cls, text)

    def describe(self) -> list[str]:
        """Return the counts as lines for a terminal."""
        lines = [f"{self.file}: {self.rows:,} {'row' if self.rows == 1 else 'rows'} read"]
        if self.skipped:
            reasons = ", ".join(f"{count:,} {fault}" for fault, count in self.skipped)
            lines.append(f"  {self.skipped_rows:,} skipped: {reasons}")
            lines += [f"    {bad}" for bad in self.examples[:3]]
        if self.empty_texts:
            lines.append(f"  {self.empty_texts:,} texts are empty")
        if self.ignored:
            lines.append(f"  {self.ignored:,} blank lines or other files passed over")
        return lines
