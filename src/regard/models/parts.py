"""The parts that the classifiers are put together from."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from ..errors import ConfigError, suggestion
from ..nn.distinct import distinct
from ..nn.dropout import drop
from ..nn.encoders import NoEncoder, RecurrentEncoder
from ..nn.levels import pool_projected, pool_read
from ..nn.pooling import POOLINGS, Pooled, Pooling, PoolingConfig
from ..nn.rows import row_mean
from ..ragged import Ragged
from ..text.vocab import PADDING, UNKNOWN
from .base import Impose
from .projected import ProjectedWords
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


_WHOLE_TABLE = 1 << 17  # words that a GPU projects sooner than it finds the distinct ones


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
        self.projected = ProjectedWords()

    def pooled(self, embedding: nn.Embedding, ids: Ragged, pooling: Pooling) -> Pooled | None:
        """Read rows of ids and pool each row, or nothing where that takes two goes."""
        encoder = self.encoder
        if not isinstance(encoder, RecurrentEncoder) or not encoder.attends:
            return None
        table = self.projected.of(embedding, encoder, ids.values)
        return None if table is None else pool_projected(encoder, pooling, ids, table)

    def forward(self, embedding: nn.Embedding, ids: Ragged) -> Ragged:
        """Read rows of ids, (words, output_size)."""
        if torch.is_grad_enabled():
            self.projected.forget()
        values = ids.values
        if self.training and self.word_dropout:
            lost = torch.rand(values.shape, device=values.device) < self.word_dropout
            values = values.masked_fill(lost, UNKNOWN)
        vectors, index = _looked_up(embedding, values)
        # One draw for a word wherever it stands, so that it is still projected only once.
        table = drop(vectors, self.vector_dropout, self.training)
        return self.encoder.from_table(table, ids.with_values(index))

    def from_vectors(self, words: Ragged) -> Ragged:
        """Read rows of word vectors, (words, output_size)."""
        if torch.is_grad_enabled():
            self.projected.forget()
        kept = drop(words.values, self.vector_dropout, self.training)
        return self.encoder(words.with_values(kept))


def _looked_up(embedding: nn.Embedding, values: Tensor) -> tuple[Tensor, Tensor]:
    """Look up words once each: their vectors, and which of them stands where, (words,)."""
    if values.is_cuda and embedding.num_embeddings <= _WHOLE_TABLE:
        # To count the distinct words the host would have to wait for the device, which projects
        # a whole table in less time.
        return embedding.weight, values
    found, index = distinct(values, embedding.num_embeddings)
    return embedding(found), index


class Level(nn.Module):
    """One floor of a hierarchy: read each row, then pool it into one vector.

    The states say how much each item weighs. What is added up is the states too, or with
    ``own`` the items as they came, so that a weight cannot be spent on a neighbour's content.
    A pooling that does not weigh, such as the mean, always adds up the states.
    """

    def __init__(
        self, size: int, hidden_size: int, config: ReaderConfig, *, own: bool = False
    ) -> None:
        super().__init__()
        self.encoder = build_encoder(size, hidden_size, config)
        self.pooling = build_pooling(self.encoder.output_size, config)
        self.own = own and self.pooling.weighs
        columns = self.pooling.output_size // self.encoder.output_size
        self.output_size = columns * (size if self.own else self.encoder.output_size)

    def forward(self, items: Ragged, weights: Tensor | None = None) -> Pooled:
        """Make one vector of every row, (rows, output_size)."""
        pooled = pool_read(self.encoder, self.pooling, items) if weights is None else None
        if pooled is None:
            pooled = self.pooling(self.encoder(items), weights)
        return self._of_items(items, pooled) if self.own else pooled

    def from_table(self, table: Tensor, numbers: Ragged) -> Pooled:
        """Make one vector of every row of numbers that pick items from a table, (items, size)."""
        pooled = None
        if isinstance(self.encoder, RecurrentEncoder) and self.encoder.attends:
            projected = self.encoder.project(table)
            pooled = pool_projected(self.encoder, self.pooling, numbers, projected)
        if pooled is None:
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
