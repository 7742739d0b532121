"""The bottleneck: one state of a fixed size for a row of any length, against attention.

Two networks learn to copy rows of all lengths; then each is asked about rows of one length at a
time. Without attention all of a row must go through the encoder's last state.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..config import checked_settings, require
from ..models.seq2seq import PRESETS, Seq2Seq
from ..nn.decoding.decoders import DecoderName
from ..records.experiment import Chart, Curve, Finding, Row
from ..training.seeds import derived_seed
from .running import Tell, training_of, under
from .sequences import Rows, draw_lesson, draw_pairs
from .teaching import build, right, study

__all__ = ["Length"]

_WAYS: dict[str, DecoderName] = {"with attention": "luong", "without": "sutskever"}


@dataclass(frozen=True)
@checked_settings
class Length:
    """How long the rows get, and how much is learnt from them."""

    name: ClassVar[str] = "length"
    title: ClassVar[str] = "Copying by length: rows written without a mistake"
    columns: ClassVar[tuple[str, ...]] = tuple(_WAYS)

    symbols: int = 20
    longest: int = 24
    every: int = 3  # lengths from one that is asked about to the next
    examples: int = 8_000
    asked: int = 300  # rows of each length
    hidden_size: int = 64
    epochs: int = 8
    batch_size: int = 64
    learning_rate: float = 5e-3

    def __post_init__(self) -> None:
        require(
            1 <= self.every <= self.longest,
            f"every must be from 1 to the longest, {self.longest}, got {self.every}",
        )

    @classmethod
    def quick(cls) -> Length:
        """A few short rows."""
        return cls(longest=6, examples=200, asked=10, hidden_size=12, epochs=2)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Teach both networks rows of all lengths, then ask length by length."""
        found = {
            way: self._shares(self._learnt(decoder, seed, under(way, tell)), seed)
            for way, decoder in _WAYS.items()
        }
        lengths = range(self.every, self.longest + 1, self.every)
        rows = [
            Row(f"{length} symbols", tuple(values))
            for length, *values in zip(lengths, *found.values(), strict=True)
        ]
        curves = [
            Curve(way, tuple(zip(map(float, lengths), shares, strict=True)))
            for way, shares in found.items()
        ]
        chart = Chart("lines", "symbols in the row", "exact match", tuple(curves))
        return Finding(seed, tuple(rows), chart)

    def _learnt(self, decoder: DecoderName, seed: int, tell: Tell) -> Seq2Seq:
        rows = Rows(self.symbols, 1, self.longest)
        lesson = draw_lesson("copy", rows, training=self.examples, held_out=self.asked, seed=seed)
        network = replace(PRESETS["addition"], decoder=decoder, hidden_size=self.hidden_size)
        model = build(network, lesson, seed)
        config = training_of(self, derived_seed(seed, "training"))
        study(model, lesson, config, tell)
        return model

    def _shares(self, model: Seq2Seq, seed: int) -> list[float]:
        """The share that is right at every length."""
        return [
            float(
                right(
                    model,
                    draw_pairs(
                        "copy", Rows(self.symbols, length, length), count=self.asked, seed=seed
                    ),
                ).mean()
            )
            for length in range(self.every, self.longest + 1, self.every)
        ]
