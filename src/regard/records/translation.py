"""What a translator wrote, and how well: plain data."""

from __future__ import annotations

from dataclasses import dataclass

from .encoding import decode, encode
from .links import AlignmentScores

__all__ = ["Candidate", "TranslationScores"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing that can be written about a source, and how likely the model thinks it."""

    text: str
    score: float  # what candidates are ranked by
    log_probability: float
    ended: bool  # False: the limit of its length came before its end

    def to_json(self) -> str:
        """Return the candidate as one line of JSON."""
        return encode(self)


@dataclass(frozen=True, slots=True)
class TranslationScores:
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
    effective_count: float | None = None  # source pieces looked at by a piece, in the mean
    title: str = ""
    alignment: AlignmentScores | None = None  # where it is known which words belong together
    character_error_rate: float | None = None  # where single letters are written

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the scores as a JSON object."""
        return encode(self, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> TranslationScores:
        """Read what ``to_json`` wrote."""
        return decode(cls, text)

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
