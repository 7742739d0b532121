"""A network with n-grams beside it: one model, whose logits are the sum of two shares.

The network reads in order and at length; the n-grams know what few words say for themselves, and
are learnt by a convex solver from the few documents that there may be. What the n-grams add to an
answer is a sum over the words of the text, so it can be shown without an estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..config import checked_settings, require, require_counts
from ..data.batch import Batch
from ..ragged import Ragged
from .base import Impose, Model, Output
from .ngrams import LONGEST, Floats, NGramTable, Picks, Rows, weigh_tables

__all__ = ["Wide", "WideConfig", "WidePart", "rows_of"]


@dataclass(frozen=True)
@checked_settings
class WideConfig:
    """Which n-grams are weighed beside the network."""

    longest: int = LONGEST
    """Words of an n-gram at most."""
    fewest_documents: int = 2
    """An n-gram that fewer training documents have is left out."""
    most_weights: int = 4_000_000
    """N-grams times classes at most; the n-grams of most documents are kept."""
    letters: bool = True
    """Whether words are also known by their letters; never where most words are single ones."""
    emphasis: bool = True
    """Whether the first or the last sentences count more, where documents left out say so."""

    def __post_init__(self) -> None:
        require(
            1 <= self.longest <= LONGEST,
            f"longest must be from 1 to {LONGEST}, got {self.longest}",
        )
        require_counts(self, "fewest_documents", "most_weights")


def rows_of(batch: Batch) -> Rows:
    """The ids of a batch as n-grams are found in them."""
    parts = (batch.ids.values, batch.shape.sentence_lengths, batch.shape.sentences)
    return Rows(*(part.cpu().numpy() for part in parts))


@dataclass(frozen=True, slots=True, eq=False)
class WidePart:
    """Features of one kind, and what each says for each class."""

    table: NGramTable
    weights: NDArray[np.float32]  # (features, classes)


class Wide(Model):
    """Classifies by a network and by n-grams: ``scale`` times the one, plus the other."""

    intercepts: Tensor  # (classes,)

    def __init__(
        self,
        network: Model,
        parts: Sequence[WidePart],
        *,
        intercepts: NDArray[np.float32],
        scale: float = 1.0,
    ) -> None:
        """Put n-grams beside a network.

        They are looked up where the texts are read, so they stay in the memory of the host.
        """
        super().__init__()
        self.inner = network
        self.embedding = network.embedding
        self.tables = tuple(part.table for part in parts)
        self.weights = nn.ParameterList(
            nn.Parameter(torch.from_numpy(part.weights), requires_grad=False) for part in parts
        )
        # Not a parameter: the first parameter says where the model computes, as the network does.
        self.register_buffer("intercepts", torch.from_numpy(intercepts))
        self.scale = scale

    @property
    def network(self) -> Model:
        """The network without the n-grams."""
        return self.inner

    def forward(self, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify every document of the batch."""
        output = self.inner(batch, impose)
        return replace(output, logits=self.completed(output.logits, batch))

    def embed(self, batch: Batch) -> Ragged:
        """Return the word vectors, (tokens, size), one row a sentence."""
        return self.inner.embed(batch)

    def from_vectors(self, words: Ragged, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify from given word vectors; what the n-grams say does not depend on them."""
        output = self.inner.from_vectors(words, batch, impose)
        return replace(output, logits=self.completed(output.logits, batch))

    def completed(self, logits: Tensor, batch: Batch) -> Tensor:
        """Make the model's logits of those that its network gave the documents of a batch."""
        return self.scale * logits + self.share(batch)

    def completed_kept(self, logits: Tensor, sentences: Ragged, numbers: Ragged) -> Tensor:
        """Do as ``completed`` for documents put together from sentences."""
        parts = (sentences.values, sentences.lengths, numbers.values, numbers.lengths)
        picks, threads = Picks(*(part.cpu().numpy() for part in parts)), torch.get_num_threads()
        weighed = [
            part.table.weigh_picks(picks, part.weights, threads=threads) for part in self.parts
        ]
        return self.scale * logits + self._add_up(weighed)

    def set_vectors(self, vectors: Tensor, known: Tensor) -> None:
        """Start the word vectors from pretrained ones where ``known``, (words,), is true."""
        self.inner.set_vectors(vectors, known)

    def share(self, batch: Batch) -> Tensor:
        """Return what the n-grams add to the logits, (documents, classes)."""
        parts, threads = self.parts, torch.get_num_threads()
        weights = [part.weights for part in parts]
        return self._add_up(weigh_tables(self.tables, weights, rows_of(batch), threads=threads))

    def _add_up(self, weighed: Sequence[Floats]) -> Tensor:
        """Add up what the features of each kind say, and what the n-grams say of any text."""
        summed = sum(weighed, start=self.intercepts.detach().cpu().numpy())
        return torch.from_numpy(summed).to(self.embedding.weight)

    @property
    def parts(self) -> tuple[WidePart, ...]:
        """The features, with their weights as they are now."""
        weights = [weight.detach().cpu().numpy() for weight in self.weights]
        return tuple(map(WidePart, self.tables, weights))

    def word_shares(self, batch: Batch) -> Tensor:
        """Return what each token adds to the share, (tokens, classes), in double precision.

        All tokens of a document together add ``share`` without the intercepts.
        """
        rows, threads = rows_of(batch), torch.get_num_threads()
        shares = sum(
            part.table.word_shares(rows, part.weights, threads=threads) for part in self.parts
        )
        return torch.from_numpy(shares).to(self.embedding.weight.device)
