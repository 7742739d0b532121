"""All steps of all rows in one launch, forwards or back.

A program owns a block of rows and one direction, and takes all their steps.

* ``resident``, for small hidden sizes: it keeps all recurrent weights at hand. What a step reads
  from memory was asked for one step earlier (the index two), so that no step waits for memory.
* ``tiled``, for larger ones: the weights stream through in tiles, and within a step it goes over
  the hidden units tile by tile. What one tile leaves for the others passes through memory, with
  a barrier between: h through ``out``, and its exact fp32 value through ``state``.
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
    place_program,
    product,
    retreat,
)

__all__ = ["resident_backward", "resident_forward", "tiled_backward", "tiled_forward"]


@triton.jit(do_not_specialize=["row_count", "item_count", "distinct_count"])
def resident_forward(
    projected, index, order, lengths, offsets, weights, biases, out, kept, cells,
    row_count, item_count, distinct_count,
    CELL: tl.constexpr, GATES: tl.constexpr, SIZE: tl.constexpr, WIDTH: tl.constexpr,
    ROWS: tl.constexpr, DIRECTIONS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Fill ``out`` with every item's h; ``kept`` and ``cells``, if given, are for backward."""
    _, direction, first, length = place_program(
        order, lengths, offsets, row_count, item_count, ROWS, DIRECTIONS
    )
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
def resident_backward(
    gradient, out, kept, cells, order, lengths, offsets, weights, gates, firsts,
    row_count, item_count,
    CELL: tl.constexpr, GATES: tl.constexpr, BLOCKS: tl.constexpr, SIZE: tl.constexpr,
    WIDTH: tl.constexpr, ROWS: tl.constexpr, DIRECTIONS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Fill ``gates`` with every item's gate gradients; mark in ``firsts`` which begin a row."""
    _, direction, first, length = place_program(
        order, lengths, offsets, row_count, item_count, ROWS, DIRECTIONS
    )
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


@triton.jit(do_not_specialize=["row_count", "item_count", "distinct_count"])
def tiled_forward(
    projected, index, order, lengths, offsets, weights, biases, out, kept, cells, state,
    row_count, item_count, distinct_count,
    CELL: tl.constexpr, GATES: tl.constexpr, SIZE: tl.constexpr, WIDTH: tl.constexpr,
    ROWS: tl.constexpr, DIRECTIONS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Fill ``out`` with every item's h; ``kept`` and ``cells``, if given, are for backward."""
    lane, direction, first, length = place_program(
        order, lengths, offsets, row_count, item_count, ROWS, DIRECTIONS
    )
    stride = 1 - 2 * direction
    weights += direction * GATES * SIZE * SIZE
    for t in range(tl.max(length, 0)):
        item = first + t * stride
        live = (t < length)[:, None]
        source = load_source(index, item, t < length)
        at = (item * DIRECTIONS + direction)[:, None] * SIZE
        before = out + at - stride * (DIRECTIONS * SIZE)
        for start in range(0, SIZE, WIDTH):
            unit = start + tl.arange(0, WIDTH)[None, :]
            quad = 4 * start + tl.arange(0, 4 * WIDTH)[None, :]
            mask = live & (unit < SIZE)
            a0, a1, a2, a3 = _recurrent(
                before, weights, unit, live & (t > 0), SIZE, WIDTH, ROWS, GATES, PRECISION
            )
            gate = direction * GATES * SIZE + unit
            b0, b1, b2, b3 = load_gates(biases + gate, unit < SIZE, 0.0, SIZE, GATES)
            x0, x1, x2, x3 = load_inputs(
                projected + gate, source, mask, distinct_count, DIRECTIONS * GATES * SIZE,
                SIZE, GATES,
            )  # fmt: skip
            own = state + (lane * DIRECTIONS + direction)[:, None] * (2 * SIZE) + unit
            h = tl.load(own, mask=mask, other=0.0)
            c = tl.load(own + SIZE, mask=mask, other=0.0)
            h, c, keep = advance(
                x0, x1, x2, x3, a0 + b0, a1 + b1, a2 + b2, a3 + b3, h, c, CELL
            )  # fmt: skip
            tl.store(own, h, mask=mask)
            tl.store(own + SIZE, c, mask=mask)
            tl.store(out + at + unit, h, mask=mask)
            if kept is not None:
                tl.store(kept + 4 * at + quad, keep, mask=live & (quad < 4 * SIZE))
            if cells is not None:
                tl.store(cells + at + unit, c, mask=mask)
        # The next step reads what every tile of this one has written.
        tl.debug_barrier()


@triton.jit(do_not_specialize=["row_count", "item_count"])
def tiled_backward(
    gradient, out, kept, cells, order, lengths, offsets, weights, gates, firsts, state,
    row_count, item_count,
    CELL: tl.constexpr, GATES: tl.constexpr, BLOCKS: tl.constexpr, SIZE: tl.constexpr,
    WIDTH: tl.constexpr, ROWS: tl.constexpr, DIRECTIONS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Fill ``gates`` with every item's gate gradients; mark in ``firsts`` which begin a row.

    ``weights``, (directions, size * BLOCKS, size), lie as the gate gradients do: unit by unit.
    ``state`` holds the gradients of h and c.
    """
    lane, direction, first, length = place_program(
        order, lengths, offsets, row_count, item_count, ROWS, DIRECTIONS
    )
    stride = 1 - 2 * direction
    weights += direction * BLOCKS * SIZE * SIZE
    state += (lane * DIRECTIONS + direction)[:, None] * (2 * SIZE)
    last = tl.max(length, 0) - 1
    for done in range(last + 1):
        t = last - done
        spot = ((first + t * stride) * DIRECTIONS + direction)[:, None]
        at = spot * SIZE
        live = (t < length)[:, None]
        tl.store(firsts + spot, t == 0, mask=live)
        for start in range(0, SIZE, WIDTH):
            unit = start + tl.arange(0, WIDTH)[None, :]
            quad = 4 * start + tl.arange(0, 4 * WIDTH)[None, :]
            mask = live & (unit < SIZE)
            wide = live & (quad < 4 * SIZE)
            past, before, own = load_past(
                kept + 4 * at + quad, out + at + unit, cells + at + unit,
                stride * (DIRECTIONS * SIZE), mask, wide, t > 0, CELL,
            )  # fmt: skip
            dh = tl.load(state + unit, mask=mask, other=0.0)
            dh += tl.load(gradient + at + unit, mask=mask, other=0.0)
            dc = tl.load(state + SIZE + unit, mask=mask, other=0.0)
            dh, dc, g0, g1, g2, g3 = retreat(dh, dc, past, before, own, CELL)
            if BLOCKS == 4:
                tl.store(gates + 4 * at + quad, join(g0, g1, g2, g3), mask=wide)
            else:
                tl.store(gates + at + unit, g0, mask=mask)
            tl.store(state + unit, dh, mask=mask)
            tl.store(state + SIZE + unit, dc, mask=mask)
        # The product reads the gate gradients of every tile, the next step what it makes of them.
        tl.debug_barrier()
        _pass_on(gates + BLOCKS * at, weights, state, live, SIZE, WIDTH, ROWS, BLOCKS, PRECISION)
        tl.debug_barrier()


@triton.jit
def _recurrent(
    before, weights, unit, live, SIZE: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr,
    GATES: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Multiply the h of the step before by a tile of the weights of each gate."""
    a0 = tl.zeros((ROWS, WIDTH), tl.float32)
    a1, a2, a3 = a0, a0, a0
    for depth in range(0, SIZE, WIDTH):
        inner = depth + tl.arange(0, WIDTH)
        h = tl.load(before + inner[None, :], mask=live & (inner < SIZE)[None, :], other=0.0)
        inner = inner[:, None]
        w0, w1, w2, w3 = load_gates(
            weights + unit * SIZE + inner, (unit < SIZE) & (inner < SIZE), 0.0, SIZE * SIZE, GATES
        )
        a0 += product(h, w0, PRECISION)
        if GATES > 1:
            a1 += product(h, w1, PRECISION)
            a2 += product(h, w2, PRECISION)
        if GATES > 3:
            a3 += product(h, w3, PRECISION)
    return a0, a1, a2, a3


@triton.jit
def _pass_on(
    gates, weights, state, live, SIZE: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr,
    BLOCKS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Add to the state what the gate gradients send back through the recurrent weights."""
    for start in range(0, SIZE, WIDTH):
        unit = start + tl.arange(0, WIDTH)[None, :]
        total = tl.zeros((ROWS, WIDTH), tl.float32)
        for depth in range(0, BLOCKS * SIZE, WIDTH):
            inner = depth + tl.arange(0, WIDTH)
            full = inner < BLOCKS * SIZE
            g = tl.load(gates + inner[None, :], mask=live & full[None, :], other=0.0)
            w = tl.load(
                weights + inner[:, None] * SIZE + unit,
                mask=full[:, None] & (unit < SIZE),
                other=0.0,
            )
            total += product(g, w, PRECISION)
        mask = live & (unit < SIZE)
        tl.store(state + unit, tl.load(state + unit, mask=mask, other=0.0) + total, mask=mask)
