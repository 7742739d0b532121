"""Who trains a model: one process alone, or several together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from torch import Tensor, nn

from .batches import B, Batches
from .devices import device_of
from .loop import LossFunction
from .state import M

__all__ = ["Alone", "Team", "batches_to_judge"]


class Team(Protocol):
    """The processes that train one model together, as seen by one of them."""

    rank: int
    size: int

    def share_batches(self, batches: Batches[B]) -> Batches[B]:
        """Of every batch the part that this process takes."""
        ...

    def share_loss(self, loss: LossFunction[M, B]) -> LossFunction[M, B]:
        """The same loss and gradients as if one process had taken the whole batch."""
        ...

    def add_up(self, values: Tensor) -> Tensor:
        """The sum of what all processes hold; each of them gets the same."""
        ...

    def agree(self, model: nn.Module) -> None:
        """Give every process the weights of the first."""
        ...

    def spread(self, content: bytes) -> bytes:
        """Give every process the bytes of the first."""
        ...


class Alone:
    """One process that trains by itself."""

    rank = 0
    size = 1

    def share_batches(self, batches: Batches[B]) -> Batches[B]:
        """The batches as they are."""
        return batches

    def share_loss(self, loss: LossFunction[M, B]) -> LossFunction[M, B]:
        """The loss as it is."""
        return loss

    def add_up(self, values: Tensor) -> Tensor:
        """The values as they are."""
        return values

    def agree(self, model: nn.Module) -> None:
        """Nobody to agree with."""

    def spread(self, content: bytes) -> bytes:
        """The bytes as they are."""
        return content


def batches_to_judge(model: nn.Module, batches: Batches[B], team: Team) -> Iterator[B]:
    """Give the batches that this process judges a model by, where the model is; no empty ones."""
    device = device_of(model)
    for batch in team.share_batches(batches).read(0):
        if len(batch):
            yield batch.to(device)
