"""What classifying documents needs beyond a model: the loss, and probabilities from logits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from ..data.batch import Batch
from ..errors import DataError
from ..models.base import Model, Output
from .loss import Loss

__all__ = ["ClassificationLoss", "balanced_weights", "probabilities"]


@dataclass(frozen=True, slots=True, eq=False)
class ClassificationLoss:
    """Cross-entropy of the labels: of one label a document, or of each label on its own.

    One label: torch's mean over the documents, each weighing as much as its class. Several
    labels: the mean over documents and classes of the binary cross-entropy, where a label that
    holds weighs as much as its class. A document that has a weight counts by it. ``focal``
    multiplies what a label costs by the probability of not having it right, to this power
    (Lin et al. 2017, "Focal loss for dense object detection").
    """

    class_weights: Tensor | None = None  # (classes,)
    label_smoothing: float = 0.0
    focal: float = 0.0

    def __call__(self, model: Model, batch: Batch, progress: float = 0.0) -> Loss:
        """Let the model classify the batch, and say what that costs, however far it has come."""
        return self.of(model(batch), batch)

    def of(self, output: Output, batch: Batch) -> Loss:
        """Say what a model's answers to the batch cost."""
        if batch.labels is None:
            raise DataError("a loss needs labels, and this batch has none")
        # Sixteen bits are enough for a network, not for the logarithm of a probability.
        logits = output.logits.float() if output.logits.itemsize < 4 else output.logits
        documents = torch.tensor(float(len(batch)))
        if batch.labels.ndim == 2:
            costs = self._several(logits, batch.labels.to(logits.dtype))  # (documents, classes)
            if batch.weights is not None:
                costs = costs * batch.weights[:, None]
            total = costs.sum() / logits.shape[1]
        else:
            costs = self._one(logits, batch.labels)  # (documents,)
            total = (costs if batch.weights is None else costs * batch.weights).sum()
        weight = self._weight(batch, documents)
        penalty = total.new_zeros(()) if output.penalty is None else output.penalty * documents
        return Loss(total, weight, penalty, documents)

    def to(self, device: torch.device) -> ClassificationLoss:
        """The same loss with its class weights on ``device``."""
        weights = None if self.class_weights is None else self.class_weights.to(device)
        return replace(self, class_weights=weights)

    def _one(self, logits: Tensor, labels: Tensor) -> Tensor:
        weights = None if self.class_weights is None else self.class_weights.to(logits)
        costs = F.cross_entropy(
            logits, labels, weights, reduction="none", label_smoothing=self.label_smoothing
        )  # (documents,)
        if self.focal:
            costs = costs * _doubt(-F.cross_entropy(logits, labels, reduction="none"), self.focal)
        return costs

    def _weight(self, batch: Batch, documents: Tensor) -> Tensor:
        """What the documents weigh together; with several labels a class weighs its ones alone."""
        weights = batch.weights
        if self.class_weights is not None and batch.labels is not None and batch.labels.ndim == 1:
            own = self.class_weights[batch.labels]
            weights = own if weights is None else own * weights
        return documents if weights is None else weights.sum()

    def _several(self, logits: Tensor, labels: Tensor) -> Tensor:
        weights = None if self.class_weights is None else self.class_weights.to(logits)
        smooth = labels * (1 - self.label_smoothing) + self.label_smoothing / 2
        costs = F.binary_cross_entropy_with_logits(
            logits, smooth, pos_weight=weights, reduction="none"
        )  # (documents, classes)
        if self.focal:
            costs = costs * _doubt(
                F.logsigmoid(torch.where(labels > 0, logits, -logits)), self.focal
            )
        return costs


def probabilities(logits: Tensor, multilabel: bool, *, temperature: float = 1.0) -> Tensor:
    """Turn logits into the probability of each class, (documents, classes)."""
    scaled = (logits.float() if logits.itemsize < 4 else logits) / temperature
    if multilabel:
        # The sigmoid, as a choice between each label and none: torch's own computes the last few
        # numbers of a tensor in another way, so a text would have other bits in other company.
        return torch.stack([scaled, torch.zeros_like(scaled)], -1).softmax(-1)[..., 0]
    return torch.softmax(scaled, dim=-1)


def balanced_weights(counts: NDArray[np.int64], *, document_count: int, multilabel: bool) -> Tensor:
    """Weigh each class so that rare ones count as much as common ones, (classes,).

    ``counts`` says how many documents have each class. Where one may have several, the weight
    is how many documents lack the label for each that has it.
    """
    present = np.maximum(counts, 1)
    if multilabel:
        weights = np.maximum(document_count - counts, 1) / present
    else:
        weights = document_count / (len(counts) * present)
    return torch.from_numpy(weights.astype(np.float32))


def _doubt(log_probabilities: Tensor, power: float) -> Tensor:
    """The probability of being wrong to a power; kept off zero, where the power has no slope."""
    wrong = -torch.expm1(log_probabilities)
    return wrong.clamp_min(torch.finfo(wrong.dtype).tiny) ** power
