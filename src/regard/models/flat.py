"""A recurrent reader with attention over the whole document, sentences or not.

With ``cell="lstm"`` it is the attention LSTM of Zhou et al. (2016), with
``pooling="structured"`` the self-attentive embedding of Lin et al. (2017).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..config import checked_settings
from ..data.batch import Batch
from ..nn.dropout import drop
from ..nn.levels import Picked
from ..nn.steady import SteadyLinear
from ..ragged import Ragged
from .base import (
    Attention,
    Impose,
    Model,
    Output,
    SelfLooks,
    check_imposed,
    looks_of,
    mean_penalty,
)
from .settings import ReaderConfig

__all__ = ["Flat", "FlatConfig"]


@dataclass(frozen=True)
@checked_settings
class FlatConfig(ReaderConfig):
    """One encoder and one pooling over all words of a document, whatever its sentences."""

    name: ClassVar[str] = "flat"

    def build(self, *, vocab_size: int, label_count: int) -> Flat:
        """Make the network, with fresh weights drawn from torch's seed."""
        return Flat(self, vocab_size=vocab_size, label_count=label_count)


class Flat(Model):
    """Classify documents by their words."""

    former_names: ClassVar[dict[str, str]] = {"pooling.": "words.pooling."}

    def __init__(self, config: FlatConfig, *, vocab_size: int, label_count: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = config.build_embedding(vocab_size)
        self.words = config.build_level(config.embedding_size, config.hidden_size)
        self.classify = SteadyLinear(self.words.output_size, label_count)

    def forward(self, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify every document of the batch."""
        return self._read(self.embedding.pick(batch.by_document), batch, impose or {})

    def from_vectors(self, words: Ragged, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify from given word vectors, one row a sentence."""
        rows = batch.by_document.with_values(words.values)
        return self._read(self.embedding.drop(rows), batch, impose or {})

    def self_attention(self, batch: Batch) -> Iterator[SelfLooks]:
        """Yield where the words of each document look at each other, in a transformer."""
        rows = batch.by_document
        vectors = rows.with_values(self.embedding(rows.values))
        return looks_of(self.words.encoder, vectors)

    def _read(self, words: Ragged | Picked, batch: Batch, impose: Impose) -> Output:
        check_imposed(impose, {"word": len(batch.ids.values)})
        documents = self.words(words, impose.get("word"))
        kept = drop(documents.vectors, self.config.state_dropout, self.training)
        return Output(
            self.classify(kept),
            (Attention("word", by="document", over="token", weights=documents.weights),),
            mean_penalty(self.config.penalty, documents.penalty),
        )
