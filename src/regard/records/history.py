"""How a training went, epoch by epoch: plain data for learning curves and reports."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from .encoding import Json, Record

__all__ = ["Epoch", "Fold", "History", "Stopped"]

Stopped = Literal["finished", "patience", "interrupted"]
"""Why a training ended: all epochs done, no progress for too long, or by hand."""

_OLD_SCORES = ("loss", "accuracy", "macro_f1", "bleu")


@dataclass(frozen=True, slots=True)
class Epoch:
    """One pass over the training data; ``epoch`` counts from one.

    The validation scores, by name, are taken after the pass, without dropout; there are none where
    nothing was held out. The training loss is the mean during the pass, with dropout.
    """

    epoch: int
    train_loss: float
    learning_rate: float  # of the last step
    documents: int
    seconds: float  # of training, without the validation
    validation: Mapping[str, float] = field(default_factory=dict)  # such as "loss", "accuracy"

    @staticmethod
    def upgraded(value: Mapping[str, Json]) -> Mapping[str, Json]:
        """Read what version 0.1 wrote: a field for each score, null where there was none."""
        if "validation" in value:
            return value
        old = {name: value.get(f"validation_{name}") for name in _OLD_SCORES}
        scores: dict[str, Json] = {name: score for name, score in old.items() if score is not None}
        return {**value, "validation": scores}

    @property
    def validation_loss(self) -> float | None:
        """The loss on the validation data, if there were any."""
        return self.validation.get("loss")

    @property
    def validation_accuracy(self) -> float | None:
        """The accuracy on the validation data, if it was measured."""
        return self.validation.get("accuracy")

    @property
    def validation_macro_f1(self) -> float | None:
        """The macro-F1 on the validation data, if it was measured."""
        return self.validation.get("macro_f1")

    @property
    def validation_bleu(self) -> float | None:
        """BLEU of what was written about the validation data, if it was measured."""
        return self.validation.get("bleu")

    @property
    def documents_per_second(self) -> float:
        """How many documents were trained on each second."""
        return self.documents / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Fold:
    """How a training went that left out one fold of the documents, and was scored on that."""

    epochs: tuple[Epoch, ...] = ()
    best_epoch: int | None = None

    @property
    def best(self) -> Epoch | None:
        """The epoch whose weights were kept."""
        return next((epoch for epoch in self.epochs if epoch.epoch == self.best_epoch), None)


@dataclass(frozen=True, slots=True)
class History(Record):
    """A whole training: its epochs, the one whose weights were kept, and why it ended.

    ``best_epoch`` is None where the training was interrupted before its first epoch ended. Where
    few documents were held out once each, ``folds`` are the trainings before, which were scored.
    """

    epochs: tuple[Epoch, ...] = ()
    best_epoch: int | None = None
    monitor: str = "loss"
    stopped: Stopped = "finished"
    folds: tuple[Fold, ...] = ()

    @property
    def interrupted(self) -> bool:
        """Whether someone ended the training by hand."""
        return self.stopped == "interrupted"

    @property
    def best(self) -> Epoch | None:
        """The epoch whose weights were kept."""
        return next((epoch for epoch in self.epochs if epoch.epoch == self.best_epoch), None)

    @property
    def fold_scores(self) -> Mapping[str, float]:
        """What the folds scored after the epochs that they kept, on average; empty without any."""
        kept = [fold.best.validation for fold in self.folds if fold.best is not None]
        names = kept[0] if kept else ()
        return {name: statistics.fmean(scores[name] for scores in kept) for name in names}

    def with_folds(self, folds: Iterable[History]) -> History:
        """The same, after these trainings that left out a fold each."""
        kept = tuple(Fold(one.epochs, one.best_epoch) for one in folds)
        return replace(self, folds=kept)

    @property
    def seconds(self) -> float:
        """How long the training took, without the validation."""
        return sum(epoch.seconds for epoch in self.epochs)

    def _repr_html_(self) -> str:
        from ..views.notebook import draw_history

        return draw_history(self)
