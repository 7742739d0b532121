"""Words and their numbers in flat arrays, which the scanner searches without Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .jobs import LANES, Table, call

__all__ = ["WordTable", "joined_codes"]

_FEWEST_SLOTS = 16
_SURPLUS = "\0" * LANES


def joined_codes(texts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
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
        codes, starts = joined_codes(listed)
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

    def reserve(self, words: int, characters: int) -> None:
        """Make room for so many words more, of so many characters together."""
        used = int(self._starts[self._count])
        self._starts = _grown(self._starts, self._count + 1, words)
        self._codes = _grown(self._codes, used, characters + LANES)
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


def _grown(array: np.ndarray, used: int, more: int) -> np.ndarray:
    """The array itself where it has room for so many items more, or else a copy twice as long."""
    if used + more <= len(array):
        return array
    copy = np.empty(max(used + more, 2 * len(array)), array.dtype)
    copy[:used] = array[:used]
    return copy
