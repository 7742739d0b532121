"""The Transformer of Vaswani et al. (2017), "Attention is all you need", as a translator.

An encoder of blocks reads the source, a decoder of blocks looks back at what it has written and at
the source, and writes. There is no recurrence: all tokens of a known target are written at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor, nn

from ..config import checked_settings, require, require_counts, require_one_of, require_shares
from ..data.batch import Batch
from ..data.pairs import PairBatch
from ..nn.decoding.transformer import TransformerDecoder
from ..nn.decoding.writing import NextPiece, State, write_freely
from ..nn.transformer import ACTIVATIONS, POSITIONS, BlockConfig, EncoderStack
from ..ragged import Ragged
from .base import Attention, Output, PairModel

__all__ = ["Transformer", "TransformerConfig"]


@dataclass(frozen=True)
@checked_settings
class TransformerConfig:
    """How large the network is; the sizes suit some ten thousand pairs, as Multi30k has."""

    name: ClassVar[str] = "transformer"
    attends: ClassVar[bool] = True

    hidden_size: int = 256  # of every item in every layer
    heads: int = 4
    feed_size: int = 1024  # of the net that sees each item by itself
    layers: int = 3  # of the encoder, and as many of the decoder
    dropout: float = 0.3
    norm: Literal["pre", "post"] = "pre"  # before each part, or after each sum as in the paper
    activation: Literal["relu", "gelu"] = "relu"
    positions: Literal["sinusoidal", "learned", "rotary"] = "sinusoidal"
    tied: Literal["none", "output", "all"] = "output"  # one table to read and write; all: sources

    def __post_init__(self) -> None:
        require_counts(self, "hidden_size", "heads", "feed_size", "layers")
        require(self.layers <= 100, f"layers must be from 1 to 100, got {self.layers}")
        require_shares(self, "dropout")
        require_one_of("activation", self.activation, ACTIVATIONS)
        require_one_of("positions", self.positions, POSITIONS)
        require_one_of("tied", self.tied, ("none", "output", "all"))
        POSITIONS[self.positions].check(self.block)

    @property
    def block(self) -> BlockConfig:
        """The shape of every block."""
        return BlockConfig(
            self.hidden_size, self.heads, self.feed_size, self.dropout, self.norm, self.activation
        )

    def build(self, *, source_size: int, target_size: int) -> Transformer:
        """Make the network for two vocabularies, with fresh weights drawn from torch's seed."""
        return Transformer(self, source_size=source_size, target_size=target_size)


class Transformer(PairModel):
    """Write about sources, a token at a time."""

    def __init__(self, config: TransformerConfig, *, source_size: int, target_size: int) -> None:
        super().__init__()
        require(
            config.tied != "all" or source_size == target_size,
            f"tied='all' needs one vocabulary, got {source_size} and {target_size} words",
        )
        self.config = config
        self.encoder = EncoderStack(config.block, layers=config.layers, positions=config.positions)
        self.decoder = TransformerDecoder(
            config.block,
            vocab_size=target_size,
            layers=config.layers,
            positions=config.positions,
            tied=config.tied != "none",
        )
        self.sources = None
        if config.tied != "all":
            self.sources = nn.Embedding(source_size, config.hidden_size)
            nn.init.normal_(self.sources.weight, std=config.hidden_size**-0.5)

    @property
    def embedding(self) -> nn.Embedding:
        """The vectors that sources are read by."""
        return self.sources or self.decoder.embedding

    def forward(self, batch: PairBatch, forcing: float = 1.0) -> Output:
        """Score every token of the targets, (target ids, words).

        Where it may be told its own tokens it goes step by step. In training nobody asks where it
        looks, and it does not say.
        """
        if forcing < 1:
            written = write_freely(self.decoder, self.start(batch.source), batch.previous, forcing)
        else:
            memory = self.encode(batch.source)
            written = self.decoder.write(memory, batch.previous, weigh=not self.training)
        if written.weights is None:
            return Output(written.logits)
        cross = Attention("cross", by="step", over="token", weights=written.weights)
        return Output(written.logits, (cross,))

    def start(self, source: Batch) -> State:
        """Read the sources; return where the decoder starts to write about them."""
        return self.decoder.start(self.encode(source))

    def step(self, state: State, previous: Tensor) -> NextPiece:
        """Read the token before, (rows,), and write the next."""
        return self.decoder.step(state, previous)

    def encode(self, source: Batch) -> Ragged:
        """Read the sources: a vector for every token, one row a source."""
        ids = source.by_document
        vectors = self.embedding(ids.values) * math.sqrt(self.config.hidden_size)
        return self.encoder(ids.with_values(vectors))
