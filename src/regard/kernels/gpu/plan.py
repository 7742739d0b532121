"""What the recurrence's launches must know: their programs, and which row comes when."""

# A kernel is typed by its arguments when it is compiled, so the checker has nothing to hold on to.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

from .cells import product

__all__ = [
    "BLOCKS",
    "GATES",
    "SHIFT",
    "Cut",
    "Launch",
    "cut_for",
    "interpreted",
    "longest_first",
    "room_on",
]

GATES = {"rnn": 1, "gru": 3, "lstm": 4}
BLOCKS = {"rnn": 1, "gru": 4, "lstm": 4}
"""Blocks of gate gradients that every item and unit has."""
SHIFT = {"rnn": 0, "gru": 1, "lstm": 0}
"""A GRU's blocks begin with its last gate, so that the recurrent ones stand together."""


@dataclass(frozen=True)
class Cut:
    """How a launch is cut into programs, each of ``rows`` rows and tiles of ``width`` units."""

    resident: bool
    rows: int
    width: int
    warps: int
    stages: int
    precision: str


@dataclass(frozen=True)
class Launch:
    """One call of the recurrence; ``order`` names its rows, the longest first."""

    cell: str
    directions: int
    size: int
    keep: bool
    index: Tensor | None
    order: Tensor
    lengths: Tensor
    offsets: Tensor
    cut: Cut

    @property
    def rows(self) -> tuple[Tensor, Tensor, Tensor]:
        """Where the rows lie."""
        return self.order, self.lengths, self.offsets

    @property
    def grid(self) -> tuple[int]:
        """How many programs there are."""
        return (triton.cdiv(self.order.shape[0], self.cut.rows) * self.directions,)

    @property
    def constants(self) -> dict[str, int | str]:
        """What the kernels are compiled for."""
        return {
            "CELL": self.cell,
            "GATES": GATES[self.cell],
            "SIZE": self.size,
            "WIDTH": self.cut.width,
            "ROWS": self.cut.rows,
            "DIRECTIONS": self.directions,
            "PRECISION": self.cut.precision,
            "num_warps": self.cut.warps,
            "num_stages": self.cut.stages,
        }


def interpreted() -> bool:
    """Say whether Triton interprets its kernels on the CPU instead of compiling them."""
    return not isinstance(product, triton.JITFunction)


def room_on(device: torch.device) -> int:
    """How many bytes of shared memory one program may have."""
    if device.type != "cuda":
        return 1 << 20
    # The driver keeps one kilobyte of a multiprocessor's memory for itself.
    return torch.cuda.get_device_properties(device).shared_memory_per_multiprocessor - 1024


@functools.cache
def cut_for(cell: str, size: int, *, many: bool, dtype: torch.dtype, room: int) -> Cut:
    """Choose how to cut the work; ``many`` says that programs will stand in a queue."""
    exact = dtype == torch.float32
    # Three tf32 products make one that is as good as fp32's own; bf16 operands need no choice.
    precision = "emulated" if interpreted() else "tf32x3" if exact else "tf32"
    width = max(16, triton.next_power_of_2(size))
    # An exact weight takes two tf32 numbers of four bytes; some more is for tiles on their way.
    weight_bytes = GATES[cell] * width * width * (8 if exact else 2)
    if width <= (64 if exact else 128) and weight_bytes + 16384 <= room:
        return Cut(True, 16, width, 8, 1, precision)
    if not exact:
        return Cut(False, 16, 64, 8, 3, precision)
    # Few programs are quickest with many warps each, many programs with few.
    return Cut(False, 16, 64, 4, 1, precision) if many else Cut(False, 16, 64, 8, 2, precision)


# Rows of this many items or more stand in the first place together.
_BUCKETS = 2048
# Above, one program would take longer than torch's many.
_MOST_ROWS = 1 << 11


def longest_first(lengths: Tensor) -> Tensor:
    """The rows' numbers, int64, ordered by falling length; very long rows may be out of order."""
    count = lengths.shape[0]
    if count > _MOST_ROWS:
        return torch.argsort(lengths, descending=True)
    # Counters first: the order then begins at a round address, for which the kernels are compiled.
    room = lengths.new_empty(_BUCKETS + count)
    order = room[_BUCKETS:]
    _place_by_length[(1,)](lengths, order, room, count, BUCKETS=_BUCKETS, ROWS=1024, num_warps=8)
    return order


@triton.jit(do_not_specialize=["count"])
def _place_by_length(lengths, order, counters, count, BUCKETS: tl.constexpr, ROWS: tl.constexpr):
    """Count the rows of each length, then give every row the next place of its length."""
    counts = tl.zeros((BUCKETS,), tl.int32)
    for start in range(0, count, ROWS):
        row = start + tl.arange(0, ROWS)
        length = tl.load(lengths + row, mask=row < count, other=0)
        bucket = BUCKETS - 1 - tl.minimum(tl.maximum(length, 0), BUCKETS - 1)
        counts += tl.histogram(bucket.to(tl.int32), BUCKETS, mask=row < count)
    first = tl.cumsum(counts, 0) - counts
    tl.store(counters + tl.arange(0, BUCKETS), first)
    tl.debug_barrier()
    for start in range(0, count, ROWS):
        row = start + tl.arange(0, ROWS)
        length = tl.load(lengths + row, mask=row < count, other=0)
        bucket = BUCKETS - 1 - tl.minimum(tl.maximum(length, 0), BUCKETS - 1)
        # Rows of one length may come in any order: each is computed by itself.
        place = tl.atomic_add(counters + bucket, 1, mask=row < count)
        tl.store(order + place, row, mask=row < count)
