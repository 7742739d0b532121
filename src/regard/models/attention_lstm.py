"""Attention over the steps or the features of a series, before or after an LSTM.

The layers of the notes on attention for time series, where the weights of the steps came from a
dense layer over a fixed number of them. Here a step's weight comes from what it holds and where
it stands, so that a series may have any length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import torch
from torch import nn

from ..config import checked_settings, require, require_one_of
from ..data.series import SeriesBatch
from ..nn.dropout import drop
from ..nn.encoders import RecurrentEncoder
from ..nn.recurrence import CELLS, CellName
from ..nn.rows import row_sum
from ..nn.weighing import FeatureAttention, StepAttention, Weighed
from ..ragged import Ragged
from .base import Attention, Output

__all__ = ["AttentionLSTM", "AttentionLSTMConfig"]


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
        for name in ("hidden_size", "attention_size", "layers"):
            value = getattr(self, name)
            require(value >= 1, f"{name} must be at least 1, got {value}")
        require(self.layers <= 100, f"layers must be from 1 to 100, got {self.layers}")
        require(self.directions in (1, 2), f"directions must be 1 or 2, got {self.directions}")
        require(0 <= self.dropout < 1, f"dropout must be from 0 to below 1, got {self.dropout}")
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
