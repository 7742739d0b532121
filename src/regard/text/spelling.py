"""The letters of words: runs of them and beginnings, by which words are known to be alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.scan import Likeness
from .characters import is_hangul, kind_table

__all__ = [
    "ALIKE",
    "Alike",
    "Spelled",
    "are_spelt",
    "fewest_shared",
    "lends",
    "letter_sizes",
    "spell",
]

ALIKE = Likeness(fewest=5, tenths=7, longest=40)
"""When a word that is not known is read as one that is: "captivatingly" as "captivating"."""

_EDGE = " "  # stands before and behind a word


@dataclass(frozen=True, slots=True, eq=False)
class Spelled:
    """Which runs of letters each word has, a pair for each."""

    words: NDArray[np.int64]  # (pairs,), places of words, rising
    runs: NDArray[np.int64]  # (pairs,), numbers of runs in the order they are first met
    run_count: int


def spell(words: Sequence[str], sizes: tuple[int, int]) -> Spelled:
    """Find the runs of letters of each word, its edges counted as letters, of these sizes."""
    numbers: dict[str, int] = {}
    places: list[int] = []
    runs: list[int] = []
    shortest, longest = sizes
    for place, word in enumerate(words):
        edged = f"{_EDGE}{word}{_EDGE}"
        found = {
            edged[start : start + size]
            for size in range(shortest, longest + 1)
            for start in range(len(edged) - size + 1)
        }
        places += [place] * len(found)
        runs += [numbers.setdefault(run, len(numbers)) for run in sorted(found)]
    return Spelled(np.array(places, np.int64), np.array(runs, np.int64), len(numbers))


def letter_sizes(words: Sequence[str], counts: NDArray[np.int64]) -> tuple[int, int]:
    """Return how long runs of letters should be for words that occur so often.

    A syllable of Hangul says as much as some letters.
    """
    korean = np.fromiter(map(is_hangul, words), bool, len(words))
    return (2, 4) if counts[korean].sum() > counts.sum() / 2 else (3, 5)


def are_spelt(words: Sequence[str], counts: NDArray[np.int64]) -> bool:
    """Whether there is something inside of words that occur so often.

    Where most words are single characters, as in Chinese, there is not.
    """
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    return bool(counts[lengths > 1].sum() >= counts.sum() / 2)


class Alike:
    """Known words by how they begin; of those that begin alike, the first stands for others."""

    def __init__(self, words: Sequence[str]) -> None:
        self._places: dict[str, int] = {}
        for place in np.flatnonzero(lends(words)).tolist():
            word = words[place]
            if len(word) <= ALIKE.longest:
                for size in range(fewest_shared(len(word)), len(word) + 1):
                    self._places.setdefault(word[:size], place)

    def find(self, word: str) -> int | None:
        """Return the place of the known word that shares the longest beginning with this one."""
        if len(word) > ALIKE.longest:
            return None
        beginnings = (word[:size] for size in range(len(word), fewest_shared(len(word)) - 1, -1))
        return next((self._places[one] for one in beginnings if one in self._places), None)


def fewest_shared(length: int) -> int:
    """How many first letters a word of this length must share with another, if it is the longer."""
    return max(ALIKE.fewest, -(-ALIKE.tenths * length // 10))


def lends(words: Sequence[str]) -> NDArray[np.bool_]:
    """Say which words may stand for others: those without figures, as 10,000 is not 10,001."""
    codes = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)
    figures = np.concatenate([[0], np.cumsum(kind_table()[codes] == ord("1"))])
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    ends = np.cumsum(lengths)
    found: NDArray[np.bool_] = figures[ends] == figures[ends - lengths]
    return found
