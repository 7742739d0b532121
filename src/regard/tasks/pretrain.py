"""What teaching a BERT needs beyond the network: what its guesses at hidden pieces cost."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..data.masking import UNASKED, MaskedBatch
from ..models.bert import BertPretraining
from .loss import Loss

__all__ = ["Guesses", "PretrainingLoss"]


@dataclass(frozen=True, slots=True, eq=False)
class Guesses:
    """What a network scores for the pieces that are asked for, and for the rows."""

    pieces: Tensor  # (asked, vocabulary)
    follows: Tensor  # (rows, 2)

    @classmethod
    def of(cls, model: BertPretraining, batch: MaskedBatch) -> Guesses:
        """Let a network read a batch; what is not asked for is not scored."""
        states = model.bert(batch.ids, batch.segments)
        pieces = model.name_pieces(states.values.index_select(0, batch.asked))
        # Sixteen bits are enough for a network, not for the logarithm of a probability.
        return cls(pieces.float(), model.judge_next(states).float())


@dataclass(frozen=True)
class PretrainingLoss:
    """The mean cost of a hidden piece, and that of a row: whether its second text follows."""

    def __call__(self, model: BertPretraining, batch: MaskedBatch, progress: float = 0.0) -> Loss:
        """Say what the guesses cost, however far the training has come."""
        return self.of(Guesses.of(model, batch), batch)

    def of(self, guesses: Guesses, batch: MaskedBatch) -> Loss:
        """Say what guesses cost."""
        pieces = cross_entropy(guesses.pieces, batch.wanted, reduction="sum")
        rows = cross_entropy(guesses.follows, batch.follows, ignore_index=UNASKED, reduction="sum")
        return Loss(
            pieces, torch.tensor(float(len(batch.wanted))), rows, torch.tensor(float(len(batch)))
        )

    def to(self, device: torch.device) -> PretrainingLoss:
        """The same on any device."""
        return self
