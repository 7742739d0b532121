"""How well a tuned BERT does, by the measures of its usage: plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .encoding import Record

__all__ = ["FoundSpan", "TuningScores"]


@dataclass(frozen=True, slots=True)
class FoundSpan(Record):
    """A stretch of a text that answers a question, its end excluded."""

    start: int
    end: int
    text: str
    score: float  # what spans are ranked by


@dataclass(frozen=True, slots=True)
class TuningScores(Record):
    """How good answers are, and how good those of one who always says the same."""

    task: str
    examples: int
    scores: Mapping[str, float]
    baseline: Mapping[str, float] = field(default_factory=dict)
    baseline_name: str = ""
    cut: int = 0  # texts of which the middle was not read
    title: str = ""

    def describe(self) -> list[str]:
        """Say the scores in a few lines for a person."""
        lines = [f"{self.examples:,} examples" + (f" of {self.title}" if self.title else "")]
        for name, score in self.scores.items():
            beside = ""
            if name in self.baseline:
                beside = f"  ({self.baseline_name}: {self.baseline[name]:.4f})"
            lines.append(f"{name.replace('_', ' '):<15} {score:.4f}{beside}")
        if self.cut:
            lines.append(f"! {self.cut:,} texts are too long to be read at once: cut in the middle")
        return lines
