"""One step of each recurrent cell, forwards and backwards, as the Triton kernels use it.

A cell works on tiles of shape (rows, units). Every function takes and returns room for four gates;
what a cell does not have costs nothing, because the compiler drops it. Four tiles that go to
memory together are stored as one, unit by unit, so that they move in one piece.
Gate gradients come in blocks, of which the last ``gates`` belong to the recurrent product:
``rnn`` (h), ``gru`` (n, r, z, r * n), ``lstm`` (i, f, g, o).
"""

# A kernel is typed by its arguments when it is compiled, so the checker has nothing to hold on to.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False
# mypy: disallow-untyped-decorators=False

import triton
import triton.language as tl

__all__ = [
    "advance",
    "join",
    "load_gates",
    "load_inputs",
    "load_past",
    "load_source",
    "place_program",
    "product",
    "retreat",
    "split",
    "tanh",
]


@triton.jit
def tanh(x):
    """Squash to (-1, 1) with one exponential."""
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def product(left, right, PRECISION: tl.constexpr):
    """Multiply two tiles, summing in fp32; the left one takes the right one's type."""
    left = left.to(right.dtype)
    if PRECISION == "emulated":
        # Triton's interpreter cannot multiply bf16, but the product of two bf16 is exact in fp32.
        return tl.dot(left.to(tl.float32), right.to(tl.float32))
    else:
        return tl.dot(left, right, input_precision=PRECISION)


@triton.jit
def place_program(
    order, lengths, offsets, row_count, item_count, ROWS: tl.constexpr, DIRECTIONS: tl.constexpr
):
    """Say which rows and which direction a program has, where they begin and how long they are."""
    # Both directions of the longest rows come first, so that the last programs are short ones.
    direction = (tl.program_id(0) % DIRECTIONS).to(tl.int64)
    lane = tl.program_id(0) // DIRECTIONS * ROWS + tl.arange(0, ROWS)
    row = tl.load(order + lane, mask=lane < row_count, other=0)
    start = tl.load(offsets + row, mask=lane < row_count, other=0)
    length = tl.load(lengths + row, mask=lane < row_count, other=0)
    # Lengths that promise more items than there are must not lead outside of the tensors.
    length = tl.where(start >= 0, tl.minimum(length, item_count - start), 0)
    return lane, direction, start + tl.where(direction == 0, 0, length - 1), length


@triton.jit
def join(x0, x1, x2, x3):
    """Interleave four tiles: unit by unit, four values each."""
    pairs = tl.join(tl.join(x0, x2), tl.join(x1, x3))
    return tl.reshape(pairs, (x0.shape[0], 4 * x0.shape[1]))


@triton.jit
def split(quads):
    """Undo ``join``."""
    pairs = tl.reshape(quads, (quads.shape[0], quads.shape[1] // 4, 2, 2))
    even, odd = tl.split(pairs)
    x0, x2 = tl.split(even)
    x1, x3 = tl.split(odd)
    return x0, x1, x2, x3


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
    nothing = tl.where(known, 0.0, float("nan")).to(gate.dtype.element_ty)
    return load_gates(gate + source[:, None] * PITCH, mask & known, nothing, SIZE, GATES)


@triton.jit
def load_past(kept, out, cells, step, mask, wide, later, CELL: tl.constexpr):
    """Load what ``retreat`` needs of a step: four joined tiles, the state before, its own state.

    ``step`` is how far apart the states of two steps are in memory; ``later`` is off for a row's
    first step, which has nothing before it.
    """
    if CELL == "gru":
        before = tl.load(out - step, mask=mask & later, other=0.0)
        return tl.load(kept, mask=wide, other=0.0), before, before
    elif CELL == "lstm":
        before = tl.load(cells - step, mask=mask & later, other=0.0)
        own = tl.load(cells, mask=mask, other=0.0)
        return tl.load(kept, mask=wide, other=0.0), before, own
    else:
        own = tl.load(out, mask=mask, other=0.0)
        return own, own, own


@triton.jit
def advance(x0, x1, x2, x3, a0, a1, a2, a3, h, c, CELL: tl.constexpr):
    """Make the next h and c of the gate inputs x and the recurrent products a.

    Returns them with the four tiles that ``retreat`` needs, joined.
    """
    if CELL == "gru":
        r = tl.sigmoid(x0 + a0)
        z = tl.sigmoid(x1 + a1)
        n = tanh(x2 + r * a2)
        return n + z * (h - n), c, join(r, z, n, a2)
    elif CELL == "lstm":
        i = tl.sigmoid(x0 + a0)
        f = tl.sigmoid(x1 + a1)
        g = tanh(x2 + a2)
        o = tl.sigmoid(x3 + a3)
        c = f * c + i * g
        return o * tanh(c), c, join(i, f, g, o)
    else:
        h = tanh(x0 + a0)
        return h, c, h


@triton.jit
def retreat(dh, dc, kept, before, own, CELL: tl.constexpr):
    """Turn the gradient of a step's result into those of its gates and of the step before.

    ``before`` is the previous h (gru) or c (lstm), ``own`` the step's c (lstm) or h (rnn). Returns
    the part of the previous h's gradient that bypasses the weights, the previous c's gradient,
    and four blocks of gate gradients.
    """
    before = before.to(tl.float32)
    own = own.to(tl.float32)
    if CELL == "gru":
        r, z, n, a = split(kept.to(tl.float32))
        dn = dh * (1.0 - z) * (1.0 - n * n)
        dr = dn * a * r * (1.0 - r)
        dz = dh * (before - n) * z * (1.0 - z)
        return dh * z, dc, dn, dr, dz, dn * r
    elif CELL == "lstm":
        i, f, g, o = split(kept.to(tl.float32))
        t = tanh(own)
        dc = dc + dh * o * (1.0 - t * t)
        di = dc * g * i * (1.0 - i)
        df = dc * before * f * (1.0 - f)
        dg = dc * i * (1.0 - g * g)
        do = dh * t * o * (1.0 - o)
        return tl.zeros_like(dh), dc * f, di, df, dg, do
    else:
        da = dh * (1.0 - own * own)
        return tl.zeros_like(dh), dc, da, da, da, da
