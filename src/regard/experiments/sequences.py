"""Rows of symbols to copy, reverse or sort: what a network must carry from one side to the other.

A symbol is an id; the reserved ones come first, and symbols are sorted by their ids.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data.pairs import EncodedPairs
from ..text.units import RESERVED
from ..training.seeds import derived_seed
from .teaching import Lesson

__all__ = ["TASKS", "Rows", "draw_lesson", "draw_pairs"]

TASKS: dict[str, Callable[[NDArray[np.int64]], NDArray[np.int64]]] = {
    "copy": lambda row: row,
    "reverse": lambda row: row[::-1],
    "sort": np.sort,
}
"""What is to be written about a row, by the name of the task."""


@dataclass(frozen=True)
class Rows:
    """How many different symbols there are, and how many of them a row has."""

    symbols: int
    shortest: int
    longest: int

    @property
    def id_count(self) -> int:
        """How many ids there are, the reserved ones counted."""
        return len(RESERVED) + self.symbols


def draw_lesson(task: str, rows: Rows, *, training: int, held_out: int, seed: int) -> Lesson:
    """Draw pairs for both sides; a held-out source that is also trained on is drawn again."""
    random = np.random.default_rng(derived_seed(seed, "pairs"))
    seen = [_row(random, rows) for _ in range(training)]
    known = {row.tobytes() for row in seen}
    asked: list[NDArray[np.int64]] = []
    while len(asked) < held_out:
        row = _row(random, rows)
        if row.tobytes() not in known:
            asked.append(row)
    return Lesson(_paired(task, seen), _paired(task, asked), rows.id_count)


def draw_pairs(task: str, rows: Rows, *, count: int, seed: int) -> EncodedPairs:
    """Draw pairs alone, to ask about rows of other lengths."""
    random = np.random.default_rng(derived_seed(seed, "pairs", rows.shortest, rows.longest))
    return _paired(task, [_row(random, rows) for _ in range(count)])


def _row(random: np.random.Generator, rows: Rows) -> NDArray[np.int64]:
    length = random.integers(rows.shortest, rows.longest + 1)
    return random.integers(len(RESERVED), rows.id_count, length)


def _paired(task: str, sources: list[NDArray[np.int64]]) -> EncodedPairs:
    return EncodedPairs(sources, [TASKS[task](row) for row in sources])
