"""The network behind the hierarchical models: words make sentences, sentences make a document.

Models differ in how the states of a sentence's words become its vector; the rest is here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from torch import Tensor, nn

from ..config import checked_settings, require, require_one_of
from ..data.batch import Batch
from ..nn.dropout import drop
from ..nn.pooling import Pooled, Pooling
from ..ragged import Ragged
from .base import Attention, Impose, Model, Output
from .omission import omit_sentences
from .parts import Level, WordReader, check_imposed, mean_penalty, word_embedding
from .settings import ReaderConfig

__all__ = ["Hierarchy", "HierarchyConfig", "SentenceMaker"]


@dataclass(frozen=True)
@checked_settings
class HierarchyConfig(ReaderConfig):
    """The settings of a reader with two levels.

    In the paper what is added up are states that know the neighbouring sentences (``weighing=
    "states"``), so a weight may be spent on a sentence that stands beside what decided. Here it
    is the sentences' own vectors: the neighbours still say how much a sentence weighs, but not
    what it says, and the document's logits are a sum of what its sentences say.
    """

    sentence_hidden_size: int | None = None  # hidden_size where it is not given
    reading: Literal["isolated", "flow"] = "isolated"  # flow: words are read across sentence ends
    weighing: Literal["states", "sentences"] = "sentences"  # what the sentence weights add up
    sentence_dropout: float = 0.3  # whole sentences left out

    def __post_init__(self) -> None:
        super().__post_init__()
        size = self.sentence_hidden_size
        require(size is None or size >= 1, f"sentence_hidden_size must be at least 1, got {size}")
        require_one_of("reading", self.reading, ("isolated", "flow"))
        require_one_of("weighing", self.weighing, ("states", "sentences"))
        share = self.sentence_dropout
        require(0 <= share < 1, f"sentence_dropout must be from 0 to below 1, got {share}")


class SentenceMaker(nn.Module):
    """Makes the vector of a sentence from the states of its words."""

    isolated: bool
    """Whether it looks at no other sentence."""
    output_size: int

    @property
    def alone(self) -> Pooling | None:
        """The pooling of a sentence's words, where that is all it does."""
        return None

    def forward(self, states: Ragged, sentences: Tensor, weights: Tensor | None) -> Pooled:
        """Pool the words of each sentence; ``sentences`` says how many each document has."""
        raise NotImplementedError


class Hierarchy(Model):
    """Classify documents by their sentences, and sentences by their words."""

    def __init__(
        self,
        config: HierarchyConfig,
        maker: SentenceMaker,
        *,
        words: WordReader,
        vocab_size: int,
        label_count: int,
    ) -> None:
        super().__init__()
        self.embedding = word_embedding(vocab_size, config.embedding_size)
        self.words = words
        self.maker = maker
        hidden_size = config.sentence_hidden_size or config.hidden_size
        own = config.weighing == "sentences"
        self.sentences = Level(maker.output_size, hidden_size, config, own=own)
        self.classify = nn.Linear(self.sentences.output_size, label_count)
        self.flows = config.reading == "flow"
        self.isolated = maker.isolated and not self.flows
        self.penalty = config.penalty
        self.state_dropout = config.state_dropout
        self.sentence_dropout = config.sentence_dropout

    def forward(self, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify every document of the batch."""
        if self.training and impose is None:
            batch = omit_sentences(batch, self.sentence_dropout)
        return self._from_made(self._read(batch, impose), batch, impose)

    def from_vectors(self, words: Ragged, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify from given word vectors, one row a sentence."""
        self._check(batch, impose)
        states = self.words.from_vectors(self._rows(batch).with_values(words.values))
        return self._from_made(self._made(states, batch, impose), batch, impose)

    def sentence_vectors(self, batch: Batch, impose: Impose | None = None) -> Ragged:
        """Return one vector a sentence, one row a document."""
        return Ragged(self._read(batch, impose).vectors, batch.sentences)

    def from_sentences(self, sentences: Ragged, impose: Impose | None = None) -> Output:
        """Classify from given sentence vectors, one row a document."""
        check_imposed(impose, {"sentence": sentences.values.shape[0]})
        return self._from_sentences(sentences, impose)

    def from_kept(self, vectors: Tensor, numbers: Ragged) -> Output:
        """Classify documents put together from kept sentence vectors, (kept, size)."""
        kept = drop(vectors, self.state_dropout, self.training)
        return self._from_pooled(self.sentences.from_table(kept, numbers))

    def _rows(self, batch: Batch) -> Ragged:
        """The ids in the rows that the word encoder reads in one go."""
        return batch.by_document if self.flows else batch.ids

    def _read(self, batch: Batch, impose: Impose | None) -> Pooled:
        """Read the words and make the sentences, in one go where that can be done."""
        self._check(batch, impose)
        alone = None if self.flows or "word" in (impose or {}) else self.maker.alone
        pooled = None if alone is None else self.words.pooled(self.embedding, batch.ids, alone)
        if pooled is not None:
            return pooled
        return self._made(self.words(self.embedding, self._rows(batch)), batch, impose)

    def _check(self, batch: Batch, impose: Impose | None) -> None:
        counts = {"word": batch.ids.values.shape[0], "sentence": len(batch.ids)}
        check_imposed(impose, counts)

    def _made(self, states: Ragged, batch: Batch, impose: Impose | None) -> Pooled:
        by_sentence = batch.ids.with_values(states.values)
        return self.maker(by_sentence, batch.sentences, (impose or {}).get("word"))

    def _from_made(self, made: Pooled, batch: Batch, impose: Impose | None) -> Output:
        output = self._from_sentences(Ragged(made.vectors, batch.sentences), impose)
        words = Attention("word", by="sentence", over="token", weights=made.weights)
        penalties = [] if output.penalty is None else [output.penalty]
        if made.penalty is not None:
            penalties.append(self.penalty * mean_penalty(made.penalty, batch.sentences))
        return replace(output, attention=(words, *output.attention), penalty=_added_up(penalties))

    def _from_sentences(self, sentences: Ragged, impose: Impose | None) -> Output:
        kept = drop(sentences.values, self.state_dropout, self.training)
        pooled = self.sentences(sentences.with_values(kept), (impose or {}).get("sentence"))
        return self._from_pooled(pooled)

    def _from_pooled(self, pooled: Pooled) -> Output:
        documents = drop(pooled.vectors, self.state_dropout, self.training)
        penalty = None
        if pooled.penalty is not None:
            penalty = self.penalty * pooled.penalty.sum() / max(len(pooled.weights), 1)
        weights = Attention("sentence", by="document", over="sentence", weights=pooled.weights)
        return Output(self.classify(documents), (weights,), penalty)


def _added_up(penalties: Sequence[Tensor]) -> Tensor | None:
    if not penalties:
        return None
    total = penalties[0]
    for penalty in penalties[1:]:
        total = total + penalty
    return total
