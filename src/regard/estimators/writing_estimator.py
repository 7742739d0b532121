"""What translators and captioners share: settings of the same parts, and how they are trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

from ..data.targets import S, TargetBatch
from ..models.base import WritingModel
from ..records.data import Check
from ..records.history import History
from ..tasks.generate import ForcedLoss, ForcingConfig, GenerationConfig, TokenLoss
from ..text.units import UnitsConfig
from ..training.config import TrainingConfig
from .fitting import Fit, Pace
from .saved import W, WriterSettings
from .text_estimator import TextEstimator
from .trainer import FitData

__all__ = ["WritingEstimator", "train_writer"]


class WritingEstimator(TextEstimator, Generic[W]):
    """An estimator whose network writes, a piece at a time."""

    network: W
    training: TrainingConfig
    units: UnitsConfig
    forcing: ForcingConfig
    generation: GenerationConfig
    validation: float

    def _asked(self) -> WriterSettings[W]:
        """The settings as they were asked for."""
        return WriterSettings(
            self.network,
            self.training,
            self.units,
            self.forcing,
            self.generation,
            self.validation,
        )


def train_writer(
    fit: Fit,
    model: WritingModel[S],
    data: FitData[WritingModel[S], TargetBatch[S]],
    settings: WriterSettings[W],
    *,
    check: Callable[[Pace], Check],
) -> History:
    """Train a network on the tokens of its targets, told them as often as the settings say."""
    tokens = TokenLoss(label_smoothing=settings.training.label_smoothing)
    plain = settings.to_dict()
    return fit.train(
        model,
        data,
        loss=ForcedLoss(tokens, settings.forcing),
        config=settings.training,
        settings={part: plain[part] for part in ("network", "units", "forcing")},
        check=check,
    )
