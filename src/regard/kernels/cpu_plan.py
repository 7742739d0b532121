"""How the C kernels compute a recurrence: the arguments checked, the work shared out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from ..errors import suggestion
from ..ragged import Ragged
from .buffers import empty
from .jobs import Layout, Recurrence, padded, padded_rows
from .native import Library, required_library

__all__ = ["GATES", "Cell", "Plan", "Recurrent", "check_tensor"]

Cell = Literal["rnn", "gru", "lstm"]
GATES: dict[str, int] = {"rnn": 1, "gru": 3, "lstm": 4}

_SAVED = {1: 1, 3: 4, 4: 5}  # by gates: what an item keeps for the way back, see cells.h
_OVERREAD = 16  # floats by which a vector may reach past the last row
_MOST_SUMS = 1 << 24  # floats: each share sums the gradient of the weights for itself
_WORK_FOR_THREADS = 5_000_000  # products; fewer are done before another thread wakes up


@dataclass(frozen=True, eq=False)
class Recurrent:
    """A recurrent layer of one or two directions."""

    cell: Cell
    weights: Tensor  # (directions, gates * hidden size, hidden size)
    biases: Tensor  # (directions, gates * hidden size)

    @property
    def gates(self) -> int:
        """How many gates the cell has."""
        return GATES[self.cell]

    def __post_init__(self) -> None:
        if self.cell not in GATES:
            raise ValueError(f"there is no cell {self.cell!r}; {suggestion(self.cell, GATES)}")
        directions, size = self.weights.shape[0], self.weights.shape[-1]
        if directions not in (1, 2) or size < 1:
            raise ValueError(
                f"a {self.cell} needs one or two directions and at least one unit, "
                f"got weights {tuple(self.weights.shape)}"
            )
        check_tensor("weights", self.weights, (directions, self.gates * size, size))
        check_tensor("biases", self.biases, (directions, self.gates * size))


@dataclass(frozen=True, eq=False)
class Plan:
    """How a recurrence is computed: its sizes, rows, instruction set and threads."""

    native: Library
    gates: int
    hidden_size: int
    directions: int
    index: Tensor | None
    rows: Ragged
    layout: Layout
    level: int

    @classmethod
    def of(cls, layer: Recurrent, projected: Tensor, index: Tensor | None, rows: Ragged) -> Plan:
        """Check the arguments of a recurrence and decide how to compute it."""
        native = required_library()
        directions, size, hidden_size = layer.weights.shape
        check_tensor("projected", projected, (len(projected), directions * size))
        if index is not None:
            index = _checked_index(native, index, len(projected))
        layout = Layout.by_length(rows, _MOST_SUMS // (directions * (hidden_size + 1) * size))
        items = len(projected) if index is None else len(index)
        if layout.item_count != items:
            raise ValueError(f"the rows have {layout.item_count} items, but there are {items}")
        return cls(
            native=native,
            gates=layer.gates,
            hidden_size=hidden_size,
            directions=directions,
            index=index,
            rows=rows,
            layout=layout,
            level=native.level_for(hidden_size),
        )

    @property
    def threads(self) -> int:
        """How many threads are worth waking."""
        units = self.directions * self.hidden_size
        work = self.layout.item_count * units * self.gates * self.hidden_size
        threads = torch.get_num_threads() if work > _WORK_FOR_THREADS else 1
        return min(threads, self.directions * self.layout.share_count)

    def parts(self, most_bytes: int) -> Iterator[tuple[Plan, slice]]:
        """Cut the rows where the gates of a part would take more than ``most_bytes``.

        Gives a plan for each part and which items are its own; a row is never cut.
        """
        line = 4 * self.directions * padded(_SAVED[self.gates] * self.hidden_size)
        starts, lengths = self.rows.offsets.cpu(), self.rows.lengths.cpu()
        first = 0
        while first < len(lengths):
            reach = int(starts[first]) + most_bytes // line
            last = max(first + 1, int(torch.searchsorted(starts, reach, right=True)) - 1)
            items = slice(int(starts[first]), int(starts[last]))
            rows = Ragged(starts, lengths[first:last])
            index = None if self.index is None else self.index[items]
            layout = Layout.by_length(rows, self.layout.share_count)
            yield replace(self, index=index, rows=rows, layout=layout), items
            first = last

    def job(self, projected: Tensor, weights: Tensor, biases: Tensor) -> Recurrence:
        """Lay the inputs out as the kernels want them."""
        size = self.gates * self.hidden_size
        job = Recurrence()
        job.fill(
            layout=self.layout,
            gates=self.gates,
            hidden_size=self.hidden_size,
            direction_count=self.directions,
            index=self.index,
            gate_step=padded(size),
            hidden_step=padded(self.hidden_size),
            saved_step=padded(_SAVED[self.gates] * self.hidden_size),
            projected=projected.detach().contiguous(),
            weights=padded_rows(weights.transpose(1, 2)),
            biases=padded_rows(biases),
        )
        return job

    def gate_count(self, job: Recurrence) -> int:
        """How many floats the way forward leaves for the way back."""
        return self.directions * self.layout.item_count * job.saved_step + _OVERREAD

    def forward(self, job: Recurrence) -> Tensor:
        """Compute the states, (items, directions * hidden size)."""
        states = empty(self.layout.item_count, self.directions * self.hidden_size)
        job.fill(states=states)
        self.run("forward", job)
        return states

    def run(self, name: str, job: Recurrence) -> None:
        """Do all tasks of the job."""
        job.fill(next_task=0)
        self.native.run(name, job, level=self.level, threads=self.threads)


def check_tensor(name: str, tensor: Tensor, shape: tuple[int, ...]) -> None:
    """Refuse what a kernel would misread."""
    if tensor.shape != shape or tensor.dtype != torch.float32 or tensor.device.type != "cpu":
        found = f"{tensor.dtype} {tuple(tensor.shape)} on {tensor.device}"
        raise ValueError(
            f"the native kernels need {name} as torch.float32 {shape} on cpu, got {found}"
        )


def _checked_index(native: Library, index: Tensor, distinct: int) -> Tensor:
    if index.ndim != 1 or index.is_floating_point() or index.is_complex():
        found = f"{index.dtype} {tuple(index.shape)}"
        raise ValueError(f"index must be whole numbers of shape (items,), got {found}")
    index = index.detach().to("cpu", torch.int64).contiguous()
    if native.call("check_index", index.data_ptr(), len(index), distinct):
        span = f"{int(index.min())} to {int(index.max())}"
        raise IndexError(f"index must be from 0 to {distinct - 1}, got {span}")
    return index
