"""Vectors in, the same rows of vectors out, each now knowing its neighbours."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, embedding, linear
from torch.nn.utils.rnn import PackedSequence

from ..ragged import Ragged
from .cells import CellName
from .packing import Packing
from .recurrent import has_kernel, recur

__all__ = ["ENCODERS", "LAYERS", "Encoder", "NoEncoder", "RecurrentEncoder"]

LAYERS: dict[CellName, type[nn.RNN | nn.GRU | nn.LSTM]] = {
    "rnn": nn.RNN,
    "gru": nn.GRU,
    "lstm": nn.LSTM,
}
"""Torch's layer for every cell: it holds the parameters, under torch's names."""


class Encoder(Protocol):
    """Reads every row, and gives each item a vector of ``output_size``."""

    output_size: int

    def __call__(self, items: Ragged) -> Ragged:
        """Read rows of vectors, (items, size)."""
        ...

    def from_table(self, table: Tensor, index: Ragged) -> Ragged:
        """Read rows of numbers that pick vectors from a table, (distinct, size)."""
        ...


class NoEncoder(nn.Module):
    """Leaves every vector as it is, so that attention sees the words themselves."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.output_size = size

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

    def _read(self, table: Tensor, index: Tensor | None, rows: Ragged) -> Ragged:
        projected = self._projected(table, 0)
        if projected.is_cuda and not has_kernel(self.cell, projected):
            return self._read_by_cudnn(table, index, rows)
        states = self._states(projected, index, rows, 0)
        for layer in range(1, self.layers.num_layers):
            kept = dropout(states, self.dropout, self.training)
            states = self._states(self._projected(kept, layer), None, rows, layer)
        return rows.with_values(states)

    def _projected(self, values: Tensor, layer: int) -> Tensor:
        """What the values give the gates of a layer, before any state."""
        return linear(values, self._joined("weight_ih", layer), self._joined("bias_ih", layer))

    def _states(self, projected: Tensor, index: Tensor | None, rows: Ragged, layer: int) -> Tensor:
        hidden_size = self.layers.hidden_size
        directions = self.output_size // hidden_size
        weights = self._joined("weight_hh", layer).view(directions, -1, hidden_size)
        biases = self._joined("bias_hh", layer).view(directions, -1)
        return recur(self.cell, projected, index, rows, weights, biases)

    def _joined(self, name: str, layer: int) -> Tensor:
        """The parameters of both directions, one below the other."""
        ends = ("", "_reverse") if self.layers.bidirectional else ("",)
        return torch.cat([self.layers.get_parameter(f"{name}_l{layer}{end}") for end in ends])

    def _read_by_cudnn(self, table: Tensor, index: Tensor | None, rows: Ragged) -> Ragged:
        """All layers at once, through torch's own packed sequences."""
        values = table if index is None else embedding(index, table)
        packing = Packing(rows)
        if not packing.sizes:  # cuDNN refuses to read nothing
            return rows.with_values(values.new_zeros(0, self.output_size))
        packed = PackedSequence(values.index_select(0, packing.source), torch.tensor(packing.sizes))
        states, _ = self.layers(packed)
        return rows.with_values(states.data.index_select(0, packing.place))


ENCODERS = ("recurrent", "none")
"""The encoders by their names in the settings."""
