"""The loss of answers about series: classes by cross-entropy, numbers by squared error."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from ..data.series import SeriesBatch
from ..errors import DataError
from ..models.attention_lstm import AttentionLSTM
from .loss import Loss

__all__ = ["answer_loss"]


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
