"""Texts to token spans, sentences and ids of words in C, many texts a call.

``text.tokenize`` defines what is found; its tables and lists come as arguments.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from .jobs import LANES, MARGIN, NumberJob, Rules, ScanJob, call
from .word_table import WordTable, joined_codes

__all__ = ["Encoded", "Scanner", "ScannerRules", "Search"]

_LONGEST = (1 << 31) - 1  # characters of a text, so that offsets into it fit
_BLOCK = 1 << 18  # characters that are scanned in one call: their codes take a megabyte


@dataclass(frozen=True, eq=False)
class ScannerRules:
    """What the rules for texts know of characters and words."""

    kinds: NDArray[np.uint8]  # (0x110000,), the kind of every code point
    lower: NDArray[np.uint32]  # lower case of the first code points; later ones are their own
    tags: Mapping[str, int]  # the kind that covers a tag of this name
    entities: Mapping[str, int]  # the code point that an entity stands for
    words: Mapping[str, int]  # the lists a word is in, as bits


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """The table in which words are looked up, and how."""

    table: WordTable
    first: int = 0  # the id of the table's first word; one less is that of every unknown word
    lowercase: bool = False  # words are looked up in lower case
    grows: bool = False  # a word that the table does not hold is added to it


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """What was found in some texts, laid end to end: where tokens stand, and ids of their words."""

    spans: NDArray[np.int32]  # (tokens, 2), where each begins and ends in its text
    lengths: NDArray[np.int64]  # (texts,), tokens in each
    sentence_lengths: NDArray[np.int32]  # (sentences,), none is zero
    sentences: NDArray[np.int64]  # (texts,), sentences in each
    ids: NDArray[np.int32]  # (tokens,), of their words; none where nothing was looked up

    def __len__(self) -> int:
        """How many texts there are."""
        return len(self.lengths)


class Scanner:
    """The rules for texts, handed over to C once, and the scan that follows them."""

    def __init__(self, rules: ScannerRules) -> None:
        assert rules.kinds.shape == (0x110000,) and rules.kinds.dtype == np.uint8
        assert rules.lower.dtype == np.uint32
        self._rules = Rules()
        self._rules.fill(kinds=rules.kinds, lower=rules.lower, lower_count=len(rules.lower))
        for name in ("tags", "entities", "words"):
            self._rules.fill(**{name: WordTable.of(getattr(rules, name)).job()})

    def scan(self, texts: Sequence[str], search: Search | None = None) -> Encoded:
        """Find the tokens and sentences of each text, and the ids of their words if asked."""
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        if sizes.max(initial=0) > _LONGEST:
            raise DataError(
                f"a text has {sizes.max():,} characters; at most {_LONGEST:,} can be read"
            )
        runs = list(_runs(sizes))
        most = max(int(sizes[run].sum()) for run in runs)
        room = _Room(self._rules, characters=most, longest=int(sizes.max(initial=0)))
        return _joined([room.scan(texts[run], search) for run in runs])


class _Room:
    """Memory that is used for one block of texts after the other."""

    def __init__(self, rules: Rules, *, characters: int, longest: int) -> None:
        self.lowered = np.empty(characters + LANES, np.uint32)
        self.spans = np.empty((characters + 1, 2), np.int32)
        self.sentence_lengths = np.empty(characters, np.int32)
        self.job = ScanJob()
        self.job.rules = ctypes.pointer(rules)
        self.job.fill(lowered=self.lowered, spans=self.spans)
        self.job.fill(sentence_lengths=self.sentence_lengths)
        self.job.fill(kinds=np.empty(longest + 2 * MARGIN, np.uint8))
        self.job.fill(bases=np.empty(longest + 2 * MARGIN, np.uint8))

    def scan(self, texts: Sequence[str], search: Search | None) -> Encoded:
        codes, starts = joined_codes(texts)
        counts = np.empty((2, len(texts)), np.int64)
        self.job.text_count = len(texts)
        self.job.starts, self.job.codes = starts.ctypes.data, codes.ctypes.data
        self.job.token_counts, self.job.sentence_counts = (
            counts[0].ctypes.data,
            counts[1].ctypes.data,
        )
        call("scan", self.job)
        tokens, sentences = counts.sum(axis=1).tolist()
        found = Encoded(
            spans=self.spans[:tokens].copy(),
            lengths=counts[0],
            sentence_lengths=self.sentence_lengths[:sentences].copy(),
            sentences=counts[1],
            ids=np.empty(0 if search is None else tokens, np.int32),
        )
        if search is not None:
            _look_up(found, self.lowered if search.lowercase else codes, starts, search)
        return found


def _look_up(
    found: Encoded, codes: NDArray[np.uint32], starts: NDArray[np.int64], search: Search
) -> None:
    """Fill in the ids of the words."""
    if search.grows:
        search.table.reserve(len(found.spans), len(codes))
    table = search.table.job()
    job = NumberJob()
    job.table = ctypes.pointer(table)
    job.fill(grows=search.grows)
    job.fill(text_count=len(found.lengths), starts=starts, codes=codes)
    job.fill(spans=found.spans, token_counts=found.lengths, numbers=found.ids)
    call("number_words", job)
    search.table.adopt(table)
    np.add(found.ids, search.first, out=found.ids)


def _runs(sizes: NDArray[np.int64]) -> Iterator[slice]:
    """Cut texts of these sizes into runs of at most a block, but of one text if there is one."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    first = 0
    while first < len(sizes):
        last = int(np.searchsorted(sums, sums[first] + _BLOCK, side="right")) - 1
        last = max(last, first + 1)
        yield slice(first, last)
        first = last
    if not first:
        yield slice(0)


def _joined(parts: Sequence[Encoded]) -> Encoded:
    return Encoded(
        spans=np.concatenate([part.spans for part in parts]),
        lengths=np.concatenate([part.lengths for part in parts]),
        sentence_lengths=np.concatenate([part.sentence_lengths for part in parts]),
        sentences=np.concatenate([part.sentences for part in parts]),
        ids=np.concatenate([part.ids for part in parts]),
    )
