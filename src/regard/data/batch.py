"""Many texts as one batch of ids, with the way back to the texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..ragged import Ragged, send
from ..text.document import Tokens
from ..text.encode import Encoded
from ..text.vocab import Vocab
from .batches import places_of_rows

__all__ = ["Batch", "Shape", "collate", "gather", "tokens_per_document"]


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """How many sentences and words documents have, in the memory of the host."""

    sentence_lengths: Tensor  # (sentences,)
    sentences: Tensor  # (documents,)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Many texts as ids, one row a sentence, with the way back to the texts.

    The n-th id of ``ids.values`` is the n-th token of ``texts`` laid end to end. ``labels``
    holds class numbers (documents,), or for multi-label data zeros and ones (documents, classes).
    ``weights`` says how much each document counts in a loss, (documents,); None: all the same.
    """

    ids: Ragged  # int64, one row a sentence
    sentences: Tensor  # (documents,), sentences in each
    texts: tuple[Tokens, ...] = ()  # never moved to a device; empty in bulk training
    labels: Tensor | None = None
    known_shape: Shape | None = None  # of a batch on a GPU
    weights: Tensor | None = None

    def __len__(self) -> int:
        """How many documents there are."""
        return self.sentences.shape[0]

    @property
    def token_count(self) -> int:
        """How many tokens all documents have together."""
        return self.ids.values.shape[0]

    @property
    def item_counts(self) -> Tensor:
        """How many tokens each document has, (documents,)."""
        return self.by_document.lengths

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The numbers the batch is made of, from which it can be known again."""
        given = [part for part in (self.labels, self.weights) if part is not None]
        return (self.ids.values, self.ids.lengths, self.sentences, *given)

    @property
    def shape(self) -> Shape:
        """The shape; a batch on a GPU that was not made on the host has to wait for it."""
        return self.known_shape or Shape(self.ids.lengths.cpu(), self.sentences.cpu())

    @property
    def by_document(self) -> Ragged:
        """The same ids, one row a document."""
        lengths = tokens_per_document(self.ids.lengths, self.sentences)
        if self.known_shape is None:
            return Ragged(self.ids.values, lengths)
        shape = self.known_shape
        known = tokens_per_document(shape.sentence_lengths, shape.sentences).tolist()
        return Ragged.knowing(self.ids.values, lengths, known)

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on ``device``; the texts stay where they are."""
        return replace(
            self,
            ids=self.ids.to(device),
            sentences=send(self.sentences, device),
            labels=None if self.labels is None else send(self.labels, device),
            known_shape=self.shape,
            weights=None if self.weights is None else send(self.weights, device),
        )


def tokens_per_document(sentence_lengths: Tensor, sentences: Tensor) -> Tensor:
    """Add up the lengths of each document's sentences, (documents,)."""
    ends = torch.cat([sentence_lengths.new_zeros(1), sentence_lengths.cumsum(0)])
    last = sentences.cumsum(0)
    return ends[last] - ends[last - sentences]


def collate(texts: Sequence[Tokens], vocab: Vocab, labels: Tensor | None = None) -> Batch:
    """Put texts into one batch; a text without tokens is a document of no sentences."""
    ids = [vocab.ids(text.words()) for text in texts]
    lengths = [text.per_sentence for text in texts]
    return Batch(
        ids=Ragged(_join(ids), _join(lengths)),
        sentences=torch.tensor([len(row) for row in lengths], dtype=torch.int64),
        texts=tuple(texts),
        labels=labels,
    )


def gather(encoded: Encoded, places: NDArray[np.int64]) -> Batch:
    """Put the chosen texts, in the order given, into one batch that does not hold the texts."""
    ids = encoded.ids[_items_of(encoded.lengths, places)]
    lengths = encoded.sentence_lengths[_items_of(encoded.sentences, places)]
    return Batch(
        ids=Ragged(_join([ids]), _join([lengths])),
        sentences=torch.from_numpy(encoded.sentences[places]),
    )


def _items_of(counts: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the items of the chosen rows lie, if each row has so many and all lie end to end."""
    return places_of_rows((np.cumsum(counts) - counts)[places], counts[places])


def _join(arrays: Sequence[np.ndarray]) -> Tensor:
    joined = np.concatenate(arrays) if arrays else np.zeros(0)
    return torch.from_numpy(joined.astype(np.int64))
