"""What a model answers about a document when its last attention is replaced by another."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.batch import Batch
from ..explain.answers import Answers
from ..explain.erasing import documents
from ..models.base import Attention, Hierarchical
from ..ragged import Ragged
from .divergence import total_variation

__all__ = ["LastAttention", "last_attention", "shares"]

BATCH_ITEMS = 1 << 15  # bounds the memory of what is asked at once


def last_attention(answers: Answers) -> list[LastAttention] | None:
    """Return the attention of each document that its vector is made by; None where there is none.

    It is over sentences in a hierarchical model, over words in a flat one.
    """
    layers = [layer for layer in answers.output.attention if layer.by == "document"]
    if not layers:
        return None
    layer = layers[-1]
    lengths = layer.weights.host_lengths
    rows = layer.weights.values.detach().split(lengths)
    return [
        LastAttention(answers, layer, ids=ids, weights=weights)
        for ids, weights in zip(documents(answers.batch), rows, strict=True)
    ]


class LastAttention:
    """One document whose units can be weighed anew; everything before stays as it is.

    ``weights`` are the model's own, (units,): of several hops or directions their mean.
    """

    def __init__(self, answers: Answers, layer: Attention, *, ids: Ragged, weights: Tensor) -> None:
        self._answers, self._name, self._ids = answers, layer.name, ids
        self.unit = layer.over
        self.weights = weights if weights.ndim == 1 else weights.mean(1)
        self.count = len(self.weights)
        self._vectors: Tensor | None = None
        if isinstance(answers.model, Hierarchical) and layer.over == "sentence":
            with torch.no_grad():
                batch = Batch(ids, torch.tensor([len(ids)], device=ids.values.device))
                self._vectors = answers.model.sentence_vectors(batch).values

    @property
    def homes(self) -> NDArray[np.int64]:
        """The sentence that each word stands in, (words,)."""
        return np.repeat(np.arange(len(self._ids)), self._ids.host_lengths)

    def likely(self, weights: Tensor) -> Tensor:
        """Return the probabilities under other weights, (versions, units), (versions, classes)."""
        step = max(1, BATCH_ITEMS // max(self.count, 1))
        with torch.no_grad():
            parts = [self._probabilities(part) for part in weights.split(step)]
        return torch.cat(parts).cpu()

    def differentiable(self, weights: Tensor) -> Tensor:
        """Do as ``likely``, on the model's device and with gradients."""
        return self._probabilities(weights)

    def movement(self, likely: Tensor, answer: Tensor) -> Tensor:
        """How far probabilities are from an answer, (versions,): their total variation.

        With several labels a document, which sum to nothing, it is the furthest of any label.
        """
        if self._answers.multilabel:
            return (likely - answer).abs().amax(-1)
        return total_variation(likely, answer)

    def _probabilities(self, weights: Tensor) -> Tensor:
        versions, device = len(weights), self._ids.values.device
        given = {self._name: weights.to(device=device, dtype=self.weights.dtype).flatten()}
        model = self._answers.model
        if self._vectors is not None and isinstance(model, Hierarchical):
            counts = torch.full((versions,), self.count, device=device)
            rows = Ragged(self._vectors.repeat(versions, 1), counts)
            logits = model.from_sentences(rows, given).logits
        else:
            ids = Ragged(self._ids.values.repeat(versions), self._ids.lengths.repeat(versions))
            sentences = torch.full((versions,), len(self._ids), device=device)
            logits = model(Batch(ids, sentences), impose=given).logits
        return self._answers.likely(logits)


def shares(weights: Tensor) -> Tensor:
    """Make each row sum to one again; a row of zeros becomes even shares."""
    totals = weights.sum(-1, keepdim=True)
    even = torch.full_like(weights, 1 / max(weights.shape[-1], 1))
    return torch.where(totals > 0, weights / totals.clamp_min(1e-30), even)
