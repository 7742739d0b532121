"""The settings that all readers of documents share, and the parts that they build."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..config import checked_settings, require, require_counts, require_one_of, require_shares
from ..nn.attention import SCORES
from ..nn.encoders import ENCODERS, Encoder, EncoderConfig
from ..nn.levels import Level, Places
from ..nn.pooling import POOLINGS, Pooling, PoolingConfig
from ..nn.recurrence import CELLS, CellName
from ..nn.transformer import POSITIONS
from .words import WordEmbedding

__all__ = ["ReaderConfig"]


@dataclass(frozen=True)
@checked_settings
class ReaderConfig:
    """How a network reads: sizes as in the HAN paper, 200 for words and 50 for each direction."""

    embedding_size: int = 200
    hidden_size: int = 50  # of the encoder's state, in each direction
    attention_size: int = 100  # of the context vector, or of the score's hidden layer

    encoder: str = "recurrent"  # recurrent, transformer; none: attention on the words themselves
    cell: CellName = "gru"  # of a recurrent encoder
    layers: int = 1
    directions: int = 2  # a transformer looks both ways, and is as wide as both together
    heads: int = 5  # of a transformer, and the next two
    positions: Literal["sinusoidal", "learned", "rotary"] = "rotary"
    norm: Literal["pre", "post"] = "pre"  # before each part of a block, or after it

    pooling: str = "attention"  # attention, mean, max, last, structured
    score: str = "context"  # context, dot, general, general_diag, concat, additive, location
    hops: int = 4  # attentions side by side, for structured pooling
    penalty: float = 1.0  # what their overlap costs

    word_dropout: float = 0.1  # words read as unknown
    vector_dropout: float = 0.5  # of the vector of each distinct word of a batch
    state_dropout: float = 0.3  # between layers, and of every pooled vector

    def __post_init__(self) -> None:
        require_counts(
            self, "embedding_size", "hidden_size", "attention_size", "layers", "heads", "hops"
        )
        require_shares(self, "word_dropout", "vector_dropout", "state_dropout")
        require(self.penalty >= 0, f"penalty must not be negative, got {self.penalty}")
        require(self.layers <= 100, f"layers must be from 1 to 100, got {self.layers}")
        require(self.directions in (1, 2), f"directions must be 1 or 2, got {self.directions}")
        require_one_of("encoder", self.encoder, ENCODERS)
        require_one_of("cell", self.cell, CELLS)
        require_one_of("pooling", self.pooling, POOLINGS)
        require_one_of("score", self.score, SCORES)
        self.require_shape(self.hidden_size)

    def require_shape(self, hidden_size: int) -> None:
        """Raise ``ConfigError`` where an encoder of this size cannot be made."""
        if self.encoder == "transformer":
            POSITIONS[self.positions].check(self._encoder_config(1, hidden_size).block)

    def build_embedding(self, vocab_size: int) -> WordEmbedding:
        """Make the table of word vectors."""
        return WordEmbedding(
            vocab_size,
            self.embedding_size,
            word_dropout=self.word_dropout,
            vector_dropout=self.vector_dropout,
        )

    def build_level(
        self, size: int, hidden_size: int, *, own: bool = False, places: Places | None = None
    ) -> Level:
        """Make a level that reads and pools vectors of ``size``."""
        encoder = self.build_encoder(size, hidden_size)
        return Level(encoder, self.build_pooling(encoder.output_size), own=own, places=places)

    def build_encoder(self, size: int, hidden_size: int) -> Encoder:
        """Make the encoder that reads vectors of ``size``."""
        return ENCODERS[self.encoder](self._encoder_config(size, hidden_size))

    def _encoder_config(self, size: int, hidden_size: int) -> EncoderConfig:
        return EncoderConfig(
            size,
            hidden_size,
            layers=self.layers,
            directions=self.directions,
            dropout=self.state_dropout,
            cell=self.cell,
            heads=self.heads,
            positions=self.positions,
            norm=self.norm,
        )

    def build_pooling(self, size: int) -> Pooling:
        """Make the pooling of an encoder's states of ``size``."""
        directions = self.directions if self.encoder == "recurrent" else 1
        settings = PoolingConfig(self.attention_size, self.score, self.hops, directions)
        return POOLINGS[self.pooling](size, settings)
