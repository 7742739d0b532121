"""What a model answers about documents without some of their pieces: exact, in few batches.

An ``Eraser`` says which versions of its document are meant; ``answer`` is the one place where
versions are answered, those of many documents together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..config import require_one_of
from ..data.batch import Batch
from ..models.base import Hierarchical, Model
from ..ragged import Ragged
from ..text.vocab import UNKNOWN

__all__ = [
    "POLICIES",
    "Eraser",
    "Mask",
    "Places",
    "Policy",
    "Versions",
    "answer",
    "documents",
    "erasers",
]

Mask = NDArray[np.bool_]
"""Which pieces each version of a document keeps, (versions, pieces)."""
Places = NDArray[np.int64]
"""Where pieces stand in their document, from 0."""

BATCH_ITEMS = 1 << 15  # words that are read at once, where versions are read from all their words
KEPT_ITEMS = 1 << 17  # words and sentences, where only sentences that lost words are read


@dataclass(frozen=True, slots=True)
class Policy:
    """How a word is taken away: cut out, or its id replaced by another."""

    replacement: int | None


POLICIES = {"delete": Policy(None), "mask": Policy(UNKNOWN)}
"""The policies by name. Deleted, a document gets shorter, and a sentence without words is gone."""


@dataclass(frozen=True, eq=False)
class Versions:
    """Versions of one document: which of its sentences each has, and those that lost words."""

    eraser: Eraser
    numbers: Places
    """The sentences of each version, (versions, sentences): a number of the document's own, then
    on from there of ``ids``; below zero for one that is gone."""
    ids: Places  # the tokens of all sentences that lost some, one after the other
    lengths: Places  # how many tokens each of these sentences has

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def fresh(self) -> Places:
        """How many sentences of each version lost words, (versions,)."""
        found: Places = (self.numbers >= self.eraser.sentence_count).sum(1)
        return found

    def parts(self, *, whole: bool) -> list[Versions]:
        """Cut into parts of bounded cost, of at least one version each; one if there are none.

        ``whole`` says that each version is read from all its words.
        """
        ends, words = np.cumsum(self.fresh), np.concatenate([[0], np.cumsum(self.lengths)])
        if whole:
            costs = np.full(len(self), self.eraser.token_count)
        else:
            costs = words[ends] - words[ends - self.fresh] + self.eraser.sentence_count
        found = []
        for part in _portions(costs, whole=whole):
            if part.stop - part.start == len(self):
                return [self]
            first, last = int(ends[part.start] - self.fresh[part.start]), int(ends[part.stop - 1])
            numbers = self.numbers[part]
            numbers = np.where(numbers >= self.eraser.sentence_count, numbers - first, numbers)
            ids = self.ids[words[first] : words[last]]
            found.append(Versions(self.eraser, numbers, ids, self.lengths[first:last]))
        return found

    @property
    def items(self) -> int:
        """How many words and sentences are read where kept sentences are not read again."""
        return len(self.ids) + self.numbers.size

    def words(self) -> tuple[Places, Places, Places]:
        """Return every version in full: its ids, how long its sentences are, and how many."""
        own = self.eraser
        there = self.numbers >= 0
        chosen = self.numbers[there]
        lengths = np.concatenate([own.lengths, self.lengths])
        starts = np.cumsum(lengths) - lengths
        counts = lengths[chosen]
        shifts = np.repeat(starts[chosen] - (np.cumsum(counts) - counts), counts)
        ids = np.concatenate([own.token_ids, self.ids])[np.arange(counts.sum()) + shifts]
        return ids, counts, there.sum(1)


@torch.no_grad()
def answer(asked: Sequence[Versions], *, reread: bool = False) -> list[Tensor]:
    """Return the logits of all versions, (versions, classes) a document, those of one model.

    In double precision on the CPU. Where sentences are read in isolation, one that lost no word
    is never read again, unless ``reread`` asks for it.
    """
    if not asked:
        return []
    model = asked[0].eraser.model
    keeper = None if reread else _keeper(model)
    parts = [
        (place, part) for place, one in enumerate(asked) for part in one.parts(whole=not keeper)
    ]
    words = [part.items if keeper else len(part) * part.eraser.token_count for _, part in parts]
    found: list[list[Tensor]] = [[] for _ in asked]
    for group in _portions(np.array(words, dtype=np.int64), whole=not keeper):
        some = [part for _, part in parts[group]]
        logits = _read(model, some) if keeper is None else _put_together(keeper, some)
        for (place, _), rows in zip(parts[group], logits.split([*map(len, some)]), strict=True):
            found[place].append(rows)
    return [torch.cat(rows) for rows in found]


def _read(model: Model, parts: Sequence[Versions]) -> Tensor:
    """Let a model read versions from all their words."""
    device = parts[0].eraser.device
    whole = [part.words() for part in parts]
    ids, lengths, sentences = _sent(device, *zip(*whole, strict=True))
    return model(Batch(Ragged(ids, lengths), sentences)).logits.double().cpu()


def _put_together(keeper: Hierarchical, parts: Sequence[Versions]) -> Tensor:
    """Read the sentences that lost words, and classify versions of these and the kept ones."""
    device = parts[0].eraser.device
    read = Ragged(*_sent(device, [part.ids for part in parts], [part.lengths for part in parts]))
    tables = [part.eraser.kept for part in parts]
    kept = first = sum(len(table) for table in tables)
    rows, counts, start = [], [], 0
    for part, table in zip(parts, tables, strict=True):
        own = part.numbers < part.eraser.sentence_count
        numbers = np.where(own, part.numbers + start, part.numbers - len(table) + first)
        there = part.numbers >= 0
        rows.append(numbers[there])
        counts.append(there.sum(1))
        start += len(table)
        first += len(part.lengths)
    if first > kept:
        fresh = Batch(read, torch.tensor([len(read)], device=device))
        tables.append(keeper.sentence_vectors(fresh).values)
    picked = Ragged(*_sent(device, rows, counts))
    logits, model = keeper.from_kept(torch.cat(tables), picked).logits, parts[0].eraser.model
    if model.network is not model:  # what stands beside the network asks for the words
        all_rows = [*(part.eraser.ids for part in parts), read]
        sentences = Ragged(
            torch.cat([one.values for one in all_rows]),
            torch.cat([one.lengths for one in all_rows]),
        )
        logits = model.completed_kept(logits, sentences, picked)
    return logits.double().cpu()


def _sent(device: torch.device, *columns: Sequence[Places]) -> list[Tensor]:
    """Each column end to end, on a device."""
    return [torch.from_numpy(np.concatenate(column)).to(device) for column in columns]


def documents(batch: Batch) -> list[Ragged]:
    """The ids of each document, one row a sentence."""
    lengths = batch.ids.lengths.split(batch.sentences.tolist())
    ids = batch.ids.values.split(batch.by_document.host_lengths)
    return [Ragged(*parts) for parts in zip(ids, lengths, strict=True)]


def erasers(model: Model, batch: Batch, policy: str = "delete") -> list[Eraser]:
    """Make one eraser a document; the sentences of all of them are read in one go."""
    found, keeper = documents(batch), _keeper(model)
    vectors: Sequence[Tensor | None] = [None] * len(found)
    if keeper is not None:
        with torch.no_grad():
            vectors = keeper.sentence_vectors(batch).values.split(batch.sentences.tolist())
    words = [text.per_word for text in batch.texts] or [None] * len(found)
    return [
        Eraser(model, ids, policy, kept=kept, per_word=per_word)
        for ids, kept, per_word in zip(found, vectors, words, strict=True)
    ]


class Eraser:
    """Names versions of one document without some of its pieces, and asks about them.

    Where a model encodes sentences in isolation, their vectors are kept. A word of several tokens
    is taken away as a whole. All answers are logits in double precision on the CPU,
    (versions, classes).
    """

    def __init__(
        self,
        model: Model,
        ids: Ragged,
        policy: str = "delete",
        *,
        kept: Tensor | None = None,
        per_word: NDArray[np.integer] | None = None,
    ) -> None:
        """Take a document as ``ids``; ``kept`` are its sentences' vectors where they are known.

        ``per_word`` says how many tokens each word has; None: every token is a word.
        """
        require_one_of("erasure", policy, POLICIES)
        self.model, self.ids = model, ids
        self._policy = POLICIES[policy]
        self.device = ids.values.device
        self.token_ids: Places = ids.values.cpu().numpy()
        self.lengths: Places = np.array(ids.host_lengths, dtype=np.int64)  # of the sentences
        self.token_count, self.sentence_count = len(self.token_ids), len(self.lengths)
        sizes = np.ones(self.token_count) if per_word is None else per_word
        self._sizes: Places = sizes.astype(np.int64)  # of the words
        self.word_count = len(self._sizes)
        self.words = np.repeat(np.arange(self.word_count), self._sizes)  # of the tokens
        self._token_homes = np.repeat(np.arange(self.sentence_count), self.lengths)
        self.homes = self._token_homes[np.cumsum(self._sizes) - self._sizes]  # of the words
        self._starts = np.cumsum(self.lengths) - self.lengths
        self.keeper = _keeper(model)
        if self.keeper is not None:
            self.kept = self._vectors(self.keeper, ids) if kept is None else kept

    def keep(self, level: str, kept: Mask) -> Versions:
        """Name the versions with the words or the sentences ``kept``, (versions, pieces)."""
        return self.keep_words(kept) if level == "word" else self.keep_sentences(kept)

    def keep_words(self, kept: Mask) -> Versions:
        """Name the versions with the words ``kept``, (versions, words)."""
        kept = kept[:, self.words] if self.word_count < self.token_count else kept
        left = _by_sentence(kept, self._starts)
        lost = left < self.lengths
        if self._policy.replacement is None:
            lost &= left > 0
            numbers = np.where(left > 0, np.arange(self.sentence_count), -1)
            versions, tokens = np.nonzero(kept & lost[:, self._token_homes])
            ids, lengths = self.token_ids[tokens], left[lost]
        else:
            numbers = np.tile(np.arange(self.sentence_count), (len(kept), 1))
            versions, tokens = np.nonzero(lost[:, self._token_homes])
            ids = np.where(kept[versions, tokens], self.token_ids[tokens], self._policy.replacement)
            lengths = np.broadcast_to(self.lengths, lost.shape)[lost]
        numbers[lost] = self.sentence_count + np.arange(lost.sum())
        return Versions(self, numbers, ids, lengths)

    def keep_sentences(self, kept: Mask) -> Versions:
        """Name the versions with the sentences ``kept``, (versions, sentences)."""
        if self._policy.replacement is not None:
            return self.keep_words(kept[:, self.homes])
        numbers = np.where(kept, np.arange(self.sentence_count), -1)
        return Versions(self, numbers, self.token_ids[:0], self.lengths[:0])

    def leave_out_words(self, places: Places) -> Versions:
        """Name the versions without each single word at ``places``."""
        ids, lengths = self._sentences_without(places)
        numbers = np.tile(np.arange(self.sentence_count), (len(places), 1))
        gone = self.empties(places)
        fresh = self.sentence_count + np.cumsum(~gone) - 1
        numbers[np.arange(len(places)), self.homes[places]] = np.where(gone, -1, fresh)
        return Versions(self, numbers, ids, lengths[~gone])

    def leave_out_sentences(self, places: Places) -> Versions:
        """Name the versions without each single sentence at ``places``."""
        kept = np.ones((len(places), self.sentence_count), dtype=bool)
        kept[np.arange(len(places)), places] = False
        return self.keep_sentences(kept)

    def asking(self, level: str) -> Callable[[Mask], Tensor]:
        """Return ``with_words`` or ``with_sentences``, for ``"word"`` or ``"sentence"``."""
        return {"word": self.with_words, "sentence": self.with_sentences}[level]

    def whole(self) -> Tensor:
        """Return the logits of the document as it is, (1, classes)."""
        return self.with_sentences(np.ones((1, self.sentence_count), dtype=bool))

    def with_words(self, kept: Mask) -> Tensor:
        """Return the logits of versions with the words ``kept``, (versions, words)."""
        return answer([self.keep_words(kept)])[0]

    def with_sentences(self, kept: Mask) -> Tensor:
        """Return the logits of versions with the sentences ``kept``, (versions, sentences)."""
        return answer([self.keep_sentences(kept)])[0]

    def reread(self, kept: Mask) -> Tensor:
        """Do as ``with_words`` with nothing kept: every version is read from its words."""
        return answer([self.keep_words(kept)], reread=True)[0]

    def without_each_word(self, places: Places | None = None) -> Tensor:
        """Return the logits without each single word, or each of those at ``places``."""
        chosen = np.arange(self.word_count) if places is None else places
        return answer([self.leave_out_words(chosen)])[0]

    def without_each_sentence(self, places: Places | None = None) -> Tensor:
        """Return the logits without each single sentence, or each of those at ``places``."""
        chosen = np.arange(self.sentence_count) if places is None else places
        return answer([self.leave_out_sentences(chosen)])[0]

    def vectors_without(self, places: Places) -> Tensor:
        """Return for each word at ``places`` the vector of its sentence without it, (places, size).

        Only where sentences are read in isolation; of a sentence that is empty then, zeros.
        """
        assert self.keeper is not None, "this model's sentences cannot be read alone"
        found = []
        for part in _portions(self.lengths[self.homes[places]], whole=False):
            ids, lengths = self._sentences_without(places[part])
            rows = Ragged(*(torch.from_numpy(one).to(self.device) for one in (ids, lengths)))
            found.append(self._vectors(self.keeper, rows))
        return torch.cat(found)

    def empties(self, places: Places) -> Mask:
        """Whether the sentence of each word at ``places`` is gone with it, (places,)."""
        alone = self.lengths[self.homes[places]] == self._sizes[places]
        return alone if self._policy.replacement is None else np.zeros_like(alone)

    def sum_by_word(self, values: Tensor) -> Tensor:
        """Add up what the tokens of each word have, (tokens, ...) to (words, ...)."""
        summed = values.new_zeros(self.word_count, *values.shape[1:])
        return summed.index_add_(0, torch.from_numpy(self.words).to(values.device), values)

    def _sentences_without(self, places: Places) -> tuple[Places, Places]:
        """The sentence of each word at ``places`` without it: ids one after the other, lengths."""
        lengths = self.lengths[self.homes[places]]
        owners = np.repeat(np.arange(len(places)), lengths)
        within = np.arange(len(owners)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        tokens = self._starts[self.homes[places]][owners] + within
        gone, ids = self.words[tokens] == places[owners], self.token_ids[tokens]
        if self._policy.replacement is None:
            return ids[~gone], lengths - self._sizes[places]
        return np.where(gone, self._policy.replacement, ids), lengths

    def _vectors(self, keeper: Hierarchical, ids: Ragged) -> Tensor:
        """The vectors of sentences that need no company."""
        with torch.no_grad():
            count = torch.tensor([len(ids)], device=self.device)
            return keeper.sentence_vectors(Batch(ids, count)).values


def _keeper(model: Model) -> Hierarchical | None:
    """The network of a model, if the vectors of its sentences can be kept."""
    network = model.network
    return network if isinstance(network, Hierarchical) and network.isolated else None


def _by_sentence(kept: Mask, starts: Places) -> Places:
    """How many words of each sentence a version keeps, (versions, sentences)."""
    if not len(starts):
        return np.zeros((len(kept), 0), dtype=np.int64)
    return np.add.reduceat(kept, starts, axis=1, dtype=np.int64)


def _portions(costs: NDArray[np.int64], *, whole: bool) -> Iterator[slice]:
    """Cut what has costs into parts of bounded cost, of at least one each; one part if none."""
    most = BATCH_ITEMS if whole else KEPT_ITEMS
    first, spent = 0, 0
    for place, cost in enumerate(costs.tolist()):
        if place > first and spent + cost > most:
            yield slice(first, place)
            first, spent = place, 0
        spent += cost
    yield slice(first, len(costs))
