"""Layers of recurrent cells that go on from a given state, and the bridges that give them one.

They go along whole rows, or by one step.

What a token gives the first layer does not depend on the state, so it is projected before, for
all steps at once: both ways take the projected input.

A bridge leads from the states in which an encoder ended to those that a decoder starts from. An
encoder with two directions ends each layer with two states side by side: those belong to the same
layer of the decoder, and never to two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from ...ragged import Ragged
from ..dropout import drop
from ..encoders import LAYERS
from ..recurrence import CELLS, Carry, CellName, Layer, recur_from

__all__ = [
    "BRIDGES",
    "STEPS",
    "BridgeConfig",
    "BridgeName",
    "Carries",
    "CopyBridge",
    "LinearBridge",
    "NoBridge",
    "RecurrentStack",
]

Carries = tuple[Carry, ...]
"""What each layer carries, the first layer first; every tensor is (rows, hidden)."""


class RecurrentStack(nn.Module):
    """Layers of an RNN, GRU or LSTM in one direction; the parameters are torch's own."""

    def __init__(
        self,
        size: int,
        hidden_size: int,
        *,
        cell: CellName = "gru",
        layers: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.cell = cell
        self.dropout = dropout
        self.layers = LAYERS[cell](
            size, hidden_size, num_layers=layers, dropout=dropout if layers > 1 else 0.0
        )

    def zeros(self, rows: int) -> Carries:
        """A start from nothing."""
        weight, _ = self._weights("hh", 0)
        state = weight.new_zeros(rows, self.layers.hidden_size)
        return ((state,) * (2 if self.cell == "lstm" else 1),) * self.layers.num_layers

    def project(self, values: Tensor, columns: slice = slice(None), bias: bool = True) -> Tensor:
        """What some columns of the first layer's input give its gates, (rows, gates * hidden)."""
        weight, biases = self._weights("ih", 0)
        return linear(values, weight[:, columns], biases if bias else None)

    def step(self, projected: Tensor, carries: Carries) -> Carries:
        """Make one step with every row; the last layer's state is ``carries[-1][0]``."""
        made: list[Carry] = []
        for number, carry in enumerate(carries):
            if number:
                below = drop(made[-1][0], self.dropout, self.training)
                weight, bias = self._weights("ih", number)
                projected = linear(below, weight, bias)
            fed = linear(carry[0], *self._weights("hh", number))
            # Autocast may have given the input another type than the state came with.
            before = tuple(part.to(projected.dtype) for part in carry)
            made.append(STEPS[self.cell](projected, fed, before))
        return tuple(made)

    def run(self, projected: Ragged, carries: Carries) -> Ragged:
        """Go along every row from its start; return the states of the last layer."""
        rows, values = projected, projected.values
        for number, carry in enumerate(carries):
            if number:
                below = drop(values, self.dropout, self.training)
                values = linear(below, *self._weights("ih", number))
            weight, bias = self._weights("hh", number)
            layer = Layer(self.cell, weight.unsqueeze(0), bias.unsqueeze(0))
            values, _ = recur_from(layer, values, rows, carry)
        return rows.with_values(values)

    def _weights(self, kind: str, layer: int) -> tuple[Tensor, Tensor]:
        """The weights and biases that the input, "ih", or the state, "hh", is multiplied with."""
        weight = self.layers.get_parameter(f"weight_{kind}_l{layer}")
        return weight, self.layers.get_parameter(f"bias_{kind}_l{layer}")


def _rnn(projected: Tensor, fed: Tensor, carry: Carry) -> Carry:
    return (torch.tanh(projected + fed),)


def _gru(projected: Tensor, fed: Tensor, carry: Carry) -> Carry:
    hidden = carry[0].shape[1]
    both = torch.sigmoid(projected[:, : 2 * hidden] + fed[:, : 2 * hidden])
    reset, update = both.chunk(2, 1)
    new = torch.tanh(torch.addcmul(projected[:, 2 * hidden :], reset, fed[:, 2 * hidden :]))
    return (torch.lerp(new, carry[0], update),)


def _lstm(projected: Tensor, fed: Tensor, carry: Carry) -> Carry:
    enter, forget, new, leave = (projected + fed).chunk(4, 1)
    kept = torch.sigmoid(forget) * carry[1]
    memory = torch.addcmul(kept, torch.sigmoid(enter), torch.tanh(new))
    return torch.sigmoid(leave) * torch.tanh(memory), memory


STEPS: dict[CellName, Callable[[Tensor, Tensor, Carry], Carry]] = {
    "rnn": _rnn,
    "gru": _gru,
    "lstm": _lstm,
}
"""One step of every cell: what the input and the state give the gates, and what was carried."""


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
