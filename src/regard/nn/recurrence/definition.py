"""The recurrence, item by item: the definition that everything quicker must agree with.

``fed`` is what the state before gives the gates, W h + b; ``given`` is what the item gives them,
with the input's weights and biases already in it. Gates stand in torch's order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from ...ragged import Ragged

__all__ = ["STEPS", "Carry", "CellName", "Layer", "define"]

CellName = Literal["rnn", "gru", "lstm"]

Carry = tuple[Tensor, ...]
"""What a cell carries from step to step: the state, and for an LSTM its memory as second."""


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """A cell with its recurrent weights and biases, for one direction or two."""

    cell: CellName
    weights: Tensor  # (directions, gates * hidden, hidden)
    biases: Tensor  # (directions, gates * hidden)


def step_rnn(given: Tensor, fed: Tensor, carry: Carry) -> Carry:
    """h' = tanh(x + W h + b)."""
    return (torch.tanh(given + fed),)


def step_gru(given: Tensor, fed: Tensor, carry: Carry) -> Carry:
    """h' = (1 - z) n + z h, with n = tanh(x_n + r (W_n h + b_n)).

    The update gate z keeps the old state, as in torch; papers that write h' = (1 - z) h + z n
    mean by z what is 1 - z here.
    """
    (x_r, x_z, x_n), (a_r, a_z, a_n) = given.chunk(3), fed.chunk(3)
    r, z = torch.sigmoid(x_r + a_r), torch.sigmoid(x_z + a_z)
    n = torch.tanh(x_n + r * a_n)
    return ((1 - z) * n + z * carry[0],)


def step_lstm(given: Tensor, fed: Tensor, carry: Carry) -> Carry:
    """c' = f c + i g, h' = o tanh(c')."""
    i, f, g, o = (given + fed).chunk(4)
    memory = torch.sigmoid(f) * carry[1] + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(memory), memory


STEPS: dict[CellName, Callable[[Tensor, Tensor, Carry], Carry]] = {
    "rnn": step_rnn,
    "gru": step_gru,
    "lstm": step_lstm,
}


def define(
    layer: Layer, projected: Tensor, index: Tensor | None, rows: Ragged, start: Carry = ()
) -> tuple[Tensor, ...]:
    """Return the states, (items, directions * hidden), and what each row carries at its end.

    ``start``, and the end, hold tensors (rows, directions * hidden); without a start all is zero.
    """
    inputs = projected if index is None else projected[index]
    directions, _, hidden = layer.weights.shape
    carried = 2 if layer.cell == "lstm" else 1
    begin = start or (inputs.new_zeros(len(rows), directions * hidden),) * carried
    states, ends = (
        inputs.new_empty(len(inputs), directions * hidden),
        [part.clone() for part in begin],
    )
    first = 0
    for row, length in enumerate(rows.lengths.tolist()):
        for direction in range(directions):
            units = slice(direction * hidden, (direction + 1) * hidden)
            gates = inputs.chunk(directions, 1)[direction]
            carry = tuple(part[row, units] for part in begin)
            order = range(first, first + length)
            for item in reversed(order) if direction else order:  # the second reads from the end
                fed = layer.weights[direction] @ carry[0] + layer.biases[direction]
                carry = STEPS[layer.cell](gates[item], fed, carry)
                states[item, units] = carry[0]
            for end, part in zip(ends, carry, strict=True):
                end[row, units] = part
        first += length
    return states, *ends
