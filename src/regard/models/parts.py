"""The parts that the classifiers are put together from."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from ..errors import ConfigError, suggestion
from ..nn.dropout import drop
from ..nn.encoders import NoEncoder, RecurrentEncoder
from ..nn.pooling import POOLINGS, Pooled, Pooling, PoolingConfig
from ..nn.rows import row_mean
from ..ragged import Ragged
from ..text.vocab import PADDING, UNKNOWN
from .base import Impose
from .settings import ReaderConfig

__all__ = [
    "Level",
    "WordReader",
    "build_encoder",
    "build_pooling",
    "check_imposed",
    "mean_penalty",
    "word_embedding",
]


def word_embedding(vocab_size: int, size: int) -> nn.Embedding:
    """Make the table of word vectors, small random ones; the padding's is zero and stays so."""
    embedding = nn.Embedding(vocab_size, size, padding_idx=PADDING)
    with torch.no_grad():
        embedding.weight.uniform_(-0.1, 0.1)[PADDING] = 0
    return embedding


def build_encoder(
    size: int, hidden_size: int, config: ReaderConfig
) -> NoEncoder | RecurrentEncoder:
    """Make the encoder that the settings ask for, over vectors of ``size``."""
    if config.encoder == "none":
        return NoEncoder(size)
    return RecurrentEncoder(
        size,
        hidden_size,
        cell=config.cell,
        layers=config.layers,
        directions=config.directions,
        dropout=config.state_dropout,
    )


def build_pooling(size: int, config: ReaderConfig) -> Pooling:
    """Make the pooling that the settings ask for, over an encoder's states of ``size``."""
    directions = config.directions if config.encoder == "recurrent" else 1
    settings = PoolingConfig(config.attention_size, config.score, config.hops, directions)
    return POOLINGS[config.pooling](size, settings)


class WordReader(nn.Module):
    """Words to states: looks up each distinct word of a batch once, then encodes the rows."""

    def __init__(self, config: ReaderConfig) -> None:
        super().__init__()
        self.encoder = build_encoder(config.embedding_size, config.hidden_size, config)
        self.output_size = self.encoder.output_size
        self.word_dropout = config.word_dropout
        self.vector_dropout = config.vector_dropout

    def forward(self, embedding: nn.Embedding, ids: Ragged) -> Ragged:
        """Read rows of ids, (words, output_size)."""
        values = ids.values
        if self.training and self.word_dropout:
            lost = torch.rand(values.shape, device=values.device) < self.word_dropout
            values = values.masked_fill(lost, UNKNOWN)
        distinct, index = torch.unique(values, return_inverse=True)
        # One draw for a word wherever it stands, so that it is still projected only once.
        table = drop(embedding(distinct), self.vector_dropout, self.training)
        return self.encoder.from_table(table, ids.with_values(index))

    def from_vectors(self, words: Ragged) -> Ragged:
        """Read rows of word vectors, (words, output_size)."""
        kept = drop(words.values, self.vector_dropout, self.training)
        return self.encoder(words.with_values(kept))


class Level(nn.Module):
    """One floor of a hierarchy: read each row, then pool it into one vector.

    The states say how much each item weighs. What is added up is the states too, or with
    ``own`` the items as they came, so that a weight cannot be spent on a neighbour's content.
    """

    def __init__(
        self, size: int, hidden_size: int, config: ReaderConfig, *, own: bool = False
    ) -> None:
        super().__init__()
        self.encoder = build_encoder(size, hidden_size, config)
        self.pooling = build_pooling(self.encoder.output_size, config)
        self.own = own
        columns = self.pooling.output_size // self.encoder.output_size
        self.output_size = columns * (size if own else self.encoder.output_size)

    def forward(self, items: Ragged, weights: Tensor | None = None) -> Pooled:
        """Make one vector of every row, (rows, output_size)."""
        pooled = self.pooling(self.encoder(items), weights)
        return self._of_items(items, pooled) if self.own else pooled

    def from_table(self, table: Tensor, numbers: Ragged) -> Pooled:
        """Make one vector of every row of numbers that pick items from a table, (items, size)."""
        pooled = self.pooling(self.encoder.from_table(table, numbers))
        if not self.own:
            return pooled
        return self._of_items(numbers.with_values(table[numbers.values]), pooled)

    def _of_items(self, items: Ragged, pooled: Pooled) -> Pooled:
        return replace(pooled, vectors=self.pooling(items, pooled.weights.values).vectors)


def check_imposed(impose: Impose | None, items: dict[str, int]) -> None:
    """Refuse imposed weights of unknown layers, or of another number of items than given."""
    for name, weights in (impose or {}).items():
        if name not in items:
            raise ConfigError(
                f"there is no attention {name!r} to impose weights on; {suggestion(name, items)}"
            )
        if weights.shape[0] != items[name]:
            raise ConfigError(
                f"the attention {name!r} of this batch has {items[name]} items, "
                f"but {weights.shape[0]} weights were given to impose"
            )


def mean_penalty(by_sentence: Tensor, sentences: Tensor) -> Tensor:
    """Average the penalties of each document's sentences, and then those of the documents, ()."""
    by_document = row_mean(Ragged(by_sentence, sentences))
    return by_document.sum() / max(by_document.shape[0], 1)
