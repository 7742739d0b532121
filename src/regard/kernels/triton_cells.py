"""One step of each recurrent cell, forwards and backwards, as the Triton kernels use it.

A cell works on tiles of shape (rows, units). Every function takes and returns room for four gates;
what a cell does not have costs nothing, because the compiler drops it.
Gate gradients are stored in blocks, of which the last ``gates`` belong to the recurrent product:
``rnn`` (h), ``gru`` (n, r, z, r * n), ``lstm`` (i, f, g, o).
"""

# A kernel is typed by its arguments when it is compiled, so the checker has nothing to hold on to.
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False

import triton
import triton.language as tl

__all__ = [
    "advance",
    "load_gates",
    "load_inputs",
    "load_past",
    "load_source",
    "place_rows",
    "product",
    "retreat",
    "store_gates",
    "tanh",
]


@triton.jit
def tanh(x):
    """Squash to (-1, 1) with one exponential."""
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def product(left, right, PRECISION: tl.constexpr):
    """Multiply two tiles, summing in fp32; the left one is first rounded to the right one's type."""
    left = left.to(right.dtype)
    if PRECISION == "emulated":
        # Triton's interpreter cannot multiply bf16, but the product of two bf16 is exact in fp32.
        return tl.dot(left.to(tl.float32), right.to(tl.float32))
    else:
        return tl.dot(left, right, input_precision=PRECISION)


@triton.jit
def place_rows(order, lengths, offsets, row_count, item_count, lane, direction):
    """Say where rows begin in their direction of reading, and how long they are."""
    row = tl.load(order + lane, mask=lane < row_count, other=0)
    start = tl.load(offsets + row, mask=lane < row_count, other=0)
    length = tl.load(lengths + row, mask=lane < row_count, other=0)
    # Lengths that promise more items than there are must not lead outside of the tensors.
    length = tl.where(start >= 0, tl.minimum(length, item_count - start), 0)
    return start + tl.where(direction == 0, 0, length - 1), length


@triton.jit
def load_gates(first, mask, nothing, SPACING: tl.constexpr, GATES: tl.constexpr):
    """Load up to four tiles, ``SPACING`` apart; where the mask is off they hold ``nothing``."""
    x0 = tl.load(first, mask=mask, other=nothing)
    x1, x2, x3 = x0, x0, x0
    if GATES > 1:
        x1 = tl.load(first + SPACING, mask=mask, other=nothing)
        x2 = tl.load(first + 2 * SPACING, mask=mask, other=nothing)
    if GATES > 3:
        x3 = tl.load(first + 3 * SPACING, mask=mask, other=nothing)
    return x0, x1, x2, x3


@triton.jit
def store_gates(first, mask, x0, x1, x2, x3, SPACING: tl.constexpr, GATES: tl.constexpr):
    """Store up to four tiles, ``SPACING`` apart."""
    if GATES > 0:
        tl.store(first, x0, mask=mask)
    if GATES > 1:
        tl.store(first + SPACING, x1, mask=mask)
        tl.store(first + 2 * SPACING, x2, mask=mask)
    if GATES > 3:
        tl.store(first + 3 * SPACING, x3, mask=mask)


@triton.jit
def load_source(index, item, live):
    """Say which row of the projected table each item uses."""
    if index is None:
        return item
    else:
        return tl.load(index + item, mask=live, other=0)


@triton.jit
def load_inputs(gate, source, mask, distinct_count, PITCH, SIZE: tl.constexpr, GATES: tl.constexpr):
    """Gather the gate inputs of a step; an index outside of the table gives NaN, never a crash."""
    known = ((source >= 0) & (source < distinct_count))[:, None]
    return load_gates(gate + source[:, None] * PITCH, mask & known, float("nan"), SIZE, GATES)


@triton.jit
def load_past(out, kept, out_stride, kept_stride, mask, later, SPACING, CELL: tl.constexpr):
    """Load the four kept tiles of a step, the h before it, and what ``retreat`` asks for besides.

    ``later`` is off for a row's first step, which has nothing before it.
    """
    h = tl.load(out - out_stride, mask=mask & later, other=0.0)
    if CELL == "gru":
        s0, s1, s2, s3 = load_gates(kept, mask, 0.0, SPACING, 4)
        return s0, s1, s2, s3, h, h, h
    elif CELL == "lstm":
        s0, s1, s2, s3 = load_gates(kept, mask, 0.0, SPACING, 4)
        before = tl.load(kept - kept_stride + 4 * SPACING, mask=mask & later, other=0.0)
        return s0, s1, s2, s3, h, before, tl.load(kept + 4 * SPACING, mask=mask, other=0.0)
    else:
        cell = tl.load(out, mask=mask, other=0.0)
        return cell, cell, cell, cell, h, h, cell


@triton.jit
def advance(x0, x1, x2, x3, a0, a1, a2, a3, h, c, CELL: tl.constexpr):
    """Make the next h and c of the gate inputs x and the recurrent products a.

    Returns them with the four tiles that ``retreat`` needs.
    """
    if CELL == "gru":
        r = tl.sigmoid(x0 + a0)
        z = tl.sigmoid(x1 + a1)
        n = tanh(x2 + r * a2)
        return n + z * (h - n), c, r, z, n, a2
    elif CELL == "lstm":
        i = tl.sigmoid(x0 + a0)
        f = tl.sigmoid(x1 + a1)
        g = tanh(x2 + a2)
        o = tl.sigmoid(x3 + a3)
        c = f * c + i * g
        return o * tanh(c), c, i, f, g, o
    else:
        h = tanh(x0 + a0)
        return h, c, h, h, h, h


@triton.jit
def retreat(dh, dc, s0, s1, s2, s3, before, cell, CELL: tl.constexpr):
    """Turn the gradient of a step's result into those of its gates and of the step before.

    ``before`` is the previous h (gru) or c (lstm), ``cell`` the step's own c (lstm) or h (rnn).
    Returns the part of the previous h's gradient that bypasses the weights, the previous c's
    gradient, and four blocks of gate gradients.
    """
    s0, s1 = s0.to(tl.float32), s1.to(tl.float32)
    s2, s3 = s2.to(tl.float32), s3.to(tl.float32)
    before, cell = before.to(tl.float32), cell.to(tl.float32)
    if CELL == "gru":
        dn = dh * (1.0 - s1) * (1.0 - s2 * s2)
        dr = dn * s3 * s0 * (1.0 - s0)
        dz = dh * (before - s2) * s1 * (1.0 - s1)
        return dh * s1, dc, dn, dr, dz, dn * s0
    elif CELL == "lstm":
        t = tanh(cell)
        dc = dc + dh * s3 * (1.0 - t * t)
        di = dc * s2 * s0 * (1.0 - s0)
        df = dc * before * s1 * (1.0 - s1)
        dg = dc * s0 * (1.0 - s2 * s2)
        do = dh * t * s3 * (1.0 - s3)
        return tl.zeros_like(dh), dc * s1, di, df, dg, do
    else:
        da = dh * (1.0 - cell * cell)
        return tl.zeros_like(dh), dc, da, da, da, da
