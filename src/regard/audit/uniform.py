"""What attention adds over looking everywhere alike (Wiegreffe and Pinter, 2019)."""

from __future__ import annotations

import torch
from torch import Tensor

from ..explain.answers import Answers
from .tally import Protocol

__all__ = ["PROTOCOLS", "evenly_weighed"]

PROTOCOLS = {
    "uniform_gap_trained": Protocol(
        "accuracy minus that of a model trained alike with even attention",
        baseline="no gap",
    ),
    "uniform_gap_forced": Protocol(
        "accuracy minus that of the same weights with even attention forced on them, which no "
        "training has prepared for",
        baseline="no gap",
    ),
}


def evenly_weighed(answers: Answers) -> Tensor:
    """Return the probabilities with every attention made even, (documents, classes)."""
    even = {}
    for layer in answers.output.attention:
        counts = layer.weights.lengths.index_select(0, layer.weights.row_ids)
        values = layer.weights.values
        shares = 1.0 / counts.to(values.dtype)
        even[layer.name] = shares.view(-1, *[1] * (values.ndim - 1)).expand_as(values)
    with torch.no_grad():
        logits = answers.model(answers.batch, impose=even or None).logits
    return answers.likely(logits).cpu()
