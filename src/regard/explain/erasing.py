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

__all__ = ["POLICIES", "Eraser", "Mask", "Places", "Policy", "documents", "erasers"]

Mask = NDArray[np.bool_]
"""Which pieces each version of a document keeps, (versions, pieces)."""
Places = NDArray[np.int64]
"""Where pieces stand in their document, from 0."""

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


def erasers(model: Model, batch: Batch, policy: str = "delete") -> list[Eraser]:
    """Make one eraser a document; the sentences of all of them are read in one go."""
    found = documents(batch)
    keeper = _keeper(model)
    if keeper is None:
        return [Eraser(model, ids, policy) for ids in found]
    with torch.no_grad():
        vectors = keeper.sentence_vectors(batch).values.split(batch.sentences.tolist())
    return [Eraser(model, ids, policy, kept) for ids, kept in zip(found, vectors, strict=True)]


class Eraser:
    """Asks a model about one document again and again, each time without some of its pieces.

    Where a model encodes sentences in isolation, their vectors are kept: a sentence that lost
    no word is never read again. Every other model reads each version from its words. All answers
    are logits in double precision on the CPU, (versions, classes).
    """

    def __init__(
        self, model: Model, ids: Ragged, policy: str = "delete", kept: Tensor | None = None
    ) -> None:
        """Take a document as ``ids``; ``kept`` are its sentences' vectors where they are known."""
        require_one_of("erasure", policy, POLICIES)
        self.model, self.ids = model, ids
        self._policy = POLICIES[policy]
        self._device = ids.values.device
        self._ids = ids.values.cpu().numpy()
        self.lengths: Places = np.array(ids.host_lengths, dtype=np.int64)  # of the sentences
        self.word_count, self.sentence_count = len(self._ids), len(self.lengths)
        self.homes = np.repeat(np.arange(self.sentence_count), self.lengths)  # of the words
        self._starts = np.cumsum(self.lengths) - self.lengths
        self.keeper = _keeper(model)
        if self.keeper is not None:
            self.kept = self._vectors(self.keeper, ids) if kept is None else kept

    def whole(self) -> Tensor:
        """Return the logits of the document as it is, (1, classes)."""
        return self.with_sentences(np.ones((1, self.sentence_count), dtype=bool))

    def with_words(self, kept: Mask) -> Tensor:
        """Return the logits of versions with the words ``kept``, (versions, words)."""
        if self.keeper is None:
            return self.reread(kept)
        counts, changed = self._counts(kept), self._changed(kept)
        found = []
        for part in _portions((counts * changed).sum(1) + self.sentence_count):
            numbers = np.where(counts[part] > 0, np.arange(self.sentence_count), -1)
            read = changed[part]
            numbers[read] = self.sentence_count + np.arange(read.sum())
            sentences = self._sentences(kept[part], read, counts[part])
            fresh = self._vectors(self.keeper, sentences)
            found.append(self._put_together(self.keeper, fresh, numbers))
        return torch.cat(found)

    def with_sentences(self, kept: Mask) -> Tensor:
        """Return the logits of versions with the sentences ``kept``, (versions, sentences)."""
        if self.keeper is None or self._policy.replacement is not None:
            return self.with_words(kept[:, self.homes])
        numbers = np.where(kept, np.arange(self.sentence_count), -1)
        portions = _portions(np.full(len(kept), self.sentence_count))
        none = self.kept[:0]
        return torch.cat([self._put_together(self.keeper, none, numbers[p]) for p in portions])

    def asking(self, level: str) -> Callable[[Mask], Tensor]:
        """Return ``with_words`` or ``with_sentences``, for ``"word"`` or ``"sentence"``."""
        return {"word": self.with_words, "sentence": self.with_sentences}[level]

    def without_each_word(self, places: Places | None = None) -> Tensor:
        """Return the logits without each single word, or each of those at ``places``."""
        chosen = np.arange(self.word_count) if places is None else places
        if self.keeper is None:
            masks = _all_but_one(chosen, self.word_count)
            return torch.cat([self.with_words(mask) for mask in masks])
        found = []
        reads = self.lengths[self.homes[chosen]] + self.sentence_count
        for part in _portions(reads):
            some = chosen[part]
            homes = self.homes[some]
            numbers = np.tile(np.arange(self.sentence_count), (len(some), 1))
            fresh = self.sentence_count + np.arange(len(some))
            numbers[np.arange(len(some)), homes] = np.where(self.empties(some), -1, fresh)
            vectors = self.vectors_without(some)
            found.append(self._put_together(self.keeper, vectors, numbers))
        return torch.cat(found)

    def without_each_sentence(self, places: Places | None = None) -> Tensor:
        """Return the logits without each single sentence, or each of those at ``places``."""
        chosen = np.arange(self.sentence_count) if places is None else places
        masks = _all_but_one(chosen, self.sentence_count)
        return torch.cat([self.with_sentences(mask) for mask in masks])

    def vectors_without(self, places: Places) -> Tensor:
        """Return for each word at ``places`` the vector of its sentence without it, (places, size).

        Only where sentences are read in isolation; of a sentence that is empty then, zeros.
        """
        assert self.keeper is not None, "this model's sentences cannot be read alone"
        found = []
        for part in _portions(self.lengths[self.homes[places]]):
            some = places[part]
            lengths = self.lengths[self.homes[some]]
            owners = np.repeat(np.arange(len(some)), lengths)
            within = np.arange(len(owners)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            words = self._starts[self.homes[some]][owners] + within
            gone = words == some[owners]
            ids = self._ids[words]
            if self._policy.replacement is None:
                ids, lengths = ids[~gone], lengths - 1
            else:
                ids = np.where(gone, self._policy.replacement, ids)
            rows = Ragged(self._tensor(ids), self._tensor(lengths))
            found.append(self._vectors(self.keeper, rows))
        return torch.cat(found)

    def empties(self, places: Places) -> Mask:
        """Whether the sentence of each word at ``places`` is gone with it, (places,)."""
        alone = self.lengths[self.homes[places]] == 1
        return alone if self._policy.replacement is None else np.zeros_like(alone)

    def reread(self, kept: Mask) -> Tensor:
        """Do as ``with_words`` with nothing kept: every version is read from its words."""
        found = []
        for part in _portions(np.full(len(kept), self.word_count)):
            counts = self._counts(kept[part])
            there = counts > 0
            ids = self._sentences(kept[part], there, counts)
            with torch.no_grad():
                output = self.model(Batch(ids, self._tensor(there.sum(1))))
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
        counts = _by_sentence(np.add, kept.astype(np.int64), self._starts)
        lost = counts < self.lengths
        return lost & (counts > 0) if self._policy.replacement is None else lost

    def _sentences(self, kept: Mask, read: Mask, counts: NDArray[np.int64]) -> Ragged:
        """The ids of the sentences to ``read``, version after version."""
        versions, words = np.nonzero(self._present(kept) & read[:, self.homes])
        ids = self._ids[words]
        if self._policy.replacement is not None:
            ids = np.where(kept[versions, words], ids, self._policy.replacement)
        return Ragged(self._tensor(ids), self._tensor(counts[read]))

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
            return keeper.from_kept(torch.cat([self.kept, fresh]), rows).logits.double().cpu()

    def _tensor(self, numbers: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(numbers).to(self._device)


def _keeper(model: Model) -> Hierarchical | None:
    """The model, if the vectors of its sentences can be kept."""
    return model if isinstance(model, Hierarchical) and model.isolated else None


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


def _all_but_one(places: Places, count: int) -> Iterator[Mask]:
    """Masks of bounded size whose rows keep all pieces but one."""
    step = max(1, MASK_SIZE // max(count, 1))
    for first in range(0, max(len(places), 1), step):
        some = places[first : first + step]
        kept = np.ones((len(some), count), dtype=bool)
        kept[np.arange(len(some)), some] = False
        yield kept
