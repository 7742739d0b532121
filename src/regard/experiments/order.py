"""Two tricks from before attention: read the source backwards, or read it twice.

Backwards, the first item to be written is the last that was read (Sutskever et al. 2014). Twice,
all of them have been seen when the second reading begins (Zaremba and Sutskever 2014).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..config import checked_settings
from ..models.seq2seq import PRESETS, Seq2SeqConfig
from ..nn.recurrence import CellName
from ..records.experiment import Chart, Finding, Row
from ..training.seeds import derived_seed
from .running import Stopwatch, Tell, training_of, under
from .sequences import Rows, draw_lesson
from .teaching import build, curve, first_over, study

__all__ = ["READINGS", "Order"]

# One direction, since a second one reads backwards in any case.
_FORWARD = replace(PRESETS["addition"], decoder="sutskever", directions=1, bridge="copy")
READINGS: dict[str, Seq2SeqConfig] = {
    "as it is": _FORWARD,
    "backwards": replace(_FORWARD, reverse_source=True),
    "twice": replace(_FORWARD, repeat_source=2),
}
"""How the source is read, by the names in the table."""


@dataclass(frozen=True)
@checked_settings
class Order:
    """How long the rows to remember are, and how long they are learnt from."""

    name: ClassVar[str] = "order"
    title: ClassVar[str] = "Copying without attention: the source as it is, backwards, or twice"
    columns: ClassVar[tuple[str, ...]] = ("exact match", "first epoch over target")

    symbols: int = 10
    length: int = 8
    examples: int = 8_000
    held_out: int = 1_000
    cell: CellName = "lstm"
    hidden_size: int = 96
    epochs: int = 10
    batch_size: int = 64
    learning_rate: float = 4e-3
    target: float = 0.5

    @classmethod
    def quick(cls) -> Order:
        """A few short rows."""
        return cls(length=3, examples=200, held_out=20, hidden_size=12, epochs=2)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Teach the same rows, read in three ways."""
        shape = Rows(self.symbols, self.length, self.length)
        lesson = draw_lesson(
            "copy", shape, training=self.examples, held_out=self.held_out, seed=seed
        )
        config = replace(training_of(self, derived_seed(seed, "training")), schedule="constant")
        rows, curves = [], []
        for name, network in READINGS.items():
            clock = Stopwatch()
            sized = replace(network, cell=self.cell, hidden_size=self.hidden_size)
            model = build(sized, lesson, seed)
            history = study(model, lesson, config, under(name, tell))
            values = (history[-1].exact, first_over(history, self.target))
            rows.append(Row(name, values, clock.seconds))
            curves.append(curve(name, history))
        chart = Chart("lines", "epoch", "exact match", tuple(curves), level=self.target)
        return Finding(seed, tuple(rows), chart)
