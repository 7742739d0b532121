"""Recurrent layers and rows to try the native kernels on, and torch's own answer."""

import pytest
import torch
from torch import nn

from regard.kernels import native
from regard.nn.recurrence import Layer, batched
from regard.ragged import Ragged

LAYERS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
INSTRUCTIONS = native.library().instruction_sets if native.library() else ()
LENGTHS = [5, 0, 1, 17, 9, 3, 3, 3, 2, 1, 0, 30, 4]

needs_native = pytest.mark.skipif(
    native.library() is None, reason=f"no native kernels here: {native.why_absent()}"
)


def recur_batched(cell, projected, index, rows, weights, biases):
    """The states by torch alone."""
    return batched.run(Layer(cell, weights, biases), projected, index, rows)[0]


class Case:
    """A layer, a table of vectors, and rows that pick from it."""

    def __init__(self, cell, hidden_size, *, directions=2, lengths=LENGTHS, distinct=20):
        torch.manual_seed(hidden_size + directions)
        self.cell, self.lengths = cell, lengths
        self.layer = LAYERS[cell](6, hidden_size, bidirectional=directions == 2)
        self.table = torch.randn(distinct, 6, requires_grad=True)
        # The last two vectors are never read, so their gradient must be zero.
        self.index = torch.randint(0, max(1, distinct - 2), (sum(lengths),))
        self.rows = Ragged(self.index, torch.tensor(lengths, dtype=torch.int64))
        ends = ("", "_reverse")[:directions]
        joined = [
            [getattr(self.layer, f"{name}_l0{end}") for end in ends]
            for name in ("weight_ih", "bias_ih", "weight_hh", "bias_hh")
        ]
        self.input_weights, self.input_biases = torch.cat(joined[0]), torch.cat(joined[1])
        self.weights, self.biases = torch.stack(joined[2]), torch.stack(joined[3])

    def projected(self):
        return nn.functional.linear(self.table, self.input_weights, self.input_biases)

    def inputs(self):
        """The arguments of ``recur`` after the cell."""
        return self.projected(), self.index, self.rows, self.weights, self.biases

    def leaves(self):
        """What gradients are taken of."""
        return [self.table, *self.layer.parameters()]

    def by_torch(self):
        """The states in double precision, each row by itself, and the leaves they came from."""
        layer = type(self.layer)(
            6, self.layer.hidden_size, bidirectional=self.layer.bidirectional, dtype=torch.float64
        )
        layer.load_state_dict(self.layer.state_dict())
        table = self.table.detach().double().requires_grad_()
        rows = [layer(row)[0] for row in table[self.index].split(self.lengths) if len(row)]
        size = layer.hidden_size * (1 + layer.bidirectional)
        return torch.cat([*rows, table.new_zeros(0, size)]), [table, *layer.parameters()]


def gradients(states, leaves, **options):
    """Of a sum that looks at every number of the states differently.

    The first of the leaves, then all the others in one: parameters are sums over all items, and
    one that happens to cancel out is no measure for its own error.
    """
    factors = torch.randn(states.shape, generator=torch.Generator().manual_seed(0))
    total = (states * factors.to(states.dtype)).sum()
    first, *others = torch.autograd.grad(total, leaves, **options)
    return [first, torch.cat([other.flatten() for other in others])] if others else [first]


def distance(found, wanted):
    """The largest difference, relative to the largest number there is."""
    if wanted.numel() == 0:
        return 0.0
    difference = (found.detach() - wanted.detach()).abs().max()
    return float(difference / wanted.detach().abs().max().clamp(min=1e-30))
