"""Attention over the steps or the features of a series, before or after an LSTM.

The layers of the notes on attention for time series, where the weights of the steps came from a
dense layer over a fixed number of them. Here a step's weight comes from what it holds and where
it stands, so that a series may have any length.

"Attention is only a vector from a dense softmax layer; plug it in anywhere." Each layer here
multiplies what it is given by weights that sum to one, and returns both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import torch
from torch import Tensor, nn

from ..config import checked_settings, require, require_counts, require_one_of, require_shares
from ..data.series import SeriesBatch
from ..nn.dropout import drop
from ..nn.encoders import RecurrentEncoder
from ..nn.positions import row_positions, sinusoids
from ..nn.recurrence import CELLS, CellName
from ..nn.rows import row_mean, row_softmax, row_sum
from ..ragged import Ragged
from .base import Attention, Output

__all__ = ["AttentionLSTM", "AttentionLSTMConfig", "FeatureAttention", "StepAttention", "Weighed"]


@dataclass(frozen=True)
@checked_settings
class AttentionLSTMConfig:
    """Where attention stands, what it weighs, and whether one vector of weights serves all."""

    name: ClassVar[str] = "attention_lstm"

    attend: Literal["before", "after"] = "before"  # the LSTM
    over: Literal["steps", "features"] = "steps"
    shared_attention: bool = False
    hidden_size: int = 32
    attention_size: int = 32
    cell: CellName = "lstm"
    layers: int = 1
    directions: int = 1
    dropout: float = 0.0

    def __post_init__(self) -> None:
        require_counts(self, "hidden_size", "attention_size", "layers")
        require(self.layers <= 100, f"layers must be from 1 to 100, got {self.layers}")
        require(self.directions in (1, 2), f"directions must be 1 or 2, got {self.directions}")
        require_shares(self, "dropout")
        require_one_of("attend", self.attend, ("before", "after"))
        require_one_of("over", self.over, ("steps", "features"))
        require_one_of("cell", self.cell, CELLS)

    def build(self, *, feature_count: int, answer_count: int) -> AttentionLSTM:
        """Make the network, with fresh weights drawn from torch's seed."""
        return AttentionLSTM(self, feature_count=feature_count, answer_count=answer_count)


class AttentionLSTM(nn.Module):
    """Answer a question about every series: its class, or some numbers."""

    def __init__(
        self, config: AttentionLSTMConfig, *, feature_count: int, answer_count: int
    ) -> None:
        super().__init__()
        self.config = config
        self.encoder = RecurrentEncoder(
            feature_count,
            config.hidden_size,
            cell=config.cell,
            layers=config.layers,
            directions=config.directions,
            dropout=config.dropout,
        )
        size = feature_count if config.attend == "before" else self.encoder.output_size
        self.weigh: FeatureAttention | StepAttention
        if config.over == "features":
            self.weigh = FeatureAttention(size, shared=config.shared_attention)
        else:
            self.weigh = StepAttention(
                size, hidden_size=config.attention_size, shared=config.shared_attention
            )
        self.answer = nn.Linear(self.encoder.output_size, answer_count)

    def forward(self, batch: SeriesBatch) -> Output:
        """Answer for every series, (series, answers)."""
        if self.config.attend == "before":
            weighed = self.weigh(batch.steps)
            vectors = self.encoder.read(weighed.items).ends[-1][0]
        else:
            weighed = self.weigh(self.encoder(batch.steps))
            vectors = row_sum(weighed.items)
        kept = drop(vectors, self.config.dropout, self.training)
        return Output(self.answer(kept), (self._attention(weighed),))

    def _attention(self, weighed: Weighed) -> Attention:
        if self.config.over == "steps":
            return Attention("step", by="document", over="step", weights=weighed.weights)
        # The features of a step are a row, so that rows sum to one here too.
        weights = weighed.weights.values
        widths = torch.full((weights.shape[0],), weights.shape[1], device=weights.device)
        rows = Ragged(weights.flatten(), widths)
        return Attention("feature", by="step", over="feature", weights=rows)

    if TYPE_CHECKING:

        def __call__(self, batch: SeriesBatch) -> Output:
            """Answer for every series."""
            ...


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
        return _weigh(items, weights)


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
        return _weigh(items, weights)


def _weigh(items: Ragged, weights: Tensor) -> Weighed:
    return Weighed(items.with_values(items.values * weights), items.with_values(weights))
