"""What attention adds over looking everywhere alike (Wiegreffe and Pinter, 2019)."""

from __future__ import annotations

import torch
from torch import Tensor

from ..explain.answers import Answers

__all__ = ["evenly_weighed"]


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
