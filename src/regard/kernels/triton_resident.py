"""The recurrence for small hidden sizes: a program keeps the recurrent weights in registers.

A program owns a block of rows and one direction, and takes all their steps. What a step reads
from memory was asked for one step earlier (the index two), so that no step waits for memory.
"""

# A kernel is typed by its arguments when it is compiled, so the checker has nothing to hold on to.
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False

import triton
import triton.language as tl

from .triton_cells import (
    advance,
    load_gates,
    load_inputs,
    load_past,
    load_source,
    place_rows,
    product,
    retreat,
    store_gates,
)

__all__ = ["backward", "forward"]


@triton.jit
def forward(
    projected, index, order, lengths, offsets, weights, biases, out, kept,
    row_count, item_count, distinct_count,
    CELL: tl.constexpr, GATES: tl.constexpr, KEPT: tl.constexpr, SIZE: tl.constexpr,
    SPACING: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr, DIRECTIONS: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Fill ``out`` with every item's h and, if KEPT is not 0, ``kept`` with what backward needs."""
    # Both directions of the longest rows come first, so that the last programs are short ones.
    direction = (tl.program_id(0) % DIRECTIONS).to(tl.int64)
    lane = tl.program_id(0) // DIRECTIONS * ROWS + tl.arange(0, ROWS)
    first, length = place_rows(order, lengths, offsets, row_count, item_count, lane, direction)
    stride = 1 - 2 * direction
    unit = tl.arange(0, WIDTH)[None, :]
    inner = tl.arange(0, WIDTH)[:, None]
    w0, w1, w2, w3 = load_gates(
        weights + (direction * GATES * SIZE + unit) * SIZE + inner,
        (unit < SIZE) & (inner < SIZE), 0.0, SIZE * SIZE, GATES,
    )  # fmt: skip
    operand = projected.dtype.element_ty
    w0, w1, w2, w3 = w0.to(operand), w1.to(operand), w2.to(operand), w3.to(operand)
    gate = direction * GATES * SIZE + unit
    b0, b1, b2, b3 = load_gates(biases + gate, unit < SIZE, 0.0, SIZE, GATES)
    table = projected + gate
    pitch = DIRECTIONS * GATES * SIZE
    out += (first * DIRECTIONS + direction)[:, None] * SIZE + unit
    kept += (direction * item_count + first)[:, None] * (KEPT * SPACING) + unit
    h = tl.zeros((ROWS, WIDTH), tl.float32)
    c = h
    live = (0 < length)[:, None] & (unit < SIZE)
    source = load_source(index, first, 0 < length)
    x0, x1, x2, x3 = load_inputs(table, source, live, distinct_count, pitch, SIZE, GATES)
    source = load_source(index, first + stride, 1 < length)
    for t in range(tl.max(length, 0)):
        ahead = (t + 1 < length)[:, None] & (unit < SIZE)
        y0, y1, y2, y3 = load_inputs(table, source, ahead, distinct_count, pitch, SIZE, GATES)
        source = load_source(index, first + (t + 2) * stride, t + 2 < length)
        a0 = product(h, w0, PRECISION) + b0
        a1, a2, a3 = a0, a0, a0
        if GATES > 1:
            a1 = product(h, w1, PRECISION) + b1
            a2 = product(h, w2, PRECISION) + b2
        if GATES > 3:
            a3 = product(h, w3, PRECISION) + b3
        new, c, s0, s1, s2, s3 = advance(x0, x1, x2, x3, a0, a1, a2, a3, h, c, CELL)
        h = tl.where(live, new, h)
        tl.store(out + t * stride * (DIRECTIONS * SIZE), h, mask=live)
        store_gates(kept + t * stride * (KEPT * SPACING), live, s0, s1, s2, s3, SPACING, KEPT)
        if KEPT > 4:
            tl.store(kept + t * stride * (KEPT * SPACING) + 4 * SPACING, c, mask=live)
        x0, x1, x2, x3, live = y0, y1, y2, y3, ahead


@triton.jit
def backward(
    gradient, out, kept, order, lengths, offsets, weights, gates, previous,
    row_count, item_count, plane,
    CELL: tl.constexpr, GATES: tl.constexpr, KEPT: tl.constexpr, BLOCKS: tl.constexpr,
    SIZE: tl.constexpr, SPACING: tl.constexpr, PITCH: tl.constexpr, WIDTH: tl.constexpr,
    ROWS: tl.constexpr, DIRECTIONS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Fill ``gates`` with every item's gate gradients, and ``previous`` with the h before it."""
    direction = (tl.program_id(0) % DIRECTIONS).to(tl.int64)
    lane = tl.program_id(0) // DIRECTIONS * ROWS + tl.arange(0, ROWS)
    first, length = place_rows(order, lengths, offsets, row_count, item_count, lane, direction)
    stride = 1 - 2 * direction
    unit = tl.arange(0, WIDTH)[None, :]
    inner = tl.arange(0, WIDTH)[:, None]
    w0, w1, w2, w3 = load_gates(
        weights + (direction * GATES * SIZE + inner) * SIZE + unit,
        (unit < SIZE) & (inner < SIZE), 0.0, SIZE * SIZE, GATES,
    )  # fmt: skip
    operand = out.dtype.element_ty
    w0, w1, w2, w3 = w0.to(operand), w1.to(operand), w2.to(operand), w3.to(operand)
    pitch = stride * (DIRECTIONS * SIZE)
    tall = stride * (KEPT * SPACING)
    at = (first * DIRECTIONS + direction)[:, None] * SIZE + unit
    out += at
    gradient += at
    kept += (direction * item_count + first)[:, None] * (KEPT * SPACING) + unit
    place = (direction * plane + first)[:, None]
    dh = tl.zeros((ROWS, WIDTH), tl.float32)
    dc = dh
    last = tl.max(length, 0) - 1
    live = ((0 <= last) & (last < length))[:, None] & (unit < SIZE)
    s0, s1, s2, s3, h, before, cell = load_past(
        out + last * pitch, kept + last * tall, pitch, tall, live, last > 0, SPACING, CELL
    )
    incoming = tl.load(gradient + last * pitch, mask=live, other=0.0)
    for done in range(last + 1):
        t = last - done
        ahead = ((0 < t) & (t - 1 < length))[:, None] & (unit < SIZE)
        y0, y1, y2, y3, next_h, next_before, next_cell = load_past(
            out + (t - 1) * pitch, kept + (t - 1) * tall, pitch, tall, ahead, t > 1, SPACING, CELL
        )
        next_incoming = tl.load(gradient + (t - 1) * pitch, mask=ahead, other=0.0)
        dh, dc, g0, g1, g2, g3 = retreat(dh + incoming, dc, s0, s1, s2, s3, before, cell, CELL)
        spot = place + t * stride
        store_gates(gates + spot * (BLOCKS * SPACING) + unit, live, g0, g1, g2, g3, SPACING, BLOCKS)
        tl.store(previous + spot * PITCH + unit, h, mask=live)
        if CELL == "gru":
            dh += product(g1, w0, PRECISION)
            dh += product(g2, w1, PRECISION)
            dh += product(g3, w2, PRECISION)
        else:
            dh += product(g0, w0, PRECISION)
        if CELL == "lstm":
            dh += product(g1, w1, PRECISION)
            dh += product(g2, w2, PRECISION)
            dh += product(g3, w3, PRECISION)
        s0, s1, s2, s3, h, before, cell = y0, y1, y2, y3, next_h, next_before, next_cell
        incoming, live = next_incoming, ahead
