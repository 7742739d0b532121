"""Which row comes when: the longest first, without the host waiting for the lengths."""

# A kernel is typed by its arguments when it is compiled, so the checker has nothing to hold on to.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["longest_first"]

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
