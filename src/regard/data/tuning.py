"""Texts as rows that a BERT reads: with its marks around them, long ones in windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..ragged import Ragged, send
from ..text.pieces import WordPieces
from .spans import Marked

__all__ = ["Example", "TuningBatch", "TuningRow", "TuningRows", "cut_middle", "fit_both", "windows"]

Ids = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Example:
    """A text, and whatever a usage of BERT knows or asks of it."""

    text: str
    other: str | None = None  # the second text of a pair, or the question
    label: str | int | None = None
    marked: tuple[Marked, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class TuningBatch:
    """Rows of pieces, and what is asked of them."""

    ids: Ragged  # int64
    segments: Tensor  # (items,), 0 in the first text of a row, 1 in the second
    answers: Tensor  # of each row, or of each piece

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.ids)

    @property
    def token_count(self) -> int:
        """How many pieces all rows have together."""
        return self.ids.values.shape[0]

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The numbers the batch is made of, from which it can be known again."""
        return (self.ids.values, self.ids.lengths, self.segments, self.answers)

    def to(self, device: torch.device | str) -> TuningBatch:
        """The same batch on ``device``."""
        return replace(
            self,
            ids=self.ids.to(device),
            segments=send(self.segments, device),
            answers=send(self.answers, device),
        )


@dataclass(frozen=True, slots=True, eq=False)
class TuningRow:
    """One row: its ids, where its second text begins, and the answers: one, or one a piece."""

    ids: NDArray[np.int64]
    second: int  # the place of its first piece; the length of the row where there is none
    answers: NDArray[np.int64]
    cut: bool = False  # whether the middle of a text is left out

    @classmethod
    def around(
        cls,
        pieces: WordPieces,
        first: Ids,
        second: Ids | None = None,
        *,
        answers: NDArray[np.int64],
        cut: bool = False,
    ) -> TuningRow:
        """Put the marks around one text or two."""
        parts = [[pieces.start], first, [pieces.end]]
        if second is not None:
            parts += [second, [pieces.end]]
        ids = np.concatenate([np.asarray(part, dtype=np.int64) for part in parts])
        return cls(ids, len(first) + 2, answers, cut)


class TuningRows:
    """Rows in memory, from which batches are gathered."""

    def __init__(self, rows: Sequence[TuningRow]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many pieces each row has, the special ones counted, (rows,)."""
        return np.array([len(row.ids) for row in self._rows], dtype=np.int64)

    def batch(self, indices: NDArray[np.int64]) -> TuningBatch:
        """Put some rows, or none, into one batch."""
        rows = [self._rows[index] for index in indices.tolist()]
        nothing = np.zeros(0, np.int64)
        lengths = np.array([len(row.ids) for row in rows], dtype=np.int64)
        segments = [(np.arange(len(row.ids)) >= row.second).astype(np.int64) for row in rows]
        ids = torch.from_numpy(np.concatenate([nothing, *(row.ids for row in rows)]))
        return TuningBatch(
            Ragged.knowing(ids, torch.from_numpy(lengths), lengths.tolist()),
            torch.from_numpy(np.concatenate([nothing, *segments])),
            torch.from_numpy(np.concatenate([nothing, *(row.answers for row in rows)])),
        )


def windows(length: int, room: int, stride: int) -> list[slice]:
    """Cut so many pieces into windows of ``room`` at most; two share ``stride`` pieces or more.

    Half of a short window is the most that is asked for: each piece would be read over and over.
    """
    if length <= room:
        return [slice(0, length)]
    step = room - min(stride, room // 2)
    count = 1 + -(-(length - room) // step)
    # Spread evenly: the last would else share nearly all of its pieces with the one before.
    starts = [place * (length - room) // (count - 1) for place in range(count)]
    return [slice(start, start + room) for start in starts]


def cut_middle(ids: Ids, room: int) -> Ids:
    """Leave out the middle of a text that is too long: the first quarter of the room stays whole.

    Sun et al. (2019), "How to fine-tune BERT for text classification": an end says more.
    """
    if len(ids) <= room:
        return ids
    head = room // 4
    return np.concatenate([ids[:head], ids[len(ids) - (room - head) :]])


def fit_both(first: Ids, second: Ids, room: int) -> tuple[Ids, Ids]:
    """Cut the longer of two texts, or both, until they fit."""
    half = room // 2
    one = min(len(first), max(half, room - len(second)))
    return cut_middle(first, one), cut_middle(second, min(len(second), room - one))
