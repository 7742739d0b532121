"""How good a model is while it learns: a quick score on the validation data."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..data.batch import Batch
from ..models.base import Model
from ..tasks.classify import ClassificationLoss
from ..training.batches import Batches
from ..training.teams import Team

__all__ = ["LabelJudge", "Scores", "validate"]


@dataclass(frozen=True, slots=True)
class Scores:
    """What the validation data say of a model."""

    loss: float
    accuracy: float | None = None  # for multi-label data, of documents with every label right
    macro_f1: float | None = None  # the mean over the classes that occur or were predicted
    bleu: float | None = None  # of what is written freely, 0 to 100


@dataclass(frozen=True, slots=True, eq=False)
class LabelJudge:
    """Judges a classifier by its loss, its accuracy and its macro-F1."""

    loss: ClassificationLoss
    label_count: int

    def __call__(self, model: Model, batches: Batches[Batch], team: Team) -> Scores:
        """Score the model on the batches."""
        return validate(model, batches, loss=self.loss, label_count=self.label_count, team=team)


def validate(
    model: Model,
    batches: Batches[Batch],
    *,
    loss: ClassificationLoss,
    label_count: int,
    team: Team,
) -> Scores:
    """Score the model, without dropout, on its share of the batches; the team adds up the rest."""
    model.eval()
    device = next(model.parameters()).device
    loss = loss.to(device)
    sums = torch.zeros(5 + 3 * label_count, dtype=torch.float64, device=device)
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


def _scores(sums: Tensor) -> Scores:
    documents, total, weight, penalty, right = sums[:5].tolist()
    hits, guesses, truths = sums[5:].view(3, -1)
    seen = guesses + truths > 0
    f1 = (2 * hits / (guesses + truths))[seen]
    return Scores(
        loss=total / weight + penalty / documents,
        accuracy=right / documents,
        # With several labels a document, there may be none at all, and none guessed.
        macro_f1=float(f1.mean()) if len(f1) else 0.0,
    )
