"""The letters of words: runs of them and beginnings, by which words are known to be alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..kernels.scan import Likeness, Nearness
from .characters import is_hangul, kind_table

__all__ = [
    "ALIKE",
    "NEAREST",
    "Alike",
    "Nearest",
    "Spelled",
    "StandIns",
    "are_spelt",
    "fewest_shared",
    "lends",
    "letter_sizes",
    "run_worths",
    "spell",
]

ALIKE = Likeness(fewest=5, tenths=7, longest=40)
"""When a word that is not known is read as one that is: "captivatingly" as "captivating"."""

NEAREST = Nearness(shortest=3, longest=5, most_letters=40, fewest_words=8, words_of_one=64)
"""When a word that is not known is read as one that is made of the same runs of letters."""

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
        found = _runs_of(word, shortest, longest)
        places += [place] * len(found)
        runs += [numbers.setdefault(run, len(numbers)) for run in sorted(found)]
    return Spelled(np.array(places, np.int64), np.array(runs, np.int64), len(numbers))


def _runs_of(word: str, shortest: int, longest: int) -> set[str]:
    edged = f"{_EDGE}{word}{_EDGE}"
    return {
        edged[start : start + size]
        for size in range(shortest, longest + 1)
        for start in range(len(edged) - size + 1)
    }


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


class StandIns(Protocol):
    """Known words that may stand for words that are not known."""

    def find(self, word: str) -> int | None:
        """Return the place of the known word that this one is read as, if there is one."""
        ...


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


class Nearest:
    """Known words by the runs of letters that they are made of, as ``NEAREST`` has them.

    The rarer a run is the more it is worth (``run_worths``); one that very many words have, such as
    an ending, is worth nothing. Two words have in common what the runs are worth that both have,
    and are as near as the cosine of their runs says. Of several as near the first is taken.
    """

    def __init__(self, words: Sequence[str]) -> None:
        lending = [
            place
            for place in np.flatnonzero(lends(words)).tolist()
            if len(words[place]) <= NEAREST.most_letters
        ]
        runs = {place: self._runs(words[place]) for place in lending}
        self._holders: dict[str, list[int]] = {}
        for place, own in runs.items():
            for run in own:
                self._holders.setdefault(run, []).append(place)
        count = len(lending)
        held = [len(places) for places in self._holders.values()]
        worths = run_worths(np.array([0, *held], np.int64), count).tolist()
        self._worth_of_new = worths[0]
        self._worths = dict(zip(self._holders, worths[1:], strict=True))
        self._lengths = {place: self._worth(own) for place, own in runs.items()}

    def find(self, word: str) -> int | None:
        """Return the place of the nearest known word, if its cosine is a half at least."""
        if len(word) > NEAREST.most_letters:
            return None
        runs = self._runs(word)
        shared: Counter[int] = Counter()
        for run in runs:
            if worth := self._worths.get(run, 0):
                for place in self._holders[run]:
                    shared[place] += worth
        best, common, length = None, 0, 1
        for place in sorted(shared):
            # In whole numbers, so that it is the same everywhere.
            if shared[place] ** 2 * length > common**2 * self._lengths[place]:
                best, common, length = place, shared[place], self._lengths[place]
        return best if 4 * common**2 >= self._worth(runs) * length else None

    def _runs(self, word: str) -> set[str]:
        return _runs_of(word, NEAREST.shortest, NEAREST.longest)

    def _worth(self, runs: set[str]) -> int:
        return sum(self._worths.get(run, self._worth_of_new) for run in runs)


def run_worths(held: NDArray[np.int64], words: int) -> NDArray[np.int32]:
    """Return what runs are worth that so many of the words have.

    One that a word in seven has, 9, one that a word in a thousand has, 100: the square of how many
    bits 7 and 1000 have.
    """
    rarity = np.frexp((1 + words) // (1 + held))[1]  # the bits of a whole number
    worths = np.where(held > NEAREST.most_held(words), 0, rarity**2)
    return worths.astype(np.int32)


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
