"""What a training is likely to take, from one step that is not kept."""

from __future__ import annotations

import time

import torch

from ..data.batch import Batch
from ..data.check import estimate_memory
from ..models.base import Model
from ..records.check import DataCheck
from ..tasks.classify import ClassificationLoss
from ..training.config import TrainingConfig
from ..training.seeds import seeded
from .fitting import FitData

__all__ = ["estimated"]


def estimated(
    check: DataCheck,
    model: Model,
    data: FitData[Model, Batch],
    loss: ClassificationLoss,
    config: TrainingConfig,
) -> DataCheck:
    """Add to the findings how long all epochs take at most, and how much memory."""
    batch = next(iter(data.training.read(0)))
    device = next(model.parameters()).device
    weights = loss.to(device)
    seconds = []
    for _ in range(2):  # the first call of anything is slow
        began = time.perf_counter()
        with seeded(0, device):
            weights(model.train(), batch.to(device)).backward()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        seconds.append(time.perf_counter() - began)
        model.zero_grad(set_to_none=True)
    tokens = max(1, batch.ids.values.shape[0])
    counts = [weight.numel() for weight in model.parameters()]
    return check.with_estimates(
        seconds=seconds[-1] / tokens * check.tokens * config.epochs,
        memory_bytes=estimate_memory(
            parameter_count=sum(counts),
            batch_tokens=min(check.tokens, config.batch_tokens or check.tokens),
            token_size=10 * model.embedding.embedding_dim,
        ),
    )
