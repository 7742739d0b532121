"""Mean, largest, last or attention: how states become one vector, where one word decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..config import checked_settings, require
from ..models.flat import FlatConfig
from ..records.experiment import Chart, Curve, Finding, Row
from ..training.seeds import derived_seed
from .cues import CueDocuments, Learnt, draw_documents, study_documents
from .running import Stopwatch, Tell, training_of

__all__ = ["COMPARED", "Pooling"]

COMPARED = ("mean", "attention", "max", "last")
"""The poolings that are compared."""


@dataclass(frozen=True)
@checked_settings
class Pooling:
    """How long the documents are, and how long they are learnt from."""

    name: ClassVar[str] = "pooling"
    title: ClassVar[str] = "One word in many decides: mean of the states against attention"
    columns: ClassVar[tuple[str, ...]] = (
        "accuracy",
        "first epoch over target",
        "weight at the cue",
    )

    length: int = 120
    examples: int = 4_000
    held_out: int = 1_000
    hidden_size: int = 24
    epochs: int = 10
    batch_size: int = 64
    learning_rate: float = 5e-3
    target: float = 0.95

    def __post_init__(self) -> None:
        require(self.length >= 2, f"length must be at least 2, got {self.length}")

    @classmethod
    def quick(cls) -> Pooling:
        """A few short documents."""
        return cls(length=10, examples=200, held_out=50, hidden_size=8, epochs=2)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Train networks that differ in their pooling alone."""
        training, held_out = (
            draw_documents(count, length=self.length, seed=derived_seed(seed, side))
            for side, count in (("training", self.examples), ("test", self.held_out))
        )
        config = training_of(self, derived_seed(seed, "weights"))
        rows, curves = [], []
        for pooling in COMPARED:
            clock, points = Stopwatch(), list[tuple[float, float]]()
            for learnt in study_documents(self._network(pooling), training, held_out, config):
                points.append((learnt.epoch, learnt.accuracy))
                tell(f"{pooling}, {learnt}")
            first = next((epoch for epoch, share in points if share > self.target), None)
            values = (learnt.accuracy, first, _at_cue(learnt, held_out))
            rows.append(Row(pooling, values, clock.seconds))
            curves.append(Curve(pooling, tuple(points)))
        chart = Chart("lines", "epoch", "accuracy", tuple(curves), level=self.target)
        return Finding(seed, tuple(rows), chart)

    def _network(self, pooling: str) -> FlatConfig:
        return FlatConfig(
            embedding_size=32,
            hidden_size=self.hidden_size,
            attention_size=32,
            pooling=pooling,
            word_dropout=0.0,
            vector_dropout=0.0,
            state_dropout=0.0,
        )


def _at_cue(learnt: Learnt, documents: CueDocuments) -> float:
    """How much of a document's weight lies on the cue and its two neighbours, in the mean.

    The state at a neighbour knows the cue too, since it was read from both sides.
    """
    count, length = documents.ids.shape
    values = learnt.output.attention[0].weights.values
    weights = values.reshape(count, length, -1).mean(2).numpy()
    near = np.abs(np.arange(length) - documents.places) <= 1
    return float((weights * near).sum(1).mean())
