"""BERT put to use: one layer on top, and as much of it tuned as is asked for.

Devlin et al. (2019) show four usages: of one text, of a pair of texts, of a span in a text, and of
every piece. Two of them score rows and two score pieces; nothing else differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

from torch import Tensor, nn

from ..config import checked_settings, require, require_shares
from ..nn.dropout import drop
from ..ragged import Ragged
from .bert import Bert, BertConfig, draw_weights

__all__ = ["Scored", "TunedBert", "TuningConfig"]

Scored = Literal["rows", "pieces"]


@dataclass(frozen=True)
@checked_settings
class TuningConfig:
    """How much of a BERT is tuned, and what is done with texts that it cannot read at once."""

    layers: int | None = None  # how many of the top are tuned; none: all, and the words; 0: frozen
    layer_decay: float = 1.0  # each layer's learning rate, as a share of that of the one above
    dropout: float = 0.1  # of what enters the last layer
    longest: int | None = None  # pieces of a row at most; none: as many as the network reads
    stride: int = 64  # pieces that two windows of a long text share, half of one at most
    long: Literal["cut", "stop"] = "cut"  # where a text must be read at once: cut and count, or end
    longest_answer: int = 64  # pieces of a span at most
    fresh: bool = False  # begin with fresh weights, to see what those of the folder are worth

    def __post_init__(self) -> None:
        require(
            self.layers is None or self.layers >= 0, f"layers must be at least 0, got {self.layers}"
        )
        require(
            0 < self.layer_decay <= 1, f"layer_decay must be above 0 to 1, got {self.layer_decay}"
        )
        require_shares(self, "dropout")
        require(
            self.longest is None or self.longest >= 8,
            f"longest must be at least 8, got {self.longest}",
        )
        require(self.stride >= 0, f"stride must be at least 0, got {self.stride}")
        most = self.longest_answer
        require(most >= 1, f"longest_answer must be at least 1, got {most}")


class TunedBert(nn.Module):
    """Scores rows, by the pooled state of the first piece, or every piece."""

    def __init__(
        self,
        config: BertConfig,
        tuning: TuningConfig,
        *,
        vocab_size: int,
        outputs: int,
        scored: Scored,
        rate: float = 1e-3,  # the learning rate of what is on top
    ) -> None:
        super().__init__()
        self.config, self.tuning, self.scored, self.rate = config, tuning, scored, rate
        self.bert = Bert(config, vocab_size=vocab_size)
        self.head = nn.Linear(config.hidden_size, outputs)
        draw_weights(self.head)
        require(
            tuning.layers is None or tuning.layers <= config.layers,
            f"tuning.layers is {tuning.layers}, and this BERT has {config.layers} layers",
        )
        for part in self._frozen():
            part.requires_grad_(False)

    def forward(self, ids: Ragged, segments: Tensor) -> Tensor:
        """Score the rows, (rows, outputs), or the pieces, (items, outputs)."""
        states = self.bert(ids, segments)
        given = self.bert.pool(states) if self.scored == "rows" else states.values
        return self.head(drop(given, self.tuning.dropout, self.training))

    def learning_rates(self) -> Mapping[str, float]:
        """The learning rates of the layers: each is moved more slowly than the one above."""
        decay, layers = self.tuning.layer_decay, self.config.layers
        if decay == 1:
            return {}
        lowest = self.rate * decay**layers
        return {
            **{f"bert.{part}.": lowest for part in ("embedding", "places", "segments", "norm")},
            **{f"bert.blocks.{n}.": self.rate * decay ** (layers - 1 - n) for n in range(layers)},
        }

    def train(self, mode: bool = True) -> Self:
        """Switch dropout on or off; what is frozen stays without."""
        super().train(mode)
        for part in self._frozen():
            part.train(False)
        if self._frozen():  # BERT's own switch is that of what enters its first layer
            self.bert.training = False
        return self

    def _frozen(self) -> list[nn.Module]:
        """The parts that are not tuned; the pooler always is."""
        if self.tuning.layers is None:
            return []
        bert = self.bert
        lower = list(bert.blocks)[: self.config.layers - self.tuning.layers]
        return [bert.embedding, bert.places, bert.segments, bert.norm, *lower]
