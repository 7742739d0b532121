"""Numbers for words whose vocabulary is not known yet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..kernels.scan import Search, WordTable

__all__ = ["Numbering"]


class Numbering:
    """Numbers words, as they are written, in the order they are first met.

    The words live in a dictionary, or in a table of the scanner in C: whichever is asked first.
    """

    def __init__(self) -> None:
        self._numbers = _Numbers()
        self._search: Search | None = None

    @property
    def words(self) -> list[str]:
        """The words in the order of their numbers."""
        return list(self._numbers) if self._search is None else self._search.table.words()

    @property
    def search(self) -> Search:
        """The words as the scanner in C looks them up and adds to them."""
        if self._search is None:
            assert not self._numbers, "these words are numbered without the scanner"
            self._search = Search(WordTable(), grows=True)
        return self._search

    def ids(self, words: Sequence[str]) -> NDArray[np.int32]:
        """The number of each word, (words,)."""
        assert self._search is None, "these words are numbered by the scanner"
        return np.fromiter(map(self._numbers.__getitem__, words), np.int32, len(words))


class _Numbers(dict[str, int]):
    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number
