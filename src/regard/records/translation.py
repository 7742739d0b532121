"""What a translator wrote, which words belong together, and how well it did: plain data."""

from __future__ import annotations

from dataclasses import dataclass

from .encoding import Record

__all__ = ["AlignmentScores", "Candidate", "GoldLinks", "Link", "TranslationScores", "WrittenPair"]

Link = tuple[int, int]
"""A word of the source and one of the target, each by its number, from 0."""


@dataclass(frozen=True, slots=True)
class Candidate(Record):
    """One thing that can be written about a source, and how likely the model thinks it."""

    text: str
    score: float  # what candidates are ranked by
    log_probability: float
    ended: bool  # False: the limit of its length came before its end


@dataclass(frozen=True, slots=True)
class GoldLinks:
    """The links of one pair that people agreed on, and those that may be there or not."""

    sure: frozenset[Link]
    possible: frozenset[Link] = frozenset()  # what is sure is possible too, said or not

    def __post_init__(self) -> None:
        object.__setattr__(self, "possible", self.possible | self.sure)


@dataclass(frozen=True, slots=True)
class AlignmentScores(Record):
    """How near links come to those of people, over all pairs together (Och and Ney, 2003)."""

    pairs: int
    links: int  # that were found
    precision: float  # the share of the found links that are possible
    recall: float  # the share of the sure links that were found
    error_rate: float  # 0 where all sure links and only possible ones were found

    def describe(self) -> list[str]:
        """Say the scores in a line for a person."""
        return [
            f"alignment error rate {self.error_rate:.3f} of {self.links:,} links, "
            f"precision {self.precision:.3f}, recall {self.recall:.3f}"
        ]


@dataclass(frozen=True, slots=True)
class WrittenPair:
    """What was written about one source, beside its reference."""

    index: int  # its place, from 0
    source: str
    written: str
    reference: str
    chrf: float  # 0 to 100, of this pair alone


@dataclass(frozen=True, slots=True)
class TranslationScores(Record):
    """How near what was written comes to the references, over all pairs together.

    The signatures say with which settings, and which version, sacrebleu counted.
    """

    pairs: int
    bleu: float  # 0 to 100
    chrf: float  # 0 to 100
    bleu_signature: str
    chrf_signature: str
    exact: float  # the share of pairs that are written like their reference, letter by letter
    unended: int = 0  # how many came to the limit of their length
    effective_count: float | None = None  # source pieces looked at by a piece, on average
    title: str = ""
    alignment: AlignmentScores | None = None  # where it is known which words belong together
    character_error_rate: float | None = None  # where single letters are written
    worst: tuple[WrittenPair, ...] = ()  # the farthest from their references, worst first
    best: tuple[WrittenPair, ...] = ()

    def to_html(self) -> str:
        """Return a whole HTML page that needs nothing else."""
        from ..views.translation import render

        return render(self)

    def _repr_html_(self) -> str:
        from ..views.notebook import card

        return card(self.describe(), whole=self.to_html())

    def describe(self) -> list[str]:
        """Say the scores in a few lines for a person."""
        lines = [
            f"{self.pairs:,} pairs" + (f" of {self.title}" if self.title else ""),
            f"BLEU  {self.bleu:6.2f}  {self.bleu_signature}",
            f"chrF  {self.chrf:6.2f}  {self.chrf_signature}",
            f"exactly like the reference: {self.exact:.1%}",
        ]
        if self.character_error_rate is not None:
            lines.append(f"character error rate: {self.character_error_rate:.1%}")
        if self.effective_count is not None:
            lines.append(f"a piece looked at {self.effective_count:.1f} pieces of the source")
        if self.alignment is not None:
            lines += self.alignment.describe()
        if self.unended:
            lines.append(f"{self.unended:,} came to the limit of their length before their end")
        return lines
