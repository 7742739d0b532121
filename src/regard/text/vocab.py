"""What turns texts into ids and ids into a text, and the two that know whole words.

A text is encoded once and for all by a ``Vocabulary``: its words, its characters or its parts of
words (``units``) have ids, sentence by sentence. Whatever reads texts or keeps them as ids asks
for no more than that, so it takes any of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, ModelError
from ..kernels.scan import BeginningTable, RunTable, Search, WordTable, available, look_up
from .characters import lower_words
from .document import Tokens, cut_tokens
from .encode import Encoded, encode
from .spelling import ALIKE, NEAREST, Alike, Nearest, StandIns, lends, run_worths
from .tokenize import TextConfig

__all__ = [
    "MANY_NEW",
    "PADDING",
    "UNKNOWN",
    "CutText",
    "Numbering",
    "Vocab",
    "Vocabulary",
    "count_words",
    "cut_texts",
    "settle_unknown",
]

PADDING = 0
"""The id that fills up a row of fixed length; no word has it."""
UNKNOWN = 1
"""The id of words that the vocabulary does not hold, unless they are read as others."""

MANY_ONCE = 0.05
"""The share of words that occur once, above which they are known too. About as many words of a new
text are new (Good and Turing); without those that occur once still more would not be known."""

MANY_NEW = 0.1
"""The same share, above which more than beginnings say what unknown words are read as. So many are
new where words have many endings, as in Finnish, or where texts are very few."""

_RESERVED = ("<pad>", "<oov>")
_STAND_INS: Mapping[str, Callable[[Sequence[str]], StandIns]] = {
    "alike": Alike,
    "nearest": Nearest,
}
_SHOWN_UNKNOWN = "\N{REPLACEMENT CHARACTER}"


class Vocabulary(Protocol):
    """Turns texts into ids, and ids into a text."""

    def __len__(self) -> int:
        """How many ids there are, the reserved ones counted."""
        ...

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Find the pieces of each text, sentence by sentence, and their ids."""
        ...

    def decode(self, ids: Iterable[int]) -> str:
        """Write the text that the pieces make; an unknown one is the replacement character."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class CutText:
    """A text in pieces: where they lie in it, and their ids."""

    tokens: Tokens
    ids: NDArray[np.int32]  # (tokens,)


def cut_texts(texts: Sequence[str], vocabulary: Vocabulary) -> list[CutText]:
    """Cut each text into the pieces of a vocabulary."""
    encoded = vocabulary.encode(texts)
    ids = np.split(encoded.ids, np.cumsum(encoded.lengths)[:-1]) if len(texts) else []
    return [CutText(*both) for both in zip(cut_tokens(texts, encoded), ids, strict=True)]


class Vocab:
    """The words of the training texts; the id of a word is its place in ``words``.

    ``words`` begins with the two reserved names, which no lookup ever finds: a word of a text
    that is written like one of them is a word like any other. ``config`` says how texts are read:
    with ``unknown="alike"`` a word that is not here is read as the one here that begins alike, with
    ``"nearest"`` as the one whose letters are nearest.
    """

    def __init__(self, words: Iterable[str], config: TextConfig | None = None) -> None:
        self.words = [*_RESERVED, *words]
        self._config = config or TextConfig()
        self.lowercase = self._config.lowercase
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
        fewest = config.min_count or _fewest(counts)
        frequent = sorted(item for item in counts.items() if item[1] >= fewest)
        frequent.sort(key=lambda item: item[1], reverse=True)
        return cls((word for word, _ in frequent[: config.max_size]), config)

    def __len__(self) -> int:
        """How many ids there are, the two reserved ones counted."""
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return (lower_words([word])[0] if self.lowercase else word) in self._ids

    def ids(self, words: Sequence[str]) -> NDArray[np.int32]:
        """The id of each word, (words,); in lower case first where the vocabulary is."""
        spelt = lower_words(words) if self.lowercase else words
        ids = np.fromiter(map(self._ids.get, spelt, repeat(UNKNOWN)), np.int32, len(words))
        unknown = np.flatnonzero(ids == UNKNOWN) if self._reads_unknown else ids[:0]
        if len(unknown):
            ids[unknown] = self._read_unknown([spelt[place] for place in unknown.tolist()])
        return ids

    def _read_unknown(self, words: Sequence[str]) -> NDArray[np.int32]:
        """The ids of the known words that others are read as, (words,)."""
        if available():
            return look_up(words, self.search)
        found = (self.stand_ins.find(word) for word in words)
        return np.array([UNKNOWN if one is None else len(_RESERVED) + one for one in found])

    def read_as(self, words: Sequence[str]) -> dict[str, str]:
        """Which of these words are not here and read as others, and as which."""
        if not self._reads_unknown:
            return {}
        distinct = list(dict.fromkeys(words))
        spelt = lower_words(distinct) if self.lowercase else distinct
        pairs = zip(distinct, spelt, strict=True)
        unknown = [word for word, known in pairs if known not in self._ids]
        ids = self.ids(unknown).tolist()
        return {
            word: self.words[id] for word, id in zip(unknown, ids, strict=True) if id != UNKNOWN
        }

    @property
    def _reads_unknown(self) -> bool:
        """Whether words that are not here may be read as others."""
        return self._config.unknown in _STAND_INS

    @cached_property
    def stand_ins(self) -> StandIns:
        """The known words as which others are read: what is done in C, defined in Python."""
        return _STAND_INS[self._config.unknown](self.words[len(_RESERVED) :])

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Find the words of each text, sentence by sentence, and their ids."""
        return encode(texts, self, self._config)

    def decode(self, ids: Iterable[int]) -> str:
        """Write the words with a space between them; which space was there is not known."""
        return " ".join(
            _SHOWN_UNKNOWN if id == UNKNOWN else self.words[id] for id in ids if id != PADDING
        )

    @cached_property
    def search(self) -> Search:
        """The words as the scanner in C looks them up, and how it reads any other word."""
        first = len(_RESERVED)
        known = self.words[first:]
        table = WordTable(known)
        others: BeginningTable | RunTable | None = None
        if self._config.unknown == "alike":
            others = BeginningTable(table, lends(known), ALIKE)
        elif self._config.unknown == "nearest":
            others = RunTable(known, lends(known), NEAREST, run_worths)
        return Search(table, first=first, lowercase=self.lowercase, others=others)

    def save(self, path: Path) -> None:
        """Write one word a line, so that a word's id is the number of lines before it."""
        lines = "\n".join(self.words)
        if lines.count("\n") >= len(self.words):
            word = next(word for word in self.words if "\n" in word)
            raise DataError(f"{path} holds a word a line, so {word!r} cannot be written to it")
        path.write_bytes(lines.encode("utf-8", "surrogatepass"))

    @classmethod
    def load(cls, path: Path, config: TextConfig | None = None) -> Vocab:
        """Read what ``save`` wrote; ``config`` is the one that the vocabulary was made with."""
        try:
            words = path.read_bytes().decode("utf-8", "surrogatepass").split("\n")
        except UnicodeDecodeError as error:
            raise ModelError(f"{path} is damaged, it is not UTF-8 ({error.reason})") from error
        if tuple(words[: len(_RESERVED)]) != _RESERVED:
            names = " and ".join(_RESERVED)
            raise ModelError(f"{path} is no vocabulary, its first two lines must be {names}")
        return cls(words[len(_RESERVED) :], config)


class Numbering:
    """Numbers words, as they are written, in the order they are first met: no vocabulary yet.

    The words live in a dictionary, or in a table of the scanner in C: whichever is asked first.
    """

    def __init__(self, config: TextConfig | None = None) -> None:
        self._config = config or TextConfig()
        self._numbers = _Numbers()
        self._search: Search | None = None

    def __len__(self) -> int:
        """How many different words were met."""
        return len(self._numbers) if self._search is None else len(self._search.table)

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Find the words of each text, sentence by sentence, and their numbers."""
        return encode(texts, self, self._config)

    def decode(self, ids: Iterable[int]) -> str:
        """Write the words with a space between them."""
        words = self.words
        return " ".join(words[id] for id in ids)

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


def settle_unknown(config: TextConfig, counts: Mapping[str, int]) -> TextConfig:
    """Choose how words out of the vocabulary are read, where the settings leave it open."""
    if config.unknown != "auto":
        return config
    once = _share_once(_in_lower_case(counts) if config.lowercase else counts)
    return replace(config, unknown="nearest" if once > MANY_NEW else "alike")


def _fewest(counts: Mapping[str, int]) -> int:
    """How often a word must occur to be known, where the settings leave it open."""
    return 1 if _share_once(counts) > MANY_ONCE else 2


def _share_once(counts: Mapping[str, int]) -> float:
    """Of all words of a text, how many occur there only once."""
    once = sum(count == 1 for count in counts.values())
    return once / max(sum(counts.values()), 1)


def _in_lower_case(counts: Mapping[str, int]) -> Counter[str]:
    merged: Counter[str] = Counter()
    for word, count in zip(lower_words(list(counts)), counts.values(), strict=True):
        merged[word] += count
    return merged
