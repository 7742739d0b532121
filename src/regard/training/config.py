"""How to train: every knob of a training, checked where it is made."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from ..config import checked_settings, require, require_counts, require_seed

__all__ = [
    "ClassWeights",
    "Monitor",
    "OptimizerName",
    "Precision",
    "ScheduleName",
    "TrainingConfig",
]

OptimizerName = Literal["adam", "adamw", "sgd"]
ScheduleName = Literal["constant", "linear", "cosine", "one-cycle"]
Monitor = Literal["loss", "accuracy", "macro_f1", "bleu"]
ClassWeights = Literal["none", "balanced"]
Precision = Literal["float32", "float64", "bfloat16"]


@dataclass(frozen=True)
@checked_settings
class TrainingConfig:
    """How to train; how large the network is belongs to the model's settings."""

    epochs: int = 8
    batch_size: int = 64  # documents in a step
    batch_tokens: int = 65536  # tokens in a step at most, to bound memory
    optimizer: OptimizerName = "adam"
    learning_rate: float = 4e-3
    momentum: float = 0.9  # of sgd; how long Adam remembers a gradient
    weight_decay: float = 0.0
    schedule: ScheduleName = "linear"
    warmup: float = 0.0  # below one a share of all steps, else steps
    clip: float | None = 1.0  # the gradient's norm at most
    patience: int | None = 2  # epochs without progress before stopping; none: never
    cooling: bool = True  # whether one more epoch then goes on from the best, to a rate of nothing
    min_delta: float = 0.0  # a smaller gain is no progress
    monitor: Monitor = "loss"  # what progress is measured by, on the validation data
    class_weights: ClassWeights = "none"
    label_smoothing: float = 0.0
    focal: float = 0.0  # power of the focal loss; zero is plain cross-entropy
    precision: Precision = "float32"  # bfloat16 is mixed: weights stay in 32 bits
    average: int = 1  # epochs at whose ends weights are taken, to judge and keep their mean
    freeze_vectors: bool = False  # leave the word vectors as they are
    seed: int = 0

    def __post_init__(self) -> None:
        require_counts(self, "epochs", "batch_size", "batch_tokens", "patience", "average")
        require_seed(self.seed)
        self._require_amounts()

    def _require_amounts(self) -> None:
        for name in ("weight_decay", "warmup", "min_delta", "focal"):
            value = getattr(self, name)
            require(0 <= value < math.inf, f"{name} must be a number of at least 0, got {value}")
        for name in ("momentum", "label_smoothing"):
            value = getattr(self, name)
            require(0 <= value < 1, f"{name} must lie between 0 and 1 (1 excluded), got {value}")
        for name in ("learning_rate", "clip"):
            value = getattr(self, name)
            require(
                value is None or 0 < value < math.inf,
                f"{name} must be a positive number, got {value}",
            )
