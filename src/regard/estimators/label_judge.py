"""How good a model is while it learns: a quick score on the validation data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ..data.batch import Batch
from ..models.base import Model
from ..tasks.classify import ClassificationLoss
from ..training.batches import Batches
from ..training.devices import device_of
from ..training.teams import Team

__all__ = ["LabelJudge"]


@dataclass(frozen=True, slots=True, eq=False)
class LabelJudge:
    """Judges a classifier by its loss, its accuracy and its macro-F1.

    For multi-label data the accuracy is of documents with every label right. The macro-F1 is the
    mean over the classes that occur or were predicted.
    """

    names: ClassVar[tuple[str, ...]] = ("loss", "accuracy", "macro_f1")

    loss: ClassificationLoss
    label_count: int

    def __call__(self, model: Model, batches: Batches[Batch], team: Team) -> dict[str, float]:
        """Score the model, without dropout, on its share of the batches; the team adds up."""
        model.eval()
        device = device_of(model)
        loss = self.loss.to(device)
        sums = torch.zeros(5 + 3 * self.label_count, dtype=torch.float64, device=device)
        with torch.no_grad():
            for batch in team.share_batches(batches).read(0):
                if len(batch):
                    sums += _tally(model, batch.to(device), loss)
        return _scores(team.add_up(sums).cpu())


def _tally(model: Model, batch: Batch, loss: ClassificationLoss) -> Tensor:
    """What a batch adds to the sums, in the order in which ``_scores`` reads them."""
    output = model(batch)
    cost = loss.of(output, batch)
    assert batch.labels is not None  # the loss has asked already
    if batch.labels.ndim == 2:
        truth = batch.labels > 0
        guess = output.logits > 0
    else:
        classes = torch.arange(output.logits.shape[1], device=output.logits.device)
        truth = batch.labels[:, None] == classes
        guess = output.logits.argmax(1)[:, None] == classes
    right = (truth == guess).all(1).sum()
    weight = cost.weight.to(cost.total, non_blocking=True)
    parts = torch.stack([cost.total, weight, cost.penalty, right])
    counts = torch.stack([(truth & guess).sum(0), guess.sum(0), truth.sum(0)]).flatten()
    documents = parts.new_full((1,), float(len(batch)))
    return torch.cat([documents.double(), parts.double(), counts.double()])


def _scores(sums: Tensor) -> dict[str, float]:
    documents, total, weight, penalty, right = sums[:5].tolist()
    hits, guesses, truths = sums[5:].view(3, -1)
    seen = guesses + truths > 0
    f1 = (2 * hits / (guesses + truths))[seen]
    return {
        "loss": total / weight + penalty / documents,
        "accuracy": right / documents,
        # With several labels a document, there may be none at all, and none guessed.
        "macro_f1": float(f1.mean()) if len(f1) else 0.0,
    }
