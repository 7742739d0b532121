"""Texts to token spans, sentences and ids of words in C, many texts a call.

``text.tokenize`` defines what is found; its tables and lists come as arguments.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from ..native import Job, library, required_library, why_absent

__all__ = [
    "LANES",
    "MARGIN",
    "BeginningTable",
    "Encoded",
    "Likeness",
    "Nearness",
    "NumberJob",
    "Rules",
    "RunTable",
    "ScanJob",
    "Scanner",
    "ScannerRules",
    "Search",
    "Table",
    "WordTable",
    "call",
    "join_codes",
    "look_up",
    "why_not",
]

LANES = 8  # must equal LANES in scanner.h: so many characters more must be readable
MARGIN = 2  # must equal MARGIN in text.h

_INTERFACE = 5  # must equal SCANNER_INTERFACE in scanner.h
_MOST_CODES = (1 << 32) - 1  # so that a word's place fits into a slot
_NAMES = ("scan", "enter_words", "enter_beginnings", "number_words")
_FEWEST_SLOTS = 16
_SURPLUS = "\0" * LANES
_LONGEST = (1 << 31) - 1  # characters of a text, so that offsets into it fit
_BLOCK = 1 << 18  # characters that are scanned in one call: their codes take a megabyte
_WORDS_TOGETHER = 1 << 12  # whose runs are numbered in one call
_MOST_LETTERS = 64  # must equal MOST_LETTERS in scanner.h


@dataclass(frozen=True, eq=False)
class ScannerRules:
    """What the rules for texts know of characters and words."""

    kinds: NDArray[np.uint8]  # (0x110000,), the kind of every code point
    lower: NDArray[np.uint32]  # lower case of the first code points; later ones are their own
    tags: Mapping[str, int]  # the kind that covers a tag of this name
    entities: Mapping[str, int]  # the code point that an entity stands for
    words: Mapping[str, int]  # the lists a word is in, as bits
    parted: bytes = b""  # kinds of which each character is a token, beside those without spaces


@dataclass(frozen=True, slots=True)
class Likeness:
    """When a word is read as another that begins alike."""

    fewest: int  # letters that both share from their first on
    tenths: int  # of the longer word that these are, at least
    longest: int  # a word of more letters is like no other


@dataclass(frozen=True, slots=True)
class Nearness:
    """When a word is read as another that is made of the same runs of letters."""

    shortest: int  # letters of a run, the edges of a word counted
    longest: int
    most_letters: int  # a word of more is like no other
    fewest_words: int  # a run that no more have is worth something in any case ...
    words_of_one: int  # ... and otherwise one that no more than one in so many words has

    def most_held(self, words: int) -> int:
        """How many of so many words may have a run that is worth something."""
        return max(self.fewest_words, words // self.words_of_one)


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """The table in which words are looked up, and how."""

    table: WordTable
    first: int = 0  # the id of the table's first word; one less is that of every unknown word
    lowercase: bool = False  # words are looked up in lower case
    grows: bool = False  # a word that the table does not hold is added to it
    others: BeginningTable | RunTable | None = None  # as which a word that is not known is read


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
        parted = np.zeros(256, np.uint8)
        parted[list(rules.parted)] = 1
        self._rules.fill(parted=parted)
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
        return _join([room.scan(texts[run], search) for run in runs])


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
        codes, starts = join_codes(texts)
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
            letters = self.lowered if search.lowercase else codes
            _fill_ids(found.ids, found.spans, found.lengths, letters, starts, search)
        return found


def look_up(words: Sequence[str], search: Search) -> NDArray[np.int32]:
    """Return the ids of words, (words,), which are in lower case if those of the table are."""
    codes, starts = join_codes(words)
    bounds = np.stack([starts[:-1], starts[1:]], axis=1)
    if bounds.max(initial=0) > _LONGEST:
        raise DataError(f"these words have more than {_LONGEST:,} characters together")
    return _ids_of(bounds.astype(np.int32), codes, search)


def _ids_of(
    spans: NDArray[np.int32], codes: NDArray[np.uint32], search: Search
) -> NDArray[np.int32]:
    """The ids of words that lie in one text, (words,)."""
    ids = np.empty(len(spans), np.int32)
    counts = np.array([len(spans)], np.int64)
    _fill_ids(ids, spans, counts, codes, np.zeros(1, np.int64), search)
    return ids


def _fill_ids(
    ids: NDArray[np.int32],
    spans: NDArray[np.int32],
    counts: NDArray[np.int64],
    codes: NDArray[np.uint32],
    starts: NDArray[np.int64],
    search: Search,
) -> None:
    """Fill in the ids of the words that texts, which start there, have so many of."""
    if search.grows:
        search.table.reserve(len(spans), int((spans[:, 1] - spans[:, 0]).sum(dtype=np.int64)))
    table = search.table.job()
    job = NumberJob()
    job.table = ctypes.pointer(table)
    if isinstance(search.others, BeginningTable):
        job.beginnings = ctypes.pointer(search.others.job())
    elif search.others is not None:
        job.run_table = ctypes.pointer(search.others.job())
    job.fill(grows=search.grows)
    job.fill(text_count=len(counts), starts=starts, codes=codes)
    job.fill(spans=spans, token_counts=counts, numbers=ids)
    call("number_words", job)
    search.table.adopt(table)
    np.add(ids, search.first, out=ids)


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


def _join(parts: Sequence[Encoded]) -> Encoded:
    return Encoded(
        spans=np.concatenate([part.spans for part in parts]),
        lengths=np.concatenate([part.lengths for part in parts]),
        sentence_lengths=np.concatenate([part.sentence_lengths for part in parts]),
        sentences=np.concatenate([part.sentences for part in parts]),
        ids=np.concatenate([part.ids for part in parts]),
    )


_number = ctypes.c_int64
_pointer = ctypes.c_void_p


class Table(Job):
    """Words and their numbers."""

    _fields_ = (
        ("word_count", _number),
        ("word_room", _number),
        ("code_room", _number),
        ("slot_count", _number),
        ("codes", _pointer),
        ("starts", _pointer),
        ("slots", _pointer),
        ("values", _pointer),
    )


class Rules(Job):
    """What the scanner's rules take from Python."""

    _fields_ = (
        ("kinds", _pointer),
        ("lower", _pointer),
        ("lower_count", _number),
        ("tags", Table),
        ("entities", Table),
        ("words", Table),
        ("parted", _pointer),
    )


class ScanJob(Job):
    """Texts end to end, and room for what is found in them."""

    _fields_ = (
        ("rules", ctypes.POINTER(Rules)),
        ("text_count", _number),
        ("starts", _pointer),
        ("codes", _pointer),
        ("lowered", _pointer),
        ("kinds", _pointer),
        ("bases", _pointer),
        ("spans", _pointer),
        ("sentence_lengths", _pointer),
        ("token_counts", _pointer),
        ("sentence_counts", _pointer),
    )


class Beginnings(Job):
    """Known words by how they begin."""

    _fields_ = (
        ("table", Table),
        ("lends", _pointer),
        ("fewest", _number),
        ("tenths", _number),
        ("longest", _number),
    )


class Runs(Job):
    """Known words by the runs of letters that they are made of."""

    _fields_ = (
        ("table", Table),
        ("worths", _pointer),
        ("starts", _pointer),
        ("holders", _pointer),
        ("lengths", _pointer),
        ("worth_of_new", _number),
        ("shortest", _number),
        ("longest", _number),
        ("most_letters", _number),
        ("shared", _pointer),
        ("touched", _pointer),
    )


class NumberJob(Job):
    """Tokens to the numbers of their words."""

    _fields_ = (
        ("table", ctypes.POINTER(Table)),
        ("beginnings", ctypes.POINTER(Beginnings)),
        ("run_table", ctypes.POINTER(Runs)),
        ("grows", _number),
        ("text_count", _number),
        ("starts", _pointer),
        ("codes", _pointer),
        ("spans", _pointer),
        ("token_counts", _pointer),
        ("numbers", _pointer),
    )


def why_not() -> str:
    """Say why the functions cannot be called, or nothing where they can."""
    native = library()
    return why_absent() if native is None else _load(native.path)[1]


def call(name: str, job: Job) -> None:
    """Call a function of the scanner; other Python threads run meanwhile."""
    functions, problem = _load(required_library().path)
    if functions is None:
        raise RuntimeError(f"there is no text scanner: {problem}; ask available() first")
    if getattr(functions, f"regard_{name}")(ctypes.byref(job)):
        # Callers make the room that they ask to be filled, so only the words' sum can be too much.
        raise DataError(
            f"the text scanner's {name!r} ran out of room: all different words together "
            f"can have {_MOST_CODES:,} characters at most"
        )


@functools.cache
def _load(path: Path) -> tuple[ctypes.CDLL | None, str]:
    functions = ctypes.CDLL(os.fspath(path))
    try:
        found = functions.regard_scanner_interface()
        for name in _NAMES:
            getattr(functions, f"regard_{name}").argtypes = (_pointer,)
    except AttributeError:
        return None, "the native kernels were built before there was one; install again"
    if found != _INTERFACE:
        return None, f"the native kernels have scanner {found}, this package needs {_INTERFACE}"
    return functions, ""


def join_codes(texts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The characters of the texts end to end, and where each text begins, (texts + 1,).

    Behind the last are so many more as C may read at once.
    """
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=starts[1:])
    encoded = "".join((*texts, _SURPLUS)).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(encoded, np.uint32)
    if len(codes) != starts[-1] + LANES:
        raise TypeError("a text says it is longer or shorter than it is, so it is no plain str")
    return codes, starts


class WordTable:
    """Different words, numbered from 0 in the order they were added."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        listed = list(words)
        codes, starts = join_codes(listed)
        self._count = len(listed)
        self._codes = codes.copy()
        self._starts = starts
        self._values = np.zeros(0, np.int32)
        self._slots = np.zeros((0, 4), np.uint32)
        self._enter()

    @classmethod
    def of(cls, values: Mapping[str, int]) -> WordTable:
        """A table of words that stand for numbers which are not negative."""
        table = cls(values)
        table._values = np.fromiter(values.values(), np.int32, len(values))
        return table

    def __len__(self) -> int:
        return self._count

    def words(self) -> list[str]:
        """The words in the order of their numbers."""
        starts = self._starts[: self._count + 1].tolist()
        text = self._codes[: starts[-1]].tobytes().decode("utf-32-le", "surrogatepass")
        return [text[start:end] for start, end in pairwise(starts)]

    def lengths(self) -> NDArray[np.int64]:
        """How many characters each word has, (words,)."""
        return np.diff(self._starts[: self._count + 1])

    def reserve(self, words: int, characters: int) -> None:
        """Make room for so many words more, of so many characters together."""
        used = int(self._starts[self._count])
        self._starts = _grow(self._starts, self._count + 1, words)
        self._codes = _grow(self._codes, used, characters + LANES)
        if len(self._slots) < 2 * len(self._starts):
            self._enter()

    def job(self) -> Table:
        """The table as C sees it, until the table is changed."""
        job = Table()
        job.fill(word_count=self._count, word_room=len(self._starts) - 1)
        job.fill(code_room=len(self._codes) - LANES, slot_count=len(self._slots))
        job.fill(codes=self._codes, starts=self._starts, slots=self._slots, values=self._values)
        return job

    def adopt(self, job: Table) -> None:
        """Take over the words that C has added to the job of this table."""
        self._count = job.word_count

    def _enter(self) -> None:
        """Make twice as many slots as there is room for words, so that most are free."""
        wanted = max(_FEWEST_SLOTS, 2 * len(self._starts))
        self._slots = np.zeros((1 << (wanted - 1).bit_length(), 4), np.uint32)
        call("enter_words", self.job())


class BeginningTable:
    """Beginnings of the words of a table, for words that it does not hold.

    A beginning stands for the first word that has it. ``lends`` says which words may stand for
    others; the table must not grow any more.
    """

    def __init__(self, words: WordTable, lends: NDArray[np.bool_], alike: Likeness) -> None:
        self._words, self._lends, self._alike = words, lends.astype(np.uint8), alike
        lengths = words.lengths()
        shared = np.maximum(-(-alike.tenths * lengths // 10), alike.fewest)
        most = int(np.maximum(lengths - shared + 1, 0)[lends & (lengths <= alike.longest)].sum())
        self._slots = np.zeros((1 << max(_FEWEST_SLOTS, 2 * most).bit_length(), 4), np.uint32)
        call("enter_beginnings", self.job())

    def job(self) -> Beginnings:
        """The table as C sees it."""
        table = self._words.job()
        table.fill(slots=self._slots, slot_count=len(self._slots))
        job, alike = Beginnings(), self._alike
        job.fill(table=table, lends=self._lends)
        job.fill(fewest=alike.fewest, tenths=alike.tenths, longest=alike.longest)
        return job


class RunTable:
    """Runs of letters of known words, for words that are not known.

    ``lends`` says which words may stand for others, and ``worths`` what runs are worth that so many
    words have. Of words as near the first stands for others.
    """

    def __init__(
        self,
        words: Sequence[str],
        lends: NDArray[np.bool_],
        nearness: Nearness,
        worths: Callable[[NDArray[np.int64], int], NDArray[np.int32]],
    ) -> None:
        assert nearness.most_letters <= _MOST_LETTERS
        self._nearness, self._word_count = nearness, len(words)
        sizes = np.fromiter(map(len, words), np.int64, len(words))
        lending = np.flatnonzero(lends & (sizes <= nearness.most_letters))
        self._table = WordTable()
        numbers, places = self._numbered([words[place] for place in lending.tolist()])
        pairs = np.sort(numbers * max(len(lending), 1) + places)  # by run, then by word
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        numbers, places = np.divmod(pairs, max(len(lending), 1))
        held = np.bincount(numbers, minlength=len(self._table))
        self._starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(held)])
        self._holders = lending[places].astype(np.int32)
        self._worths = worths(held, len(lending))
        self._worth_of_new = int(worths(np.zeros(1, np.int64), len(lending))[0])
        worth = np.bincount(self._holders, self._worths[numbers], minlength=len(words))
        self._lengths = worth.astype(np.int32)

    def _numbered(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Number all runs of words; which each is, and in which of the words."""
        search = Search(self._table, grows=True)
        numbers, places = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for first in range(0, len(words), _WORDS_TOGETHER):
            some = [f" {word} " for word in words[first : first + _WORDS_TOGETHER]]
            codes, starts = join_codes(some)
            for size in range(self._nearness.shortest, self._nearness.longest + 1):
                counts = np.maximum(np.diff(starts) - size + 1, 0)
                homes = np.repeat(np.arange(len(some)), counts)
                begins = starts[homes] + np.arange(len(homes)) - (np.cumsum(counts) - counts)[homes]
                spans = np.stack([begins, begins + size], axis=1).astype(np.int32)
                numbers.append(_ids_of(spans, codes, search).astype(np.int64))
                places.append(first + homes)
        return np.concatenate(numbers), np.concatenate(places)

    def job(self) -> Runs:
        """The table as C sees it, with room to count in."""
        job, nearness = Runs(), self._nearness
        job.fill(table=self._table.job(), worths=self._worths, starts=self._starts)
        job.fill(holders=self._holders, lengths=self._lengths, worth_of_new=self._worth_of_new)
        job.fill(shortest=nearness.shortest, longest=nearness.longest)
        job.fill(most_letters=nearness.most_letters)
        job.fill(shared=np.zeros(self._word_count, np.int32))
        job.fill(touched=np.empty(self._word_count, np.int32))
        return job


def _grow(array: np.ndarray, used: int, more: int) -> np.ndarray:
    """The array itself where it has room for so many items more, or else a copy twice as long."""
    if used + more <= len(array):
        return array
    copy = np.empty(max(used + more, 2 * len(array)), array.dtype)
    copy[:used] = array[:used]
    return copy
