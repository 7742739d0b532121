"""A recurrent reader with attention over the whole document, sentences or not.

With ``cell="lstm"`` it is the attention LSTM of Zhou et al. (2016), with
``pooling="structured"`` the self-attentive embedding of Lin et al. (2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from ..config import checked_settings
from ..data.batch import Batch
from ..nn.dropout import drop
from ..nn.pooling import Pooled
from ..ragged import Ragged
from .base import Attention, Impose, Model, Output
from .parts import WordReader, build_pooling, check_imposed, word_embedding
from .settings import ReaderConfig

__all__ = ["Flat", "FlatConfig"]


@dataclass(frozen=True)
@checked_settings
class FlatConfig(ReaderConfig):
    """Reads a document as one row of words."""

    name: ClassVar[str] = "flat"

    def build(self, *, vocab_size: int, label_count: int) -> Flat:
        """Make the network, with fresh weights drawn from torch's seed."""
        return Flat(self, vocab_size=vocab_size, label_count=label_count)


class Flat(Model):
    """Classify documents by their words."""

    def __init__(self, config: FlatConfig, *, vocab_size: int, label_count: int) -> None:
        super().__init__()
        self.embedding = word_embedding(vocab_size, config.embedding_size)
        self.words = WordReader(config)
        self.pooling = build_pooling(self.words.output_size, config)
        self.classify = nn.Linear(self.pooling.output_size, label_count)
        self.penalty = config.penalty
        self.state_dropout = config.state_dropout

    def forward(self, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify every document of the batch."""
        rows = batch.by_document
        pooled = None if impose else self.words.pooled(self.embedding, rows, self.pooling)
        if pooled is not None:
            return self._from_pooled(pooled)
        return self._from_states(self.words(self.embedding, rows), impose)

    def from_vectors(self, words: Ragged, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify from given word vectors, one row a sentence."""
        rows = batch.by_document.with_values(words.values)
        return self._from_states(self.words.from_vectors(rows), impose)

    def _from_states(self, states: Ragged, impose: Impose | None) -> Output:
        check_imposed(impose, {"word": states.values.shape[0]})
        return self._from_pooled(self.pooling(states, (impose or {}).get("word")))

    def _from_pooled(self, pooled: Pooled) -> Output:
        documents = drop(pooled.vectors, self.state_dropout, self.training)
        penalty = None
        if pooled.penalty is not None:
            penalty = self.penalty * pooled.penalty.sum() / max(len(pooled.weights), 1)
        weights = Attention("word", by="document", over="token", weights=pooled.weights)
        return Output(self.classify(documents), (weights,), penalty)
