"""The score functions of attention beside one another, on rows to be reversed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..config import checked_settings
from ..models.seq2seq import PRESETS
from ..records.experiment import Chart, Finding, Row
from ..training.seeds import derived_seed
from .running import Stopwatch, Tell, training_of, under
from .sequences import Rows, draw_lesson
from .teaching import build, curve, effective_count, first_over, study

__all__ = ["COMPARED", "Scores"]

COMPARED = ("dot", "general", "general_diag", "concat", "additive", "location")
"""The scores that are compared; ``context`` is left out, which is ``general`` behind a tanh."""


@dataclass(frozen=True)
@checked_settings
class Scores:
    """How long the rows are, and how long they are learnt from."""

    name: ClassVar[str] = "scores"
    title: ClassVar[str] = "Score functions of attention: rows reversed without a mistake"
    columns: ClassVar[tuple[str, ...]] = (
        "exact match",
        "first epoch over target",
        "items looked at by a step",
    )

    symbols: int = 20
    shortest: int = 4
    longest: int = 12
    examples: int = 8_000
    held_out: int = 1_000
    hidden_size: int = 64
    epochs: int = 6
    batch_size: int = 64
    learning_rate: float = 5e-3
    target: float = 0.9

    @classmethod
    def quick(cls) -> Scores:
        """A few short rows."""
        return cls(longest=5, examples=100, held_out=10, hidden_size=12, epochs=1)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Teach the same rows to networks that differ in their score alone."""
        shape = Rows(self.symbols, self.shortest, self.longest)
        lesson = draw_lesson(
            "reverse", shape, training=self.examples, held_out=self.held_out, seed=seed
        )
        config = training_of(self, derived_seed(seed, "training"))
        rows, curves = [], []
        for score in COMPARED:
            clock = Stopwatch()
            network = replace(PRESETS["addition"], score=score, hidden_size=self.hidden_size)
            model = build(network, lesson, seed)
            history = study(model, lesson, config, under(score, tell))
            first, seen = first_over(history, self.target), effective_count(model, lesson.held_out)
            rows.append(Row(score, (history[-1].exact, first, seen), clock.seconds))
            curves.append(curve(score, history))
        chart = Chart("lines", "epoch", "exact match", tuple(curves), level=self.target)
        return Finding(seed, tuple(rows), chart)
