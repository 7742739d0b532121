"""From the states in which an encoder ended to those that a decoder starts from.

An encoder with two directions ends each layer with two states side by side: those belong to the
same layer of the decoder, and never to two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn

from ..recurrence import CELLS, CellName
from .stacks import Carries

__all__ = ["BRIDGES", "BridgeConfig", "BridgeName", "CopyBridge", "LinearBridge", "NoBridge"]

BridgeName = Literal["copy", "linear", "none"]


@dataclass(frozen=True)
class BridgeConfig:
    """The shape of both sides: as many layers and the same cell, but states of any size."""

    end_size: int  # of a layer's end, all directions together
    hidden_size: int
    layers: int
    cell: CellName


class NoBridge(nn.Module):
    """Starts every decoder from zeros: nothing crosses."""

    def __init__(self, config: BridgeConfig) -> None:
        super().__init__()
        self.config = config

    def forward(self, ends: Carries) -> Carries:
        """Return what each layer of the decoder starts from, (rows, hidden_size)."""
        like = ends[0][0]
        return tuple(
            tuple(like.new_zeros(like.shape[0], self.config.hidden_size) for _ in end)
            for end in ends
        )


class CopyBridge(NoBridge):
    """Hands the end of each layer over as it is; both sides must be equally wide."""

    def forward(self, ends: Carries) -> Carries:
        """Return the ends."""
        return ends


class LinearBridge(NoBridge):
    """Makes each layer's start from the end of the same layer, by a layer of its own.

    The state goes through tanh, as every state has; the memory of an LSTM has no bounds.
    """

    def __init__(self, config: BridgeConfig) -> None:
        super().__init__(config)
        count = config.layers * CELLS[config.cell].carries
        self.layers = nn.ModuleList(
            nn.Linear(config.end_size, config.hidden_size) for _ in range(count)
        )

    def forward(self, ends: Carries) -> Carries:
        """Return what each layer of the decoder starts from, (rows, hidden_size)."""
        layers = iter(self.layers)
        crossed = [[next(layers)(part) for part in end] for end in ends]
        return tuple((torch.tanh(state), *memory) for state, *memory in crossed)


BRIDGES: dict[BridgeName, type[NoBridge]] = {
    "copy": CopyBridge,
    "linear": LinearBridge,
    "none": NoBridge,
}
"""Every bridge by its name in the settings."""
