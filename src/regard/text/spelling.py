"""The letters of words: runs of them, by which words that are spelt alike are known to be alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .characters import is_hangul

__all__ = ["Spelled", "letter_sizes", "spell"]

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


def letter_sizes(words: Sequence[str], counts: NDArray[np.int64]) -> tuple[int, int] | None:
    """Return how long runs of letters should be for words that occur so often; None: leave them.

    A syllable of Hangul says as much as some letters. Where most words are single characters, as
    in Chinese, they have nothing inside.
    """
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    if counts[lengths > 1].sum() < counts.sum() / 2:
        return None
    korean = np.fromiter(map(is_hangul, words), bool, len(words))
    return (2, 4) if counts[korean].sum() > counts.sum() / 2 else (3, 5)
