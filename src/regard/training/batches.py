"""Which batches an epoch has: what the loop asks for, planned by the seed of the settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Protocol, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.batches import plan_batches, split_by_rank
from .config import TrainingConfig
from .seeds import derived_seed

__all__ = ["B", "Batches", "Examples", "PlannedBatches", "TrainingBatch"]


class TrainingBatch(Protocol):
    """What a step learns from: some documents, or pairs, together."""

    def __len__(self) -> int:
        """How many documents there are."""
        ...

    @property
    def token_count(self) -> int:
        """How many tokens they have together."""
        ...

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The numbers the batch is made of, from which it can be known again."""
        ...

    def to(self, device: torch.device | str) -> Self:
        """The same batch on ``device``."""
        ...


B = TypeVar("B", bound=TrainingBatch)
Given = TypeVar("Given", bound=TrainingBatch, covariant=True)


class Batches(Protocol[Given]):
    """The batches of every epoch: asked twice for an epoch, it gives the same ones again."""

    def count(self, epoch: int) -> int:
        """How many batches the epoch has."""
        ...

    def read(self, epoch: int, start: int = 0) -> Iterator[Given]:
        """Give the batches of the epoch, without the first ``start``."""
        ...

    def share(self, rank: int, size: int) -> Batches[Given]:
        """The same batches, each cut down to one process's share of it, which may be empty."""
        ...


class Examples(Protocol[Given]):
    """Encoded documents, such as a ``Corpus``, or pairs."""

    @property
    def lengths(self) -> NDArray[np.integer]:
        """How many tokens each document has."""
        ...

    def batch(self, indices: NDArray[np.int64]) -> Given:
        """Put some documents, or none, into one batch."""
        ...


class PlannedBatches(Generic[B]):
    """Batches of some documents of a source, shuffled and grouped by length as the settings say."""

    def __init__(
        self,
        source: Examples[B],
        config: TrainingConfig,
        *,
        indices: NDArray[np.int64] | None = None,
        rank: int = 0,
        size: int = 1,
    ) -> None:
        self._source = source
        self._config = config
        self._indices = np.arange(len(source.lengths)) if indices is None else np.asarray(indices)
        self._rank, self._size = rank, size
        self._planned: tuple[int, list[NDArray[np.int64]]] | None = None

    def count(self, epoch: int) -> int:
        """How many batches the epoch has."""
        return len(self._plan(epoch))

    def read(self, epoch: int, start: int = 0) -> Iterator[B]:
        """Give the batches of the epoch, without the first ``start``."""
        for places in self._plan(epoch)[start:]:
            mine = (
                split_by_rank(places, rank=self._rank, world=self._size)
                if self._size > 1
                else places
            )
            yield self._source.batch(self._indices[mine])

    def share(self, rank: int, size: int) -> PlannedBatches[B]:
        """The same batches, each cut down to one process's share of it, which may be empty."""
        return PlannedBatches(
            self._source, self._config, indices=self._indices, rank=rank, size=size
        )

    def _plan(self, epoch: int) -> list[NDArray[np.int64]]:
        # Kept, since an epoch is planned twice in a row: to count its batches and to read them.
        if self._planned is None or self._planned[0] != epoch:
            plan = plan_batches(
                self._source.lengths[self._indices],
                batch_size=self._config.batch_size,
                batch_tokens=self._config.batch_tokens,
                seed=derived_seed(self._config.seed, "order"),
                epoch=epoch,
            )
            self._planned = (epoch, plan)
        return self._planned[1]
