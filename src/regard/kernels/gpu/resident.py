"""The recurrence for small hidden sizes: a program keeps all recurrent weights at hand.

A program owns a block of rows and one direction, and takes all their steps. What a step reads
from memory was asked for one step earlier (the index two), so that no step waits for memory.
"""

# A kernel is typed by its arguments when it is compiled, so the checker has nothing to hold on to.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False
# mypy: disallow-untyped-decorators=False

import triton
import triton.language as tl

from .cells import (
    advance,
    join,
    load_gates,
    load_inputs,
    load_past,
    load_source,
    place_rows,
    product,
    retreat,
)

__all__ = ["backward", "forward"]


@triton.jit(do_not_specialize=["row_count", "item_count", "distinct_count"])
def forward(
    projected, index, order, lengths, offsets, weights, biases, out, kept, cells,
    row_count, item_count, distinct_count,
    CELL: tl.constexpr, GATES: tl.constexpr, SIZE: tl.constexpr, WIDTH: tl.constexpr,
    ROWS: tl.constexpr, DIRECTIONS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Fill ``out`` with every item's h; ``kept`` and ``cells``, if given, are for backward."""
    # Both directions of the longest rows come first, so that the last programs are short ones.
    direction = (tl.program_id(0) % DIRECTIONS).to(tl.int64)
    lane = tl.program_id(0) // DIRECTIONS * ROWS + tl.arange(0, ROWS)
    first, length = place_rows(order, lengths, offsets, row_count, item_count, lane, direction)
    stride = 1 - 2 * direction
    unit = tl.arange(0, WIDTH)[None, :]
    inner = tl.arange(0, WIDTH)[:, None]
    quad = tl.arange(0, 4 * WIDTH)[None, :]
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
    place = (first * DIRECTIONS + direction)[:, None] * SIZE
    h = tl.zeros((ROWS, WIDTH), tl.float32)
    c = h
    live = (length > 0)[:, None]
    source = load_source(index, first, length > 0)
    x0, x1, x2, x3 = load_inputs(
        table, source, live & (unit < SIZE), distinct_count, pitch, SIZE, GATES
    )
    source = load_source(index, first + stride, length > 1)
    for t in range(tl.max(length, 0)):
        ahead = (t + 1 < length)[:, None]
        y0, y1, y2, y3 = load_inputs(
            table, source, ahead & (unit < SIZE), distinct_count, pitch, SIZE, GATES
        )
        source = load_source(index, first + (t + 2) * stride, t + 2 < length)
        a0 = product(h, w0, PRECISION) + b0
        a1, a2, a3 = a0, a0, a0
        if GATES > 1:
            a1 = product(h, w1, PRECISION) + b1
            a2 = product(h, w2, PRECISION) + b2
        if GATES > 3:
            a3 = product(h, w3, PRECISION) + b3
        h, c, keep = advance(x0, x1, x2, x3, a0, a1, a2, a3, h, c, CELL)
        at = place + t * stride * (DIRECTIONS * SIZE)
        tl.store(out + at + unit, h, mask=live & (unit < SIZE))
        if kept is not None:
            tl.store(kept + 4 * at + quad, keep, mask=live & (quad < 4 * SIZE))
        if cells is not None:
            tl.store(cells + at + unit, c, mask=live & (unit < SIZE))
        x0, x1, x2, x3, live = y0, y1, y2, y3, ahead


@triton.jit(do_not_specialize=["row_count", "item_count"])
def backward(
    gradient, out, kept, cells, order, lengths, offsets, weights, gates, firsts,
    row_count, item_count,
    CELL: tl.constexpr, GATES: tl.constexpr, BLOCKS: tl.constexpr, SIZE: tl.constexpr,
    WIDTH: tl.constexpr, ROWS: tl.constexpr, DIRECTIONS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Fill ``gates`` with every item's gate gradients; mark in ``firsts`` which begin a row."""
    direction = (tl.program_id(0) % DIRECTIONS).to(tl.int64)
    lane = tl.program_id(0) // DIRECTIONS * ROWS + tl.arange(0, ROWS)
    first, length = place_rows(order, lengths, offsets, row_count, item_count, lane, direction)
    stride = 1 - 2 * direction
    unit = tl.arange(0, WIDTH)[None, :]
    inner = tl.arange(0, WIDTH)[:, None]
    quad = tl.arange(0, 4 * WIDTH)[None, :]
    w0, w1, w2, w3 = load_gates(
        weights + (direction * GATES * SIZE + inner) * SIZE + unit,
        (unit < SIZE) & (inner < SIZE), 0.0, SIZE * SIZE, GATES,
    )  # fmt: skip
    operand = out.dtype.element_ty
    w0, w1, w2, w3 = w0.to(operand), w1.to(operand), w2.to(operand), w3.to(operand)
    step = stride * (DIRECTIONS * SIZE)
    spot = (first * DIRECTIONS + direction)[:, None]
    dh = tl.zeros((ROWS, WIDTH), tl.float32)
    dc = dh
    last = tl.max(length, 0) - 1
    at = spot * SIZE + last * step
    live = ((last >= 0) & (last < length))[:, None]
    mask = live & (unit < SIZE)
    past, before, own = load_past(
        kept + 4 * at + quad, out + at + unit, cells + at + unit, step,
        mask, live & (quad < 4 * SIZE), last > 0, CELL,
    )  # fmt: skip
    incoming = tl.load(gradient + at + unit, mask=mask, other=0.0)
    for done in range(last + 1):
        t = last - done
        at = spot * SIZE + t * step
        tl.store(firsts + spot + t * stride * DIRECTIONS, t == 0, mask=live)
        ahead = ((t > 0) & (t - 1 < length))[:, None]
        mask = ahead & (unit < SIZE)
        next_past, next_before, next_own = load_past(
            kept + 4 * (at - step) + quad, out + at - step + unit, cells + at - step + unit, step,
            mask, ahead & (quad < 4 * SIZE), t > 1, CELL,
        )  # fmt: skip
        next_incoming = tl.load(gradient + at - step + unit, mask=mask, other=0.0)
        dh, dc, g0, g1, g2, g3 = retreat(dh + incoming, dc, past, before, own, CELL)
        if BLOCKS == 4:
            tl.store(gates + 4 * at + quad, join(g0, g1, g2, g3), mask=live & (quad < 4 * SIZE))
        else:
            tl.store(gates + at + unit, g0, mask=live & (unit < SIZE))
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
        past, before, own, incoming, live = next_past, next_before, next_own, next_incoming, ahead
