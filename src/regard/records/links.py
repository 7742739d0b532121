"""Which words of a text and of its translation belong together, as people say: plain data."""

from __future__ import annotations

from dataclasses import dataclass

from .encoding import decode, encode

__all__ = ["AlignmentScores", "GoldLinks", "Link"]

Link = tuple[int, int]
"""A word of the source and one of the target, each by its number, from 0."""


@dataclass(frozen=True, slots=True)
class GoldLinks:
    """The links of one pair that people agreed on, and those that may be there or not."""

    sure: frozenset[Link]
    possible: frozenset[Link] = frozenset()  # what is sure is possible too, said or not

    def __post_init__(self) -> None:
        object.__setattr__(self, "possible", self.possible | self.sure)


@dataclass(frozen=True, slots=True)
class AlignmentScores:
    """How near links come to those of people, over all pairs together (Och and Ney, 2003)."""

    pairs: int
    links: int  # that were found
    precision: float  # the share of the found links that are possible
    recall: float  # the share of the sure links that were found
    error_rate: float  # 0 where all sure links and only possible ones were found

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the scores as a JSON object."""
        return encode(self, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> AlignmentScores:
        """Read what ``to_json`` wrote."""
        return decode(cls, text)

    def describe(self) -> list[str]:
        """Say the scores in a line for a person."""
        return [
            f"alignment error rate {self.error_rate:.3f} of {self.links:,} links, "
            f"precision {self.precision:.3f}, recall {self.recall:.3f}"
        ]
