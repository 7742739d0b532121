"""Copying, reversing and sorting rows of symbols, with attention and without."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..config import checked_settings
from ..models.seq2seq import PRESETS
from ..nn.decoding.decoders import DecoderName
from ..records.experiment import Chart, Finding, Row
from ..training.seeds import derived_seed
from .running import Stopwatch, Tell, training_of, under
from .sequences import TASKS, Rows, draw_lesson
from .teaching import build, curve, effective_count, study

__all__ = ["Symbols"]

_WAYS: dict[str, DecoderName] = {"with attention": "luong", "without": "sutskever"}


@dataclass(frozen=True)
@checked_settings
class Symbols:
    """How many rows there are, how long they are, and how long they are learnt from."""

    name: ClassVar[str] = "symbols"
    title: ClassVar[str] = "Copying, reversing, sorting: rows written without a mistake"
    columns: ClassVar[tuple[str, ...]] = ("exact match", "items looked at by a step")

    symbols: int = 20
    shortest: int = 4
    longest: int = 12
    examples: int = 8_000
    held_out: int = 1_000
    hidden_size: int = 64
    epochs: int = 8
    batch_size: int = 64
    learning_rate: float = 5e-3

    @classmethod
    def quick(cls) -> Symbols:
        """A few short rows, looked at twice."""
        return cls(longest=5, examples=200, held_out=20, hidden_size=12, epochs=2)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Teach each task to two networks that differ in nothing but attention."""
        rows, curves = [], []
        shape = Rows(self.symbols, self.shortest, self.longest)
        network = replace(PRESETS["addition"], hidden_size=self.hidden_size)
        config = training_of(self, derived_seed(seed, "training"))
        for task in TASKS:
            lesson = draw_lesson(
                task, shape, training=self.examples, held_out=self.held_out, seed=seed
            )
            for way, decoder in _WAYS.items():
                name, clock = f"{task}, {way}", Stopwatch()
                model = build(replace(network, decoder=decoder), lesson, seed)
                history = study(model, lesson, config, under(name, tell))
                seen = effective_count(model, lesson.held_out) if decoder == "luong" else None
                rows.append(Row(name, (history[-1].exact, seen), clock.seconds))
                curves.append(curve(name, history))
        return Finding(seed, tuple(rows), Chart("lines", "epoch", "exact match", tuple(curves)))
