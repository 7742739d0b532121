"""Attention that weighs vectors and hands them on: over the steps of a row, or over features.

"Attention is only a vector from a dense softmax layer; plug it in anywhere." Each layer here
multiplies what it is given by weights that sum to one, and returns both.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..ragged import Ragged
from .positions import row_positions, sinusoids
from .rows import row_mean, row_softmax

__all__ = ["FeatureAttention", "StepAttention", "Weighed"]


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """Rows of vectors, each number multiplied by its weight; and the weights."""

    items: Ragged  # (items, size)
    weights: Ragged  # (items, size)


class FeatureAttention(nn.Module):
    """Weighs the features of every item: softmax(W x + b) sums to one over them.

    With ``shared``, all items of a row have the mean of their weights.
    """

    def __init__(self, size: int, *, shared: bool = False) -> None:
        super().__init__()
        self.score = nn.Linear(size, size)
        self.shared = shared

    def forward(self, items: Ragged) -> Weighed:
        """Weigh the features of every item, (items, size)."""
        weights = torch.softmax(self.score(items.values), 1)
        if self.shared:
            means = row_mean(items.with_values(weights))
            weights = means.index_select(0, items.row_ids)
        return _weighed(items, weights)


class StepAttention(nn.Module):
    """Weighs the items of every row, feature by feature: each feature's weights sum to one.

    The score of an item depends on what it holds and on where it stands, which sinusoids
    describe, so that a row may have any length. With ``shared``, all features have the mean of
    their weights: one vector for all.
    """

    def __init__(self, size: int, *, hidden_size: int = 32, shared: bool = False) -> None:
        super().__init__()
        self.item = nn.Linear(size, hidden_size)
        self.place = nn.Linear(hidden_size, hidden_size, bias=False)
        self.score = nn.Linear(hidden_size, size)
        self.shared = shared

    def forward(self, items: Ragged) -> Weighed:
        """Weigh the items of every row, (items, size)."""
        described = sinusoids(row_positions(items), self.place.in_features)
        places = self.place(described.to(items.values.dtype))
        scores = self.score(torch.tanh(self.item(items.values) + places))
        weights = row_softmax(items.with_values(scores)).values
        if self.shared:
            weights = weights.mean(1, keepdim=True).expand_as(weights)
        return _weighed(items, weights)


def _weighed(items: Ragged, weights: Tensor) -> Weighed:
    return Weighed(items.with_values(items.values * weights), items.with_values(weights))
