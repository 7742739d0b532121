"""Sequences of numbers, of any lengths, with what is to be known about each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from ..errors import DataError
from ..ragged import Ragged

__all__ = ["SeriesBatch"]


@dataclass(frozen=True, slots=True, eq=False)
class SeriesBatch:
    """Rows of steps, each with the same features, and an answer for every row."""

    steps: Ragged  # (steps, features)
    answers: Tensor | None = None  # class numbers (rows,), or numbers to be found (rows, count)

    @classmethod
    def from_rows(cls, rows: Sequence[ArrayLike], answers: ArrayLike | None = None) -> SeriesBatch:
        """Put series, each (steps, features), into one batch; whole numbers answer as classes."""
        arrays = [np.asarray(row, dtype=np.float32) for row in rows]
        widths = {row.shape[1:] for row in arrays}
        if len(widths) != 1 or len(next(iter(widths))) != 1:
            found = ", ".join(sorted({str(row.shape) for row in arrays})) or "none"
            raise DataError(
                f"every series must be (steps, features) with the same features: {found}"
            )
        return cls(Ragged.from_rows([torch.from_numpy(row) for row in arrays]), _answers(answers))

    def __len__(self) -> int:
        """How many series there are."""
        return len(self.steps)

    @property
    def token_count(self) -> int:
        """How many steps all series have together."""
        return self.steps.values.shape[0]

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The numbers the batch is made of, from which it can be known again."""
        answers = () if self.answers is None else (self.answers,)
        return (self.steps.values, self.steps.lengths, *answers)

    def to(self, device: torch.device | str) -> SeriesBatch:
        """The same batch on ``device``."""
        answers = None if self.answers is None else self.answers.to(device, non_blocking=True)
        return SeriesBatch(self.steps.to(device), answers)


def _answers(answers: ArrayLike | None) -> Tensor | None:
    if answers is None:
        return None
    array = np.asarray(answers)
    if np.issubdtype(array.dtype, np.integer):
        return torch.from_numpy(array.astype(np.int64))
    return torch.from_numpy(array.astype(np.float32).reshape(len(array), -1))
