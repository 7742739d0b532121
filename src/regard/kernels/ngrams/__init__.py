"""Weighted n-grams of many documents in C, as ``models.ngrams`` defines them."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..native import Job, library, required_library

__all__ = ["KeptTable", "available"]

_INTERFACE = 7  # must equal NGRAMS_INTERFACE in ngrams.h
_BITS = 21  # must equal ID_BITS there
_BUCKET = 4  # must equal BUCKET there
_LINE = 64  # bytes that the processor fetches together
# What so many occurrences are worth; the value of more is computed where it is met.
_TIMES = np.concatenate([np.zeros(1), 1 + np.log(np.arange(1.0, 256.0))])

_FEATURE = np.dtype([("number", np.int32), ("rarity", np.float32)])
_NO_FEATURE = np.array((-1, 0), _FEATURE)
_SLOT = np.dtype([("key", np.uint64), ("feature", _FEATURE)])

_number, _pointer = ctypes.c_int64, ctypes.c_void_p


class _Table(Job):
    _fields_ = (
        ("count", _number),
        ("longest", _number),
        ("shift", _number),
        ("single_count", _number),
        ("is_closed", _number),
        ("keys", _pointer),
        ("rarity", _pointer),
        ("slots", _pointer),
        ("singles", _pointer),
    )


class _Room(Job):
    """Where workers count the features of a document, as ``struct ngram_room``."""

    _fields_ = (
        ("slot_count", _number),
        ("most_features", _number),
        ("times_count", _number),
        ("slots", _pointer),
        ("features", _pointer),
        ("counts", _pointer),
        ("heights", _pointer),
        ("times", _pointer),
    )


class _Weighing(Job):
    """What the features of a table say, as ``struct ngram_weighing``."""

    _fields_ = (("table", _pointer), ("weights", _pointer), ("sums", _pointer))


# How documents are handed over.
_DOCUMENTS = (
    ("document_count", _number),
    ("class_count", _number),
    ("ids", _pointer),
    ("sentence_lengths", _pointer),
    ("token_starts", _pointer),
    ("sentence_starts", _pointer),
)


class _Job(Job):
    _fields_ = (
        ("table_count", _number),
        ("tables", ctypes.POINTER(_Weighing)),
        *_DOCUMENTS,
        ("heights", _pointer),
        ("words", _Room),
        ("longer", _Room),
        ("numbers", _pointer),
        ("values", _pointer),
        ("next_worker", _number),
        ("next_task", _number),
    )


class _SharesJob(Job):
    _fields_ = (
        ("table", _pointer),
        *_DOCUMENTS,
        ("weights", _pointer),
        ("heights", _pointer),
        ("hits", _pointer),
        ("ends", _pointer),
        ("places", _pointer),
        ("room", _Room),
        ("shares", _pointer),
        ("next_worker", _number),
        ("next_task", _number),
    )


class _PicksJob(Job):
    _fields_ = (
        ("table", _pointer),
        ("sentence_count", _number),
        ("document_count", _number),
        ("class_count", _number),
        ("ids", _pointer),
        ("starts", _pointer),
        ("picks", _pointer),
        ("pick_starts", _pointer),
        ("weights", _pointer),
        ("hits", _pointer),
        ("hit_counts", _pointer),
        ("uses", _pointer),
        ("counts", _pointer),
        ("totals", _pointer),
        ("heights", _pointer),
        ("room", _Room),
        ("numbers", _pointer),
        ("values", _pointer),
        ("sums", _pointer),
        ("next_worker", _number),
        ("next_task", _number),
    )


def available() -> bool:
    """Say whether n-grams can be weighed in C here."""
    native = library()
    return native is not None and _functions(native.path) is not None


class KeptTable:
    """N-grams in slots, where each is found at once."""

    def __init__(self, keys: NDArray[np.int64], rarity: NDArray[np.float32], longest: int) -> None:
        functions = _functions(required_library().path)
        assert functions is not None, "ask available() first"
        single_count = int(np.searchsorted(keys, 1 << _BITS))
        bits = max(1, (2 * (len(keys) - single_count) // _BUCKET).bit_length())
        self._job = _Table()
        self._job.fill(count=len(keys), longest=longest, shift=64 - bits)
        self._job.fill(keys=np.ascontiguousarray(keys), rarity=np.ascontiguousarray(rarity))
        words = int(keys[single_count - 1]) + 1 if single_count else 0
        self._job.fill(single_count=words, singles=np.full(words, _NO_FEATURE, _FEATURE))
        self._job.fill(slots=_aligned_slots(_BUCKET << bits))
        functions.regard_enter_ngrams(ctypes.byref(self._job))
        self._made_of = (keys, rarity, longest)

    def __reduce__(self) -> tuple[object, ...]:
        # A copy has memory of its own, where the addresses in the job do not point.
        return KeptTable, self._made_of

    def weigh(
        self,
        ids: NDArray[np.int64],
        sentence_lengths: NDArray[np.int64],
        sentences: NDArray[np.int64],
        weights: NDArray[np.float32],
        *,
        threads: int,
        heights: NDArray[np.float64] | None = None,
        others: Sequence[tuple[KeptTable, NDArray[np.float32]]] = (),
    ) -> list[NDArray[np.float64]]:
        """Add up the weights of each document's features, (documents, classes).

        ``heights``, (tokens,), is how much n-grams count where they stand; None: all the same.
        ``others`` are tables of words alone with their weights, whose sums follow: the words of a
        document are counted once for all tables.
        """
        tables = ((self, weights), *others)
        sums = [np.zeros((len(sentences), weights.shape[1])) for _ in tables]
        weighings = [_Weighing() for _ in tables]  # which keep alive what they point at
        for weighing, (table, own), summed in zip(weighings, tables, sums, strict=True):
            assert own.shape == (table._job.count, weights.shape[1])
            weighing.table = ctypes.addressof(table._job)
            weighing.fill(weights=np.ascontiguousarray(own), sums=summed)
        job = _Job()
        job.tables, job.table_count = (_Weighing * len(tables))(*weighings), len(tables)
        lengths = _hand_over(job, ids, sentence_lengths, sentences, weights.shape[1])
        most = int(lengths.max(initial=0))
        words = _room(most, threads)
        longer = _room(min(most * (self._job.longest - 1), self._job.count), threads)
        room = threads, words.most_features + longer.most_features
        job.fill(words=words, longer=longer, next_worker=0)
        job.fill(numbers=np.empty(room, np.int32), values=np.empty(room))
        if heights is not None:
            job.fill(heights=np.ascontiguousarray(heights))
        required_library().run("weigh_ngrams", job, instructions=0, threads=threads)
        return sums

    def share(
        self,
        ids: NDArray[np.int64],
        sentence_lengths: NDArray[np.int64],
        sentences: NDArray[np.int64],
        weights: NDArray[np.float32],
        *,
        threads: int,
        heights: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Share out to each token what the features it stands in say, (tokens, classes).

        ``heights``, (tokens,), is how much n-grams count where they stand; None: all the same.
        """
        shares, room = np.zeros((len(ids), weights.shape[1])), len(ids) * self._job.longest
        job = _SharesJob()
        job.table = ctypes.addressof(self._job)
        lengths = _hand_over(job, ids, sentence_lengths, sentences, weights.shape[1])
        job.fill(weights=np.ascontiguousarray(weights))
        job.fill(hits=np.empty(room, _FEATURE), ends=np.empty(room, np.int32))
        job.fill(places=np.empty(room, np.int32), shares=shares)
        job.fill(room=self._room(lengths, threads), next_worker=0)
        if heights is not None:
            job.fill(heights=np.ascontiguousarray(heights))
        required_library().run("share_ngrams", job, instructions=0, threads=threads)
        return shares

    def _room(self, lengths: NDArray[np.int64], threads: int) -> _Room:
        """Room to count the features of documents of these lengths."""
        most = int(lengths.max(initial=0)) * self._job.longest
        return _room(min(most, self._job.count), threads)

    def weigh_picks(
        self,
        ids: NDArray[np.int64],
        lengths: NDArray[np.int64],
        numbers: NDArray[np.int64],
        counts: NDArray[np.int64],
        weights: NDArray[np.float32],
        *,
        threads: int,
        heights: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Do as ``weigh`` for documents put together from sentences, many from the same ones.

        Sentences are ``ids`` and their ``lengths``; ``numbers`` picks them, so many a document as
        ``counts`` says. A sentence's features are found once, and a document is told by how it
        differs from the one before it. With ``heights``, as many as ``numbers``, each sentence
        counts so much where it is picked, and each document is told as a whole.
        """
        class_count = weights.shape[1]
        sums = np.zeros((len(counts), class_count))
        job = _PicksJob()
        job.table = ctypes.addressof(self._job)
        job.fill(sentence_count=len(lengths), document_count=len(counts), class_count=class_count)
        job.fill(ids=np.ascontiguousarray(ids), starts=_starts(lengths))
        job.fill(picks=np.ascontiguousarray(numbers), pick_starts=_starts(counts))
        job.fill(weights=np.ascontiguousarray(weights))
        job.fill(hits=np.empty(len(ids) * self._job.longest, _FEATURE))
        job.fill(hit_counts=np.empty(len(lengths), np.int32))
        job.fill(sums=sums, next_worker=0)
        if heights is None:
            weigh = "weigh_picks"
            # Memory that is never touched costs nothing, and few of the features are.
            job.fill(uses=np.zeros((threads, len(lengths)), np.int32))
            job.fill(counts=np.zeros((threads, self._job.count), np.int32))
            job.fill(totals=np.empty((threads, class_count)), room=self._room(counts[:0], threads))
        else:
            weigh = "weigh_uneven_picks"
            picked = np.diff(_starts(lengths[numbers])[_starts(counts)])
            job.fill(heights=np.ascontiguousarray(heights), room=self._room(picked, threads))
            room = threads, job.room.most_features
            job.fill(numbers=np.empty(room, np.int32), values=np.empty(room))
        for name in ("find_ngrams", weigh):
            job.fill(next_task=0)
            required_library().run(name, job, instructions=0, threads=threads)
        return sums


def _hand_over(
    job: _Job | _SharesJob,
    ids: NDArray[np.int64],
    sentence_lengths: NDArray[np.int64],
    sentences: NDArray[np.int64],
    class_count: int,
) -> NDArray[np.int64]:
    """Hand over documents; return how many tokens each has."""
    sentence_starts = _starts(sentences)
    token_starts = _starts(sentence_lengths)[sentence_starts]
    job.fill(document_count=len(sentences), class_count=class_count, next_task=0)
    job.fill(ids=np.ascontiguousarray(ids))
    job.fill(sentence_lengths=np.ascontiguousarray(sentence_lengths))
    job.fill(sentence_starts=sentence_starts, token_starts=token_starts)
    return np.diff(token_starts)


def _room(features: int, threads: int) -> _Room:
    """Room for so many workers to count so many different features."""
    slot_count = 1 << (2 * features + 2).bit_length()
    places = threads, features + 1  # one is being begun
    room = _Room()
    room.fill(slot_count=slot_count, slots=np.empty((threads, slot_count), np.uint64))
    room.fill(most_features=features + 1, features=np.empty(places, _FEATURE))
    room.fill(counts=np.empty(places, np.int32), heights=np.empty(places))
    room.fill(times=_TIMES, times_count=len(_TIMES))
    return room


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each row begins, and where the last ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def _aligned_slots(count: int) -> NDArray[np.void]:
    """So many empty slots, the first of which begins a cache line."""
    memory = np.zeros(count * _SLOT.itemsize + _LINE, np.uint8)
    first = -memory.ctypes.data % _LINE
    slots = memory[first : first + count * _SLOT.itemsize].view(_SLOT)
    slots["feature"] = _NO_FEATURE
    return slots


@functools.cache
def _functions(path: Path) -> ctypes.CDLL | None:
    """The functions, or nothing where the library is older than they are."""
    functions = ctypes.CDLL(os.fspath(path))
    try:
        found = functions.regard_ngrams_interface()
        functions.regard_enter_ngrams.argtypes = (_pointer,)
    except AttributeError:
        return None
    return functions if found == _INTERFACE else None
