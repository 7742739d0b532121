"""How a training went, epoch by epoch: plain data for learning curves and reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .encoding import decode, encode

__all__ = ["Epoch", "History", "Stopped"]

Stopped = Literal["finished", "patience", "interrupted"]
"""Why a training ended: all epochs done, no progress for too long, or by hand."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """One pass over the training data; ``epoch`` counts from one.

    The validation scores are taken after the pass, without dropout, and are None where
    nothing was held out; the training loss is the mean during the pass, with dropout.
    """

    epoch: int
    train_loss: float
    learning_rate: float  # of the last step
    documents: int
    seconds: float  # of training, without the validation
    validation_loss: float | None = None
    validation_accuracy: float | None = None
    validation_macro_f1: float | None = None
    validation_bleu: float | None = None

    @property
    def documents_per_second(self) -> float:
        """How many documents were trained on each second."""
        return self.documents / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class History:
    """A whole training: its epochs, the one whose weights were kept, and why it ended.

    ``best_epoch`` is None where the training was interrupted before its first epoch ended.
    """

    epochs: tuple[Epoch, ...] = ()
    best_epoch: int | None = None
    monitor: str = "loss"
    stopped: Stopped = "finished"

    @property
    def interrupted(self) -> bool:
        """Whether someone ended the training by hand."""
        return self.stopped == "interrupted"

    @property
    def best(self) -> Epoch | None:
        """The epoch whose weights were kept."""
        return next((epoch for epoch in self.epochs if epoch.epoch == self.best_epoch), None)

    @property
    def seconds(self) -> float:
        """How long the training took, without the validation."""
        return sum(epoch.seconds for epoch in self.epochs)

    def to_json(self) -> str:
        """Return the history as a JSON object."""
        return encode(self)

    @classmethod
    def from_json(cls, text: str) -> History:
        """Read a history from what ``to_json`` wrote."""
        return decode(cls, text)
