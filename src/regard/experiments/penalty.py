"""Several attentions side by side, with a price on looking at the same words and without.

The penalty of Lin et al. (2017), ||A A^T - I||_F^2: where it costs nothing, hops look alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from ..config import checked_settings, require
from ..models.flat import FlatConfig
from ..ragged import Ragged
from ..records.experiment import Chart, Curve, Finding, Row
from ..training.seeds import derived_seed
from .cues import draw_documents, study_documents
from .running import Stopwatch, Tell, training_of

__all__ = ["PRICES", "Penalty", "overlap"]

PRICES = (0.0, 0.01, 0.1, 1.0)
"""What the overlap costs, in the rows of the table."""


@dataclass(frozen=True)
@checked_settings
class Penalty:
    """How many hops there are, and how long the documents with as many cues are learnt from."""

    name: ClassVar[str] = "penalty"
    title: ClassVar[str] = "The price of looking at the same words: overlap of the hops"
    columns: ClassVar[tuple[str, ...]] = ("overlap", "accuracy")

    hops: int = 4
    markers: int = 2
    length: int = 30
    examples: int = 3_000
    held_out: int = 1_000
    hidden_size: int = 16
    epochs: int = 8
    batch_size: int = 64
    learning_rate: float = 5e-3

    def __post_init__(self) -> None:
        require(self.hops >= 2, f"hops must be at least 2, got {self.hops}")
        require(
            1 <= self.markers <= self.length // 2,
            f"markers must be from 1 to half the length, got {self.markers}",
        )

    @classmethod
    def quick(cls) -> Penalty:
        """A few short documents."""
        return cls(length=8, examples=300, held_out=50, hidden_size=8, epochs=3)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Train networks that differ in the price of overlap alone."""
        training, held_out = (
            draw_documents(
                count, length=self.length, markers=self.markers, seed=derived_seed(seed, side)
            )
            for side, count in (("training", self.examples), ("test", self.held_out))
        )
        config = training_of(self, derived_seed(seed, "weights"))
        rows, curves = [], []
        for price in PRICES:
            name, clock, points = f"penalty {price:g}", Stopwatch(), list[tuple[float, float]]()
            for learnt in study_documents(self._network(price), training, held_out, config):
                shared = overlap(learnt.output.attention[0].weights)
                points.append((learnt.epoch, shared))
                tell(f"{name}, {learnt}, overlap {shared:.4f}")
            rows.append(Row(name, (points[-1][1], learnt.accuracy), clock.seconds))
            curves.append(Curve(name, tuple(points)))
        return Finding(seed, tuple(rows), Chart("lines", "epoch", "overlap", tuple(curves)))

    def _network(self, price: float) -> FlatConfig:
        return FlatConfig(
            embedding_size=32,
            hidden_size=self.hidden_size,
            attention_size=32,
            pooling="structured",
            hops=self.hops,
            penalty=price,
            word_dropout=0.0,
            vector_dropout=0.0,
            state_dropout=0.0,
        )


def overlap(weights: Ragged) -> float:
    """The mean of A A^T off its diagonal: 0 where no two hops look at the same word."""
    hops = weights.values.shape[1]
    products = torch.stack([row.T @ row for row in weights.rows()]).mean(0)
    return float((products.sum() - products.trace()) / (hops * (hops - 1)))
