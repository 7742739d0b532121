"""Attention over a series in which one step, or one feature, tells the answer.

The experiments of the notes on attention for time series: all is noise but for a planted place.
Attention stands before the LSTM or after it, weighs steps or features, and has one vector of
weights for all or one for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from ..config import checked_settings, require
from ..data.series import SeriesBatch
from ..models.attention_lstm import AttentionLSTM, AttentionLSTMConfig
from ..ragged import Ragged
from ..records.experiment import Chart, Curve, Finding, ResultRow
from ..tasks.loss import answer_loss
from ..training.batches import PlannedBatches
from ..training.loop import train
from ..training.seeds import derived_seed, seeded
from .running import Stopwatch, Tell, training_of

__all__ = ["VARIANTS", "Planted", "PlantedSeries"]

VARIANTS: dict[str, AttentionLSTMConfig] = {
    "steps, before the LSTM": AttentionLSTMConfig(attend="before"),
    "steps, before, shared": AttentionLSTMConfig(attend="before", shared_attention=True),
    "steps, after the LSTM": AttentionLSTMConfig(attend="after"),
    "steps, after, shared": AttentionLSTMConfig(attend="after", shared_attention=True),
    "features, before": AttentionLSTMConfig(attend="before", over="features"),
    "features, before, shared": AttentionLSTMConfig(
        attend="before", over="features", shared_attention=True
    ),
}
"""What is compared; the features behind an LSTM are its own, so that none of them is planted."""


@dataclass(frozen=True, slots=True, eq=False)
class PlantedSeries:
    """Series of one length, (series, steps, features), with the class of each."""

    values: NDArray[np.float32]
    answers: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many steps each series has."""
        return np.full(len(self.values), self.values.shape[1])

    def batch(self, indices: NDArray[np.int64]) -> SeriesBatch:
        """Put some series into one batch."""
        chosen = self.values[indices]
        lengths = torch.full((len(chosen),), chosen.shape[1])
        steps = Ragged(torch.from_numpy(chosen.reshape(-1, chosen.shape[2])), lengths)
        return SeriesBatch(steps, torch.from_numpy(self.answers[indices]))


@dataclass(frozen=True)
@checked_settings
class Planted:
    """How long the series are, and which step of them or which feature tells the answer."""

    name: ClassVar[str] = "planted"
    title: ClassVar[str] = "Where the answer is planted: mean weight of every step or feature"
    columns: ClassVar[tuple[str, ...]] = ("accuracy", "planted", "peak", "weight there", "entropy")

    steps: int = 20
    planted_step: int = 15
    features: int = 8
    planted_feature: int = 1
    examples: int = 3_000
    held_out: int = 300  # the weights are averaged over these
    hidden_size: int = 16
    epochs: int = 6
    batch_size: int = 64
    learning_rate: float = 1e-2

    def __post_init__(self) -> None:
        for name, size in (("planted_step", self.steps), ("planted_feature", self.features)):
            value = getattr(self, name)
            require(0 <= value < size, f"{name} must be from 0 to {size - 1}, got {value}")

    @classmethod
    def quick(cls) -> Planted:
        """Fewer series, learnt for a moment."""
        return cls(examples=200, held_out=50, epochs=1)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Train every variant on series made for it."""
        rows, curves = [], []
        for name, variant in VARIANTS.items():
            tell(name)
            clock = Stopwatch()
            model = self._learnt(variant, seed)
            accuracy, weights = self._asked(model, seed)
            axis = 1 if variant.over == "steps" else 2  # what the weights sum to one along
            means = weights.mean((0, 3 - axis)).tolist()
            entropy = float(-(weights * np.log(np.maximum(weights, 1e-12))).sum(axis).mean())
            planted = self.planted_step if variant.over == "steps" else self.planted_feature
            values = (accuracy, planted, int(np.argmax(means)), means[planted], entropy)
            rows.append(ResultRow(name, values, clock.seconds))
            curves.append(Curve(f"{name} (planted: {planted})", tuple(enumerate(means))))
        chart = Chart("bars", "step or feature", "mean weight", tuple(curves))
        return Finding(seed, tuple(rows), chart)

    def draw(self, over: str, count: int, seed: int) -> PlantedSeries:
        """Draw noise, and plant the answer: in all features of a step, or in one feature of all."""
        random = np.random.default_rng(seed)
        answers = random.integers(0, 2, count)
        size = 2 if over == "steps" else self.features
        values = random.normal(size=(count, self.steps, size)).astype(np.float32)
        if over == "steps":
            values[:, self.planted_step] = answers[:, None]
        else:
            values[:, :, self.planted_feature] = answers[:, None]
        return PlantedSeries(values, answers)

    def _learnt(self, variant: AttentionLSTMConfig, seed: int) -> AttentionLSTM:
        series = self.draw(variant.over, self.examples, derived_seed(seed, "training"))
        config = training_of(self, derived_seed(seed, "order"))
        with seeded(derived_seed(seed, "weights")):
            model = AttentionLSTMConfig(
                attend=variant.attend,
                over=variant.over,
                shared_attention=variant.shared_attention,
                hidden_size=self.hidden_size,
            ).build(feature_count=series.values.shape[2], answer_count=2)
        steps = train(
            model,
            PlannedBatches(series, config),
            loss=lambda model, batch, progress: answer_loss(model, batch),
            config=config,
        )
        for _ in steps:
            pass
        return model.eval()

    @torch.no_grad()
    def _asked(self, model: AttentionLSTM, seed: int) -> tuple[float, NDArray[np.float64]]:
        """The share of right answers about new series, and their weights.

        The weights are (series, steps, features), or behind an LSTM (series, steps, its size).
        """
        series = self.draw(model.config.over, self.held_out, derived_seed(seed, "test"))
        output = model(series.batch(np.arange(self.held_out)))
        right = output.logits.argmax(1).numpy() == series.answers
        weights: NDArray[np.float64] = output.attention[0].weights.values.double().numpy()
        return float(right.mean()), weights.reshape(self.held_out, self.steps, -1)
