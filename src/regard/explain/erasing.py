"""What a model answers about a document without some of its pieces: exact, in few batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..config import require_one_of
from ..data.batch import Batch
from ..models.base import Hierarchical, Model
from ..ragged import Ragged
from ..text.vocab import UNKNOWN

__all__ = ["POLICIES", "Eraser", "Mask", "Policy", "documents"]

Mask = NDArray[np.bool_]
"""Which pieces each version of a document keeps, (versions, pieces)."""

T = TypeVar("T", bound=np.generic)
BATCH_ITEMS = 1 << 15  # words and sentences that are read at once, so that caches hold them
MASK_SIZE = 1 << 22  # the most cells of a mask that is made here


@dataclass(frozen=True, slots=True)
class Policy:
    """How a word is taken away: cut out, or its id replaced by another."""

    replacement: int | None


POLICIES = {"delete": Policy(None), "mask": Policy(UNKNOWN)}
"""The policies by name. Deleted, a document gets shorter, and a sentence without words is gone."""


def documents(batch: Batch) -> list[Ragged]:
    """The ids of each document, one row a sentence."""
    lengths = batch.ids.lengths.split(batch.sentences.tolist())
    ids = batch.ids.values.split(batch.by_document.host_lengths)
    return [Ragged(*parts) for parts in zip(ids, lengths, strict=True)]


class Eraser:
    """Asks a model about one document again and again, each time without some of its pieces.

    Where a model encodes sentences in isolation, their vectors are kept: a sentence that lost
    no word is never read again. Every other model reads each version from its words. All answers
    are logits in double precision on the CPU, (versions, classes).
    """

    def __init__(self, model: Model, ids: Ragged, policy: str = "delete") -> None:
        require_one_of("erasure", policy, POLICIES)
        self._model = model
        self._policy = POLICIES[policy]
        self._device = ids.values.device
        self._ids = ids.values.cpu().numpy()
        lengths = np.array(ids.host_lengths, dtype=np.int64)
        self.word_count, self.sentence_count = len(self._ids), len(lengths)
        self.homes = np.repeat(np.arange(len(lengths)), lengths)  # the sentence of each word
        self._starts = np.cumsum(lengths) - lengths
        self._keeper = model if isinstance(model, Hierarchical) and model.isolated else None
        if self._keeper is not None:
            self._kept = self._vectors(self._keeper, ids)

    def whole(self) -> Tensor:
        """Return the logits of the document as it is, (1, classes)."""
        return self.with_sentences(np.ones((1, self.sentence_count), dtype=bool))

    def with_words(self, kept: Mask) -> Tensor:
        """Return the logits of versions with the words ``kept``, (versions, words)."""
        if self._keeper is None:
            return self.reread(kept)
        found = []
        to_read = (self._counts(kept) * self._changed(kept)).sum(1)
        for part in _portions(to_read + self.sentence_count):
            changed = self._changed(kept[part])
            there = self._counts(kept[part]) > 0
            numbers = np.where(there, np.arange(self.sentence_count), -1)
            numbers[changed] = self.sentence_count + np.arange(changed.sum())
            fresh = self._vectors(self._keeper, self._sentences(kept[part], changed))
            found.append(self._put_together(self._keeper, fresh, numbers))
        return torch.cat(found)

    def with_sentences(self, kept: Mask) -> Tensor:
        """Return the logits of versions with the sentences ``kept``, (versions, sentences)."""
        if self._keeper is None or self._policy.replacement is not None:
            return self.with_words(kept[:, self.homes])
        numbers = np.where(kept, np.arange(self.sentence_count), -1)
        portions = _portions(np.full(len(kept), self.sentence_count))
        none = self._kept[:0]
        return torch.cat([self._put_together(self._keeper, none, numbers[p]) for p in portions])

    def asking(self, level: str) -> Callable[[Mask], Tensor]:
        """Return ``with_words`` or ``with_sentences``, for ``"word"`` or ``"sentence"``."""
        return {"word": self.with_words, "sentence": self.with_sentences}[level]

    def without_each_word(self, places: NDArray[np.int64] | None = None) -> Tensor:
        """Return the logits without each single word, or each of those at ``places``."""
        chosen = np.arange(self.word_count) if places is None else places
        masks = _all_but_one(chosen, self.word_count)
        return torch.cat([self.with_words(mask) for mask in masks])

    def without_each_sentence(self) -> Tensor:
        """Return the logits without each single sentence."""
        masks = _all_but_one(np.arange(self.sentence_count), self.sentence_count)
        return torch.cat([self.with_sentences(mask) for mask in masks])

    def reread(self, kept: Mask) -> Tensor:
        """Do as ``with_words`` with nothing kept: every version is read from its words."""
        found = []
        for part in _portions(np.full(len(kept), self.word_count)):
            there = self._counts(kept[part]) > 0
            ids = self._sentences(kept[part], there)
            with torch.no_grad():
                output = self._model(Batch(ids, self._tensor(there.sum(1))))
            found.append(output.logits.double().cpu())
        return torch.cat(found)

    def _present(self, kept: Mask) -> Mask:
        """Which words a version has at all: those that are not cut out."""
        return kept if self._policy.replacement is None else np.ones_like(kept)

    def _counts(self, kept: Mask) -> NDArray[np.int64]:
        """How many words each sentence of each version has."""
        return _by_sentence(np.add, self._present(kept).astype(np.int64), self._starts)

    def _changed(self, kept: Mask) -> Mask:
        """Which sentences of each version lost words, and still have some."""
        whole = _by_sentence(np.logical_and, kept, self._starts)
        return ~whole & (self._counts(kept) > 0)

    def _sentences(self, kept: Mask, read: Mask) -> Ragged:
        """The ids of the sentences to ``read``, version after version."""
        versions, words = np.nonzero(self._present(kept) & read[:, self.homes])
        ids = self._ids[words]
        if self._policy.replacement is not None:
            ids = np.where(kept[versions, words], ids, self._policy.replacement)
        return Ragged(self._tensor(ids), self._tensor(self._counts(kept)[read]))

    def _vectors(self, keeper: Hierarchical, ids: Ragged) -> Tensor:
        """The vectors of sentences that need no company."""
        with torch.no_grad():
            return keeper.sentence_vectors(Batch(ids, self._tensor(np.array([len(ids)])))).values

    def _put_together(
        self, keeper: Hierarchical, fresh: Tensor, numbers: NDArray[np.int64]
    ) -> Tensor:
        """Classify versions of kept and fresh sentences; a number below zero stands for none."""
        there = numbers >= 0
        rows = Ragged(self._tensor(numbers[there]), self._tensor(there.sum(1)))
        with torch.no_grad():
            return keeper.from_kept(torch.cat([self._kept, fresh]), rows).logits.double().cpu()

    def _tensor(self, numbers: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(numbers).to(self._device)


def _by_sentence(add: np.ufunc, items: NDArray[T], starts: NDArray[np.int64]) -> NDArray[T]:
    """Join the words of each sentence, (versions, sentences)."""
    if not len(starts):
        return items[:, :0]
    return add.reduceat(items, starts, axis=1)


def _portions(costs: NDArray[np.int64]) -> Iterator[slice]:
    """Cut the versions into parts of bounded cost, of at least one version each; one if none."""
    first, spent = 0, 0
    for place, cost in enumerate(costs.tolist()):
        if place > first and spent + cost > BATCH_ITEMS:
            yield slice(first, place)
            first, spent = place, 0
        spent += cost
    yield slice(first, len(costs))


def _all_but_one(places: NDArray[np.int64], count: int) -> Iterator[Mask]:
    """Masks of bounded size whose rows keep all pieces but one."""
    step = max(1, MASK_SIZE // max(count, 1))
    for first in range(0, max(len(places), 1), step):
        some = places[first : first + step]
        kept = np.ones((len(some), count), dtype=bool)
        kept[np.arange(len(some)), some] = False
        yield kept
