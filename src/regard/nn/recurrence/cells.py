"""The recurrent cells, one step forward and one step back, written so that nothing is copied.

The gates of a step lie in one buffer of blocks, each as wide as the state. The first blocks are
fed by the input and the last ones by the previous state; the block orders below are chosen so
that both are one slice, and so that each activation is one call. On the way back the same buffer
holds for each gate first a coefficient, which is all of its gradient that is known before the
gradient of the state arrives, and in the end the gradient.

``before`` and ``after`` hold what a cell carries from step to step: the state, and for an LSTM
its memory as second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import torch
from torch import Tensor

from .definition import CellName

__all__ = ["CELLS", "Cell", "GRUCell", "LSTMCell", "RNNCell"]

Carry = Sequence[Tensor]
Views = tuple[Tensor, ...]


class Cell(Protocol):
    """What a recurrence needs to know of a cell."""

    inputs: tuple[int, ...]
    """Which of torch's gates each of the first blocks is: those that the input feeds."""
    recurrent: tuple[int, ...]
    """Which of torch's gates each of the last blocks is: those that the state feeds."""
    blocks: int
    carries: int
    extras: int
    """How many further buffers, (slots, hidden), ``derive`` fills for ``back``."""
    keeps: float
    """How much of the state's gradient goes past the gates: what ``back`` leaves, or nothing."""

    def views(self, gates: Tensor, sizes: list[int]) -> Iterator[Views]:
        """Cut the gates into steps, and each step into the slices that ``activate`` takes."""
        ...

    def activate(self, view: Views) -> None:
        """Turn the summed inputs of one step into gates, in place."""
        ...

    def combine(self, view: Views, before: Carry, after: Carry) -> None:
        """Write into ``after`` what the gates make of ``before``."""
        ...

    def derive(self, gates: Tensor, *, before: Carry, after: Carry, extras: Carry) -> None:
        """Turn gates into coefficients, in place."""
        ...

    def back(self, views: Views, carried: Carry) -> None:
        """Turn coefficients into gradients, and those of ``after`` into those of ``before``."""
        ...


class RNNCell:
    """h' = tanh(x + W h), with x the projected input."""

    inputs: tuple[int, ...] = (0,)
    recurrent: tuple[int, ...] = (0,)
    blocks = 1
    carries = 1
    extras = 0
    keeps = 0.0

    def views(self, gates: Tensor, sizes: list[int]) -> Iterator[Views]:
        """Cut the gates into steps."""
        return ((step,) for step in gates.split(sizes))

    def activate(self, view: Views) -> None:
        """Squash the sum."""
        view[0].tanh_()

    def combine(self, view: Views, before: Carry, after: Carry) -> None:
        """The gate is the state."""
        after[0].copy_(view[0])

    def derive(self, gates: Tensor, *, before: Carry, after: Carry, extras: Carry) -> None:
        """1 - h'^2."""
        gates.square_().neg_().add_(1)

    def back(self, views: Views, carried: Carry) -> None:
        """Multiply by the gradient of the state."""
        views[0].mul_(carried[0])


class GRUCell:
    """h' = (1 - z) n + z h, with n = tanh(x_n + r (W_n h + b_n)); blocks n, r, z, W_n h + b_n.

    The update gate z keeps the old state, as in torch; papers that write h' = (1 - z) h + z n
    mean by z what is 1 - z here.
    """

    inputs: tuple[int, ...] = (2, 0, 1)
    recurrent: tuple[int, ...] = (0, 1, 2)
    blocks = 4
    carries = 1
    extras = 1  # the share of the state that passed
    keeps = 1.0

    def views(self, gates: Tensor, sizes: list[int]) -> Iterator[Views]:
        """Cut the gates into steps of (r and z, n, r, z, W_n h + b_n)."""
        new, reset, update, old = gates.chunk(4, 1)
        both = gates[:, new.shape[1] : 3 * new.shape[1]]
        return zip(*(part.split(sizes) for part in (both, new, reset, update, old)), strict=True)

    def activate(self, view: Views) -> None:
        """First the two gates, then the candidate that needs one of them."""
        both, new, reset, _, old = view
        both.sigmoid_()
        new.addcmul_(reset, old).tanh_()

    def combine(self, view: Views, before: Carry, after: Carry) -> None:
        """Go from the candidate toward the old state as far as z says."""
        torch.lerp(view[1], before[0], view[3], out=after[0])

    def derive(self, gates: Tensor, *, before: Carry, after: Carry, extras: Carry) -> None:
        """n: (1-z)(1-n^2); z: (h-n)z(1-z); W_n h + b_n: r times n's; r: old(1-r) times that."""
        new, reset, update, old = gates.chunk(4, 1)
        extras[0].copy_(update)
        closed = 1 - update
        update.mul_(closed).mul_(before[0] - new)
        torch.addcmul(closed, closed, new.square_(), value=-1, out=new)
        to_old = new * reset
        torch.addcmul(to_old, to_old, reset, value=-1, out=reset).mul_(old)
        old.copy_(to_old)

    def back(self, views: Views, carried: Carry) -> None:
        """Every coefficient meets the gradient of the state, and so does what was kept."""
        coefficients, update = views
        state = carried[0]
        coefficients.view(state.shape[0], 4, -1).mul_(state.unsqueeze(1))
        state.mul_(update)


class LSTMCell:
    """c' = f c + i g, h' = o tanh(c'); blocks g, i, f, o."""

    inputs: tuple[int, ...] = (2, 0, 1, 3)
    recurrent: tuple[int, ...] = (2, 0, 1, 3)
    blocks = 4
    carries = 2
    extras = 2  # the share of the memory that stayed; how the state depends on the memory
    keeps = 0.0

    def views(self, gates: Tensor, sizes: list[int]) -> Iterator[Views]:
        """Cut the gates into steps of (g, i and f and o, i, f, o)."""
        new, enter, forget, leave = gates.chunk(4, 1)
        sigmoids = gates[:, new.shape[1] :]
        parts = (new, sigmoids, enter, forget, leave)
        return zip(*(part.split(sizes) for part in parts), strict=True)

    def activate(self, view: Views) -> None:
        """One tanh, three sigmoids."""
        view[0].tanh_()
        view[1].sigmoid_()

    def combine(self, view: Views, before: Carry, after: Carry) -> None:
        """Forget some memory, let some in, show some."""
        new, _, enter, forget, leave = view
        state, memory = after
        torch.mul(forget, before[1], out=memory).addcmul_(enter, new)
        torch.tanh(memory, out=state).mul_(leave)

    def derive(self, gates: Tensor, *, before: Carry, after: Carry, extras: Carry) -> None:
        """g: i(1-g^2); i: g i(1-i); f: c f(1-f); o: tanh(c')o(1-o); memory: o(1-tanh(c')^2)."""
        new, enter, forget, leave = gates.chunk(4, 1)
        shown = torch.tanh(after[1])
        extras[0].copy_(forget)
        torch.addcmul(leave, leave, shown * shown, value=-1, out=extras[1])
        to_new = torch.addcmul(enter, enter, new * new, value=-1)
        enter.addcmul_(enter, enter, value=-1).mul_(new)
        new.copy_(to_new)
        forget.addcmul_(forget, forget, value=-1).mul_(before[1])
        leave.addcmul_(leave, leave, value=-1).mul_(shown)

    def back(self, views: Views, carried: Carry) -> None:
        """The state's gradient joins the memory's, which meets every gate but o."""
        coefficients, forget, to_memory = views
        state, memory = carried
        memory.addcmul_(state, to_memory)
        blocks = coefficients.view(state.shape[0], 4, -1)
        blocks[:, :3].mul_(memory.unsqueeze(1))
        blocks[:, 3].mul_(state)
        memory.mul_(forget)


CELLS: dict[CellName, Cell] = {"rnn": RNNCell(), "gru": GRUCell(), "lstm": LSTMCell()}
"""Every recurrent cell by its name in the settings."""
