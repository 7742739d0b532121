"""Hierarchical Attention Network (Yang et al., 2016).

Words make sentences and sentences make documents, each time by the same two steps: an encoder
reads the row, and attention pools it into one vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor, nn

from ..config import checked_settings, require, require_one_of, require_shares
from ..data.batch import Batch
from ..nn.dropout import drop
from ..nn.levels import Level, Picked
from ..nn.pooling import Pooled
from ..nn.rows import row_mean
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
from .words import omit_sentences

__all__ = ["HAN", "HANConfig"]


@dataclass(frozen=True)
@checked_settings
class HANConfig(ReaderConfig):
    """Hierarchical Attention Network: words make sentences, sentences make the document.

    In the paper what is added up are states that know the neighbouring sentences (``weighing=
    "states"``), so a weight may be spent on a sentence that stands beside what decided. Here it
    is the sentences' own vectors: the neighbours still say how much a sentence weighs, but not
    what it says, and the document's logits are a sum of what its sentences say.
    """

    name: ClassVar[str] = "han"

    sentence_hidden_size: int | None = None  # hidden_size where it is not given
    reading: Literal["isolated", "flow"] = "isolated"  # flow: words are read across sentence ends
    weighing: Literal["states", "sentences"] = "sentences"  # what the sentence weights add up
    sentence_dropout: float = 0.3  # whole sentences left out

    def __post_init__(self) -> None:
        super().__post_init__()
        size = self.sentence_hidden_size
        require(size is None or size >= 1, f"sentence_hidden_size must be at least 1, got {size}")
        if size is not None:
            self.require_shape(size)
        require_one_of("reading", self.reading, ("isolated", "flow"))
        require_one_of("weighing", self.weighing, ("states", "sentences"))
        require_shares(self, "sentence_dropout")

    def build(self, *, vocab_size: int, label_count: int) -> HAN:
        """Make the network, with fresh weights drawn from torch's seed."""
        return HAN(self, vocab_size=vocab_size, label_count=label_count)

    def build_words(self) -> Level:
        """Make the level that reads the words of a sentence."""
        return self.build_level(self.embedding_size, self.hidden_size)


class HAN(Model):
    """Classify documents by their sentences, and sentences by their words."""

    former_names: ClassVar[dict[str, str]] = {"maker.pooling.": "words.pooling."}

    def __init__(self, config: HANConfig, *, vocab_size: int, label_count: int) -> None:
        super().__init__()
        words = config.build_words()
        self.config = config
        self.embedding = config.build_embedding(vocab_size)
        self.words = words
        self.sentences = config.build_level(
            words.output_size,
            config.sentence_hidden_size or config.hidden_size,
            own=config.weighing == "sentences",
        )
        self.classify: nn.Linear = SteadyLinear(self.sentences.output_size, label_count)

    def forward(self, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify every document of the batch."""
        if self.training and impose is None:
            batch = omit_sentences(batch, self.config.sentence_dropout)
        return self._read(self.embedding.pick(batch.ids), batch, impose or {})

    def from_vectors(self, words: Ragged, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify from given word vectors, one row a sentence."""
        return self._read(self.embedding.drop(words), batch, impose or {})

    def _read(self, words: Ragged | Picked, batch: Batch, impose: Impose) -> Output:
        return self._conclude(self._attend_to_words(words, batch, impose), batch, impose)

    def _conclude(self, sentences: Pooled, batch: Batch, impose: Impose) -> Output:
        """Classify from sentences that are pooled from their words."""
        documents = self._attend_to_sentences(Ragged(sentences.vectors, batch.sentences), impose)
        overlap = sentences.penalty
        if overlap is not None:
            overlap = row_mean(Ragged(overlap, batch.sentences))
        return Output(
            self._logits(documents),
            (
                Attention("word", by="sentence", over="token", weights=sentences.weights),
                Attention("sentence", by="document", over="sentence", weights=documents.weights),
            ),
            mean_penalty(self.config.penalty, overlap, documents.penalty),
        )

    def _attend_to_words(self, words: Ragged | Picked, batch: Batch, impose: Impose) -> Pooled:
        """Encode the words of every sentence and attend to them."""
        check_imposed(impose, {"word": len(batch.ids.values), "sentence": len(batch.ids)})
        return self.words(words, impose.get("word"), across=self._reading_across(batch))

    def _reading_across(self, batch: Batch) -> Tensor | None:
        """How many words the encoder reads in one go, where it reads on over sentence ends."""
        return batch.by_document.lengths if self.config.reading == "flow" else None

    def _attend_to_sentences(self, sentences: Ragged, impose: Impose) -> Pooled:
        """Encode the sentences of every document and attend to them."""
        vectors = drop(sentences.values, self.config.state_dropout, self.training)
        return self.sentences(sentences.with_values(vectors), impose.get("sentence"))

    def _logits(self, documents: Pooled) -> Tensor:
        return self.classify(drop(documents.vectors, self.config.state_dropout, self.training))

    def self_attention(self, batch: Batch) -> Iterator[SelfLooks]:
        """Yield where the words look at each other, in a transformer over them."""
        rows = batch.by_document if self.config.reading == "flow" else batch.ids
        vectors = rows.with_values(self.embedding(rows.values))
        return looks_of(self.words.encoder, vectors)

    @property
    def isolated(self) -> bool:
        """Whether a sentence's vector depends on that sentence alone, so that it may be kept."""
        return self.config.reading == "isolated"

    def sentence_vectors(self, batch: Batch, impose: Impose | None = None) -> Ragged:
        """Return one vector a sentence, one row a document."""
        words = self.embedding.pick(batch.ids)
        return Ragged(self._attend_to_words(words, batch, impose or {}).vectors, batch.sentences)

    def from_sentences(self, sentences: Ragged, impose: Impose | None = None) -> Output:
        """Classify from given sentence vectors, one row a document."""
        check_imposed(impose or {}, {"sentence": len(sentences.values)})
        return self._from_documents(self._attend_to_sentences(sentences, impose or {}))

    def from_kept(self, vectors: Tensor, numbers: Ragged) -> Output:
        """Classify documents put together from kept sentence vectors, (kept, size)."""
        vectors = drop(vectors, self.config.state_dropout, self.training)
        return self._from_documents(self.sentences(Picked(vectors, numbers)))

    def _from_documents(self, documents: Pooled) -> Output:
        weights = Attention("sentence", by="document", over="sentence", weights=documents.weights)
        penalty = mean_penalty(self.config.penalty, documents.penalty)
        return Output(self._logits(documents), (weights,), penalty)
