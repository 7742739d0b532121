"""What a batch costs, kept so that the shares of a batch add up to the whole."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from ..data.series import SeriesBatch
from ..errors import DataError
from ..models.attention_lstm import AttentionLSTM

__all__ = ["Loss", "answer_loss"]


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """What a batch costs, as sums and what to divide them by.

    A mean cannot be added up over processes that hold unequal shares of a batch; these sums can.
    """

    total: Tensor  # (), summed over the documents, each with its weight
    weight: Tensor  # (), the documents' weights added up
    penalty: Tensor  # (), the model's own term, summed over the documents
    documents: Tensor  # (), how many there are

    @property
    def mean(self) -> Tensor:
        """What training makes small, ()."""
        return self.total / self.weight + self.penalty / self.documents

    def backward(self) -> Loss:
        """Add the mean's gradient to the parameters'; return the loss of the whole batch."""
        self.mean.backward()
        return Loss(self.total.detach(), self.weight, self.penalty.detach(), self.documents)


def answer_loss(model: AttentionLSTM, batch: SeriesBatch) -> Loss:
    """Let the model answer, and say what that costs; every series weighs the same."""
    if batch.answers is None:
        raise DataError("a loss needs answers, and this batch has none")
    logits = model(batch).logits
    count = torch.tensor(float(len(batch)))
    if batch.answers.dtype == torch.int64:
        total = F.cross_entropy(logits, batch.answers, reduction="sum")
    else:
        total = F.mse_loss(logits, batch.answers, reduction="none").mean(1).sum()
    return Loss(total, count, total.new_zeros(()), count)
