"""The recurrence for larger hidden sizes: the recurrent weights stream through in tiles.

A program owns a block of rows and one direction, and takes all their steps; within a step it goes
over the hidden units tile by tile. What one tile leaves for the others passes through memory,
with a barrier between: h through ``out``, and its exact fp32 value through ``state``.
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
    projected, index, order, lengths, offsets, weights, biases, out, kept, state,
    row_count, item_count, distinct_count,
    CELL: tl.constexpr, GATES: tl.constexpr, KEPT: tl.constexpr, SIZE: tl.constexpr,
    SPACING: tl.constexpr, TILE: tl.constexpr, ROWS: tl.constexpr, DIRECTIONS: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Fill ``out`` with every item's h and, if KEPT is not 0, ``kept`` with what backward needs."""
    direction = (tl.program_id(0) % DIRECTIONS).to(tl.int64)
    lane = tl.program_id(0) // DIRECTIONS * ROWS + tl.arange(0, ROWS)
    first, length = place_rows(order, lengths, offsets, row_count, item_count, lane, direction)
    stride = 1 - 2 * direction
    weights += direction * GATES * SIZE * SIZE
    for t in range(tl.max(length, 0)):
        item = first + t * stride
        live = (t < length)[:, None]
        source = load_source(index, item, t < length)
        here = out + (item * DIRECTIONS + direction)[:, None] * SIZE
        before = here - stride * (DIRECTIONS * SIZE)
        for start in range(0, SIZE, TILE):
            unit = start + tl.arange(0, TILE)[None, :]
            mask = live & (unit < SIZE)
            a0, a1, a2, a3 = _recurrent(
                before, weights, unit, live & (t > 0), SIZE, TILE, ROWS, GATES, PRECISION
            )
            gate = direction * GATES * SIZE + unit
            b0, b1, b2, b3 = load_gates(biases + gate, unit < SIZE, 0.0, SIZE, GATES)
            x0, x1, x2, x3 = load_inputs(
                projected + gate, source, mask, distinct_count, DIRECTIONS * GATES * SIZE,
                SIZE, GATES,
            )  # fmt: skip
            own = state + (lane * DIRECTIONS + direction)[:, None] * (2 * SIZE) + unit
            h = tl.load(own, mask=mask & (t > 0), other=0.0)
            c = h
            if CELL == "lstm":
                c = tl.load(own + SIZE, mask=mask & (t > 0), other=0.0)
            h, c, s0, s1, s2, s3 = advance(
                x0, x1, x2, x3, a0 + b0, a1 + b1, a2 + b2, a3 + b3, h, c, CELL
            )
            tl.store(own, h, mask=mask)
            tl.store(here + unit, h, mask=mask)
            rest = kept + (direction * item_count + item)[:, None] * (KEPT * SPACING) + unit
            store_gates(rest, mask, s0, s1, s2, s3, SPACING, KEPT)
            if CELL == "lstm":
                tl.store(own + SIZE, c, mask=mask)
            if KEPT > 4:
                tl.store(rest + 4 * SPACING, c, mask=mask)
        # The next step reads what every tile of this one has written.
        tl.debug_barrier()


@triton.jit
def backward(
    gradient, out, kept, order, lengths, offsets, weights, gates, previous, state,
    row_count, item_count, plane,
    CELL: tl.constexpr, GATES: tl.constexpr, KEPT: tl.constexpr, BLOCKS: tl.constexpr,
    SIZE: tl.constexpr, SPACING: tl.constexpr, PITCH: tl.constexpr, TILE: tl.constexpr,
    ROWS: tl.constexpr, DIRECTIONS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Fill ``gates`` with every item's gate gradients, and ``previous`` with the h before it.

    ``state`` holds the gradients of h and c, and must be zero at the beginning.
    """
    direction = (tl.program_id(0) % DIRECTIONS).to(tl.int64)
    lane = tl.program_id(0) // DIRECTIONS * ROWS + tl.arange(0, ROWS)
    first, length = place_rows(order, lengths, offsets, row_count, item_count, lane, direction)
    stride = 1 - 2 * direction
    weights += direction * GATES * SIZE * SIZE
    own = state + (lane * DIRECTIONS + direction)[:, None] * (2 * SIZE)
    pitch = stride * (DIRECTIONS * SIZE)
    last = tl.max(length, 0) - 1
    for done in range(last + 1):
        t = last - done
        item = first + t * stride
        live = (t < length)[:, None]
        spot = (direction * plane + item)[:, None]
        for start in range(0, SIZE, TILE):
            unit = start + tl.arange(0, TILE)[None, :]
            mask = live & (unit < SIZE)
            at = (item * DIRECTIONS + direction)[:, None] * SIZE + unit
            s0, s1, s2, s3, h, before, cell = load_past(
                out + at, kept + (direction * item_count + item)[:, None] * (KEPT * SPACING) + unit,
                pitch, stride * (KEPT * SPACING), mask, t > 0, SPACING, CELL,
            )  # fmt: skip
            dh = tl.load(own + unit, mask=mask, other=0.0)
            dh += tl.load(gradient + at, mask=mask, other=0.0)
            dc = tl.load(own + SIZE + unit, mask=mask, other=0.0)
            dh, dc, g0, g1, g2, g3 = retreat(dh, dc, s0, s1, s2, s3, before, cell, CELL)
            store_gates(gates + spot * (BLOCKS * SPACING) + unit, mask, g0, g1, g2, g3, SPACING, BLOCKS)
            tl.store(previous + spot * PITCH + unit, h, mask=mask)
            tl.store(own + unit, dh, mask=mask)
            tl.store(own + SIZE + unit, dc, mask=mask)
        # The product reads the gate gradients of every tile.
        tl.debug_barrier()
        _pass_on(
            gates + spot * (BLOCKS * SPACING) + (BLOCKS - GATES) * SPACING, weights, own, live,
            SIZE, SPACING, TILE, ROWS, GATES, PRECISION,
        )  # fmt: skip
        tl.debug_barrier()


@triton.jit
def _recurrent(
    before, weights, unit, live, SIZE: tl.constexpr, TILE: tl.constexpr, ROWS: tl.constexpr,
    GATES: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    a0 = tl.zeros((ROWS, TILE), tl.float32)
    a1, a2, a3 = a0, a0, a0
    for depth in range(0, SIZE, TILE):
        inner = depth + tl.arange(0, TILE)
        h = tl.load(before + inner[None, :], mask=live & (inner < SIZE)[None, :], other=0.0)
        inner = inner[:, None]
        w0, w1, w2, w3 = load_gates(
            weights + unit * SIZE + inner, (unit < SIZE) & (inner < SIZE), 0.0, SIZE * SIZE, GATES
        )
        a0 += product(h, w0.to(h.dtype), PRECISION)
        if GATES > 1:
            a1 += product(h, w1.to(h.dtype), PRECISION)
            a2 += product(h, w2.to(h.dtype), PRECISION)
        if GATES > 3:
            a3 += product(h, w3.to(h.dtype), PRECISION)
    return a0, a1, a2, a3


@triton.jit
def _pass_on(
    gates, weights, own, live, SIZE: tl.constexpr, SPACING: tl.constexpr, TILE: tl.constexpr,
    ROWS: tl.constexpr, GATES: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Add to the state what the gate gradients send back through the recurrent weights."""
    for start in range(0, SIZE, TILE):
        unit = start + tl.arange(0, TILE)[None, :]
        total = tl.zeros((ROWS, TILE), tl.float32)
        for depth in range(0, GATES * SPACING, TILE):
            inner = depth + tl.arange(0, TILE)
            full = (inner % SPACING < SIZE) & (inner < GATES * SPACING)
            g = tl.load(gates + inner[None, :], mask=live & full[None, :], other=0.0)
            row = inner
            if SPACING != SIZE:
                row = inner // SPACING * SIZE + inner % SPACING
            w = tl.load(
                weights + row[:, None] * SIZE + unit, mask=full[:, None] & (unit < SIZE), other=0.0
            )
            total += product(g, w.to(g.dtype), PRECISION)
        mask = live & (unit < SIZE)
        tl.store(own + unit, tl.load(own + unit, mask=mask, other=0.0) + total, mask=mask)
