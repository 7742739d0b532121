"""Sources, texts or pictures, with what is to be written about each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, Protocol, Self, TypeVar

import torch
from torch import Tensor

from ..ragged import Ragged
from ..text.units import START

__all__ = ["S", "Source", "TargetBatch"]


class Source(Protocol):
    """What can be written about, many together: texts, or pictures."""

    def __len__(self) -> int:
        """How many there are."""
        ...

    @property
    def token_count(self) -> int:
        """How many items they have together."""
        ...

    @property
    def item_counts(self) -> Tensor:
        """How many items each has that can be looked at, (sources,)."""
        ...

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The numbers they are made of, from which they can be known again."""
        ...

    def to(self, device: torch.device | str) -> Self:
        """The same on ``device``."""
        ...


S = TypeVar("S", bound=Source)


@dataclass(frozen=True, eq=False)  # without slots: typing marks what a generic name makes
class TargetBatch(Generic[S]):
    """Sources, and for each the ids to be written about it, the end counted.

    A target of no words is a row that holds the end alone.
    """

    source: S
    target: Ragged  # int64, one row a source

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self.source)

    @property
    def token_count(self) -> int:
        """How many items both sides have together, the ends counted."""
        return self.source.token_count + self.target.values.shape[0]

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The numbers the batch is made of, from which it can be known again."""
        return (*self.source.tensors, self.target.values, self.target.lengths)

    @property
    def previous(self) -> Ragged:
        """The id before each id of the target: the start, then the target without its end."""
        values = torch.empty_like(self.target.values)
        values[1:] = self.target.values[:-1]
        values[self.target.offsets[:-1]] = START
        return self.target.with_values(values)

    def to(self, device: torch.device | str) -> Self:
        """The same batch on ``device``; the texts stay where they are."""
        return replace(self, source=self.source.to(device), target=self.target.to(device))
