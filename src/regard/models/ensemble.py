"""Several networks of one kind as one model: it thinks likely what they do on average.

Each was trained with a seed of its own. All that is asked of a model is asked of every member: the
attention is their mean, and so is what is left of a text that lost words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from ..data.batch import Batch
from ..ragged import Ragged
from .base import Attention, Hierarchical, Impose, Model, Output
from .words import WordEmbedding

__all__ = ["Ensemble", "ensemble_of"]


def ensemble_of(members: Sequence[Model], *, multilabel: bool) -> Model:
    """Make one model of several; a single one stays what it is."""
    if len(members) == 1:
        return members[0]
    whole = all(isinstance(member, Hierarchical) for member in members)
    return (HierarchicalEnsemble if whole else Ensemble)(members, multilabel=multilabel)


class Ensemble(Model):
    """Classifies by the mean of its members' probabilities; its logits are their logarithms."""

    def __init__(self, members: Sequence[Model], *, multilabel: bool) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.multilabel = multilabel

    @property
    def embedding(self) -> WordEmbedding:  # type: ignore[override]
        """The word vectors of all members, side by side."""
        return _SideBySide([member.embedding for member in self._all()])  # type: ignore[return-value]

    def forward(self, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify every document of the batch."""
        return self._together(member(batch, impose) for member in self._all())

    def embed(self, batch: Batch) -> Ragged:
        """Return the word vectors of all members side by side, (tokens, sizes)."""
        vectors = [member.embed(batch).values for member in self._all()]
        return batch.ids.with_values(torch.cat(vectors, 1))

    def from_vectors(self, words: Ragged, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify from the word vectors of all members side by side."""
        return self._each(
            lambda member, part: member.from_vectors(words.with_values(part), batch, impose),
            words.values,
        )

    def set_vectors(self, vectors: Tensor, known: Tensor) -> None:
        """Start the word vectors of every member from pretrained ones."""
        for member in self._all():
            member.set_vectors(vectors, known)

    def _all(self) -> list[Model]:
        return list(self.members)  # type: ignore[arg-type]

    def _each(self, ask: Callable[[Model, Tensor], Output], vectors: Tensor) -> Output:
        """Ask each member about its part of vectors that stand side by side."""
        parts = vectors.chunk(len(self.members), 1)
        return self._together(map(ask, self._all(), parts))

    def _together(self, outputs: Iterable[Output]) -> Output:
        found = list(outputs)
        logits = self._logits(torch.stack([one.logits for one in found]))
        layers = zip(*(one.attention for one in found), strict=True)
        return Output(logits, tuple(map(_mean_attention, layers)))

    def _logits(self, logits: Tensor) -> Tensor:
        """The logits of the mean of the probabilities, of (members, documents, labels)."""
        if self.multilabel:
            likely, unlikely = logsigmoid(logits), logsigmoid(-logits)
            return likely.logsumexp(0) - unlikely.logsumexp(0)
        return logits.log_softmax(-1).logsumexp(0) - math.log(len(logits))


class HierarchicalEnsemble(Ensemble):
    """Members that make sentence vectors on their way, which may be kept."""

    @property
    def isolated(self) -> bool:
        """Whether a sentence's vectors depend on that sentence alone, so that they may be kept."""
        return all(member.isolated for member in self._parts())

    def sentence_vectors(self, batch: Batch, impose: Impose | None = None) -> Ragged:
        """Return the vectors of all members side by side for each sentence, one row a document."""
        found = [member.sentence_vectors(batch, impose) for member in self._parts()]
        return found[0].with_values(torch.cat([one.values for one in found], 1))

    def from_sentences(self, sentences: Ragged, impose: Impose | None = None) -> Output:
        """Classify from given sentence vectors, one row a document."""
        parts = sentences.values.chunk(len(self.members), 1)
        return self._together(
            member.from_sentences(sentences.with_values(part), impose)
            for member, part in zip(self._parts(), parts, strict=True)
        )

    def from_kept(self, vectors: Tensor, numbers: Ragged) -> Output:
        """Classify documents put together from kept sentence vectors, (kept, sizes)."""
        parts = vectors.chunk(len(self.members), 1)
        return self._together(
            member.from_kept(part.contiguous(), numbers)
            for member, part in zip(self._parts(), parts, strict=True)
        )

    def _parts(self) -> list[Hierarchical]:
        return list(self.members)  # type: ignore[arg-type]


class _SideBySide(nn.Module):
    """Tables of word vectors of equal length, read together."""

    def __init__(self, tables: Sequence[WordEmbedding]) -> None:
        super().__init__()
        self.tables = nn.ModuleList(tables)
        self.embedding_dim = sum(table.embedding_dim for table in tables)

    @property
    def weight(self) -> Tensor:
        """The vectors of the first: by them others learn where the model computes, and how."""
        weight: Tensor = self.tables[0].weight  # type: ignore[assignment]
        return weight

    def forward(self, ids: Tensor) -> Tensor:
        return torch.cat([table(ids) for table in self.tables], -1)


def _mean_attention(layers: tuple[Attention, ...]) -> Attention:
    """The mean of what the members gave each item: its rows sum to one as theirs do."""
    first = layers[0]
    values = torch.stack([layer.weights.values for layer in layers]).mean(0)
    return Attention(first.name, first.by, first.over, first.weights.with_values(values))
