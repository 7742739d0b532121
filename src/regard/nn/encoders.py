"""Vectors in, the same rows of vectors out, each now knowing its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, linear
from torch.nn.utils.rnn import PackedSequence

from ..kernels import cpu
from ..ragged import Ragged
from .dropout import drop
from .packing import Packing
from .recurrence import Carry, CellName, Layer, has_kernel, recur, recur_from
from .transformer import BlockConfig, NormName, PositionsName, TransformerEncoder

__all__ = [
    "ENCODERS",
    "LAYERS",
    "Encoder",
    "EncoderConfig",
    "NoEncoder",
    "Reading",
    "RecurrentEncoder",
]

LAYERS: dict[CellName, type[nn.RNN | nn.GRU | nn.LSTM]] = {
    "rnn": nn.RNN,
    "gru": nn.GRU,
    "lstm": nn.LSTM,
}
"""Torch's layer for every cell: it holds the parameters, under torch's names."""


class Encoder(Protocol):
    """Reads every row of vectors of ``input_size``, and gives each a vector of ``output_size``."""

    input_size: int
    output_size: int

    def __call__(self, items: Ragged) -> Ragged:
        """Read rows of vectors, (items, size)."""
        ...

    def from_table(self, table: Tensor, index: Ragged) -> Ragged:
        """Read rows of numbers that pick vectors from a table, (distinct, size)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """Every item as the last layer sees it, and in what every layer ended.

    The end of a layer is (rows, directions * hidden): the forward direction's at the last item
    of a row, then the backward direction's at the first. An empty row ends in zeros.
    """

    states: Ragged
    ends: tuple[Carry, ...]  # the first layer first


class NoEncoder(nn.Module):
    """Leaves every vector as it is, so that attention sees the words themselves."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.input_size = self.output_size = size

    def forward(self, items: Ragged) -> Ragged:
        """Return the items."""
        return items

    def from_table(self, table: Tensor, index: Ragged) -> Ragged:
        """Look the items up."""
        return index.with_values(embedding(index.values, table))


class RecurrentEncoder(nn.Module):
    """Layers of an RNN, GRU or LSTM along each row, in one direction or in both.

    The vector of an item is its state in the last layer: forward half first, then backward.
    """

    def __init__(
        self,
        size: int,
        hidden_size: int,
        *,
        cell: CellName = "gru",
        layers: int = 1,
        directions: int = 2,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.cell = cell
        self.dropout = dropout
        self.directions = directions
        self.input_size = size
        self.output_size = directions * hidden_size
        self.layers = LAYERS[cell](
            size,
            hidden_size,
            num_layers=layers,
            bidirectional=directions == 2,
            dropout=dropout if layers > 1 else 0.0,  # it is between layers; torch warns at one
        )

    def forward(self, items: Ragged) -> Ragged:
        """Read rows of vectors, (items, size)."""
        return self._read(items.values, None, items)

    def from_table(self, table: Tensor, index: Ragged) -> Ragged:
        """Read rows of numbers that pick vectors from a table, (distinct, size).

        The same as looking the vectors up first, but each distinct one is projected once.
        """
        return self._read(table, index.values, index)

    def read(self, items: Ragged) -> Reading:
        """Read rows of vectors, (items, size), and keep in what each layer ended."""
        projected = self._projected(items.values, 0)
        if projected.is_cuda and (self.cell == "lstm" or not has_kernel(self.cell, projected)):
            return self._packed(items)
        states, ends = items.values, []
        for layer in range(self.layers.num_layers):
            if layer:
                kept = drop(states, self.dropout, self.training)
                projected = self._projected(kept, layer)
            states, end = self._states_and_end(projected, items, layer)
            ends.append(end)
        return Reading(items.with_values(states), tuple(ends))

    @property
    def gate_count(self) -> int:
        """How many numbers a projected vector has: those of all gates in all directions."""
        return self.directions * self.layers.get_parameter("weight_hh_l0").shape[0]

    @property
    def attends(self) -> bool:
        """Whether ``attend`` can be used: in evaluation, on a CPU, without gradients."""
        if self.training or torch.is_grad_enabled():
            return False
        return cpu.can_recur(self.cell, self._joined("bias_hh", 0)[None])  # as wide as projected

    def input_weights(self) -> Tensor:
        """The weights and biases that ``project`` uses, side by side, (gate_count, size + 1)."""
        return torch.cat([self._joined("weight_ih", 0), self._joined("bias_ih", 0)[:, None]], 1)

    def project(self, values: Tensor) -> Tensor:
        """What vectors, (items, size), give the gates of the first layer; where ``attends``."""
        return self._project(values, 0)

    def project_into(self, table: Tensor, places: Tensor, vectors: Tensor) -> None:
        """Fill rows of a table with what the vectors at the same places are projected to."""
        weight, bias = self._joined("weight_ih", 0), self._joined("bias_ih", 0)
        cpu.project_into(table, places, items=vectors, weight=weight, bias=bias)

    def attend(
        self, projected: Tensor, index: Tensor | None, rows: Ragged, attention: cpu.ContextAttention
    ) -> tuple[Tensor, Tensor]:
        """Read rows of projected vectors and pool the last layer's states, which are not kept.

        Returns the vectors, (rows, output_size), and the weights, (items,).
        """
        last = self.layers.num_layers - 1
        for layer in range(last):
            states = self._states(projected, index, rows, layer)
            projected, index = self._project(states, layer + 1), None
        made = self._layer(last)
        recurrent = cpu.Recurrent(made.cell, made.weights, made.biases)
        return cpu.attend(projected, index, rows, layer=recurrent, attention=attention)

    def _states_and_end(self, projected: Tensor, rows: Ragged, layer: int) -> tuple[Tensor, Carry]:
        if self.cell == "lstm":  # its memory is not among its states
            return recur_from(self._layer(layer), projected, rows)
        states = self._states(projected, None, rows, layer)
        return states, (_ends(rows.with_values(states), self.directions),)

    def _read(self, table: Tensor, index: Tensor | None, rows: Ragged) -> Ragged:
        projected = self._projected(table, 0)
        if projected.is_cuda and not has_kernel(self.cell, projected):
            return self._read_by_cudnn(table, index, rows)
        states = self._states(projected, index, rows, 0)
        for layer in range(1, self.layers.num_layers):
            kept = drop(states, self.dropout, self.training)
            states = self._states(self._projected(kept, layer), None, rows, layer)
        return rows.with_values(states)

    def _projected(self, values: Tensor, layer: int) -> Tensor:
        """What the values give the gates of a layer, before any state."""
        return linear(values, self._joined("weight_ih", layer), self._joined("bias_ih", layer))

    def _project(self, values: Tensor, layer: int) -> Tensor:
        """The same without gradients, and with the same bits for a vector in any company."""
        weight, bias = self._joined("weight_ih", layer), self._joined("bias_ih", layer)
        return cpu.project(values, weight, bias)

    def _states(self, projected: Tensor, index: Tensor | None, rows: Ragged, layer: int) -> Tensor:
        made = self._layer(layer)
        return recur(made.cell, projected, index, rows, made.weights, made.biases)

    def _layer(self, layer: int) -> Layer:
        """The recurrent parameters of a layer, direction by direction."""
        weights = self._joined("weight_hh", layer)
        weights = weights.view(self.directions, -1, self.layers.hidden_size)
        biases = self._joined("bias_hh", layer).view(self.directions, -1)
        return Layer(self.cell, weights, biases)

    def _joined(self, name: str, layer: int) -> Tensor:
        """The parameters of both directions, one below the other."""
        ends = ("", "_reverse") if self.layers.bidirectional else ("",)
        return torch.cat([self.layers.get_parameter(f"{name}_l{layer}{end}") for end in ends])

    def _read_by_cudnn(self, table: Tensor, index: Tensor | None, rows: Ragged) -> Ragged:
        values = table if index is None else embedding(index, table)
        return self._packed(rows.with_values(values)).states

    def _packed(self, items: Ragged) -> Reading:
        """All layers at once, through torch's own packed sequences."""
        packing, rows = Packing(items), len(items)
        if not packing.sizes:  # cuDNN refuses to read nothing
            nothing = items.values.new_zeros(rows, self.output_size)
            end = (nothing,) * (2 if self.cell == "lstm" else 1)
            return Reading(items.with_values(nothing[:0]), (end,) * self.layers.num_layers)
        values = items.values.index_select(0, packing.source)
        states, last = self.layers(PackedSequence(values, torch.tensor(packing.sizes)))
        carried = [self._by_row(part, packing, rows) for part in _parts(last)]
        ends = tuple(zip(*carried, strict=True))
        return Reading(items.with_values(states.data.index_select(0, packing.place)), ends)

    def _by_row(self, last: Tensor, packing: Packing, rows: int) -> list[Tensor]:
        """Torch's ends, (layers * directions, rows, hidden), as (rows, ...) layer by layer."""
        _, count, hidden = last.shape
        sides = last.view(self.layers.num_layers, self.directions, count, hidden)
        flat = sides.transpose(1, 2).flatten(2)  # (layers, rows, directions * hidden)
        whole = flat.new_zeros(flat.shape[0], rows, flat.shape[2])
        return list(whole.index_copy(1, packing.order[:count], flat))


def _parts(last: Tensor | tuple[Tensor, Tensor]) -> tuple[Tensor, ...]:
    return last if isinstance(last, tuple) else (last,)


def _ends(states: Ragged, directions: int) -> Tensor:
    """The forward half of every row's last state and the backward half of its first."""
    if not states.values.shape[0]:
        return states.values.new_zeros(len(states), states.values.shape[1])
    first = states.offsets[:-1].clamp(max=states.values.shape[0] - 1)
    last = (states.offsets[1:] - 1).clamp(min=0)
    sides = states.values.chunk(directions, 1)
    ends = [side.index_select(0, at) for side, at in zip(sides, (last, first), strict=False)]
    return torch.cat(ends, 1) * (states.lengths > 0).to(states.values.dtype)[:, None]


@dataclass(frozen=True)
class EncoderConfig:
    """What encoders are made with; each takes what it needs of it."""

    size: int  # of the vectors that are read
    hidden_size: int  # of a state, in each direction
    layers: int = 1
    directions: int = 2  # a transformer looks both ways, and is as wide as all of them together
    dropout: float = 0.0
    cell: CellName = "gru"  # recurrent
    heads: int = 5  # transformer
    positions: PositionsName = "rotary"
    norm: NormName = "pre"

    @property
    def block(self) -> BlockConfig:
        """The shape of every block of a transformer."""
        size = self.directions * self.hidden_size
        return BlockConfig(size, self.heads, 4 * size, self.dropout, self.norm)


def _recurrent(config: EncoderConfig) -> Encoder:
    return RecurrentEncoder(
        config.size,
        config.hidden_size,
        cell=config.cell,
        layers=config.layers,
        directions=config.directions,
        dropout=config.dropout,
    )


def _transformer(config: EncoderConfig) -> Encoder:
    return TransformerEncoder(
        config.size, config.block, layers=config.layers, positions=config.positions
    )


ENCODERS: dict[str, Callable[[EncoderConfig], Encoder]] = {
    "recurrent": _recurrent,
    "transformer": _transformer,
    "none": lambda config: NoEncoder(config.size),
}
"""Every encoder by its name in the settings, made with its ``EncoderConfig``."""
