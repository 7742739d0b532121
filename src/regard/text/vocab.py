"""Words and their ids: those of a vocabulary, or numbers until there is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, ModelError
from ..kernels.scan import Search, WordTable
from .characters import lower_words
from .document import Tokens
from .tokenize import TextConfig

__all__ = ["PADDING", "UNKNOWN", "Numbering", "Vocab", "count_words"]

PADDING = 0
"""The id that fills up a row of fixed length; no word has it."""
UNKNOWN = 1
"""The id of every word that the vocabulary does not hold."""

_RESERVED = ("<pad>", "<oov>")


class Vocab:
    """The words of the training texts; the id of a word is its place in ``words``.

    ``words`` begins with the two reserved names, which no lookup ever finds: a word of a text
    that is written like one of them is a word like any other.
    """

    def __init__(self, words: Iterable[str], *, lowercase: bool = True) -> None:
        self.words = [*_RESERVED, *words]
        self.lowercase = lowercase
        known = self.words[len(_RESERVED) :]
        self._ids = {word: id for id, word in enumerate(known, start=len(_RESERVED))}
        if len(self._ids) < len(known):
            twice = Counter(known).most_common(1)[0][0]
            raise DataError(f"a vocabulary cannot hold {twice!r} twice")

    @classmethod
    def from_counts(cls, counts: Mapping[str, int], config: TextConfig) -> Vocab:
        """The words that were counted often enough, falling by frequency, then by alphabet."""
        if config.lowercase:
            counts = _in_lower_case(counts)
        # Equal counts keep the order of the first sort, so the same data give the same ids.
        frequent = sorted(item for item in counts.items() if item[1] >= config.min_count)
        frequent.sort(key=lambda item: item[1], reverse=True)
        words = (word for word, _ in frequent[: config.max_size])
        return cls(words, lowercase=config.lowercase)

    def __len__(self) -> int:
        """How many ids there are, the two reserved ones counted."""
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return bool(self.ids([word])[0] != UNKNOWN)

    def ids(self, words: Sequence[str]) -> NDArray[np.int32]:
        """The id of each word, (words,); in lower case first where the vocabulary is."""
        known = lower_words(words) if self.lowercase else words
        return np.fromiter(map(self._ids.get, known, repeat(UNKNOWN)), np.int32, len(words))

    @cached_property
    def search(self) -> Search:
        """The words as the scanner in C looks them up; any other word gets ``UNKNOWN``."""
        first = len(_RESERVED)
        table = WordTable(self.words[first:])
        return Search(table, first=first, lowercase=self.lowercase)

    def save(self, path: Path) -> None:
        """Write one word a line, so that a word's id is the number of lines before it."""
        lines = "\n".join(self.words)
        if lines.count("\n") >= len(self.words):
            word = next(word for word in self.words if "\n" in word)
            raise DataError(f"{path} holds a word a line, so {word!r} cannot be written to it")
        path.write_bytes(lines.encode("utf-8", "surrogatepass"))

    @classmethod
    def load(cls, path: Path, *, lowercase: bool = True) -> Vocab:
        """Read what ``save`` wrote; ``lowercase`` is the setting the vocabulary was made with."""
        try:
            words = path.read_bytes().decode("utf-8", "surrogatepass").split("\n")
        except UnicodeDecodeError as error:
            raise ModelError(f"{path} is damaged, it is not UTF-8 ({error.reason})") from error
        if tuple(words[: len(_RESERVED)]) != _RESERVED:
            names = " and ".join(_RESERVED)
            raise ModelError(f"{path} is no vocabulary, its first two lines must be {names}")
        return cls(words[len(_RESERVED) :], lowercase=lowercase)


class Numbering:
    """Numbers words, as they are written, in the order they are first met: no vocabulary yet.

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


def count_words(texts: Iterable[Tokens], config: TextConfig) -> Counter[str]:
    """How often each word occurs, in lower case where ``config`` says so."""
    counts: Counter[str] = Counter()
    for tokens in texts:
        words = tokens.words()
        counts.update(lower_words(words) if config.lowercase else words)
    return counts


def _in_lower_case(counts: Mapping[str, int]) -> Counter[str]:
    merged: Counter[str] = Counter()
    for word, count in zip(lower_words(list(counts)), counts.values(), strict=True):
        merged[word] += count
    return merged
