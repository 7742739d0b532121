"""The recurrence over ragged rows on a GPU as a differentiable function.

Forwards it is one pass over the rows. Backwards one pass gives every item's gate gradients, and
sums of them are the gradients of the projected table, the weights and the biases. Every sum is
taken in an order that depends on nothing but the shapes and the index, so that the same batch
always gives the same bits.
"""

# A kernel is typed by its arguments when it is compiled, so the checker has nothing to hold on to.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from .cells import product
from .passes import resident_backward, resident_forward, tiled_backward, tiled_forward
from .plan import BLOCKS, GATES, SHIFT, Launch

__all__ = ["Recurrence"]


class _Context(FunctionCtx):
    """What the way forward leaves for the way back."""

    launch: Launch
    distinct_count: int
    saved_tensors: tuple[Tensor, ...]
    needs_input_grad: tuple[bool, ...]


class Recurrence(torch.autograd.Function):
    """Every item's h, (items, directions * size), from projected inputs and recurrent weights."""

    @staticmethod
    def forward(
        ctx: _Context, projected: Tensor, weights: Tensor, biases: Tensor, launch: Launch
    ) -> Tensor:
        """Take all steps in one launch."""
        item_count = projected.shape[0] if launch.index is None else launch.index.shape[0]
        units = launch.directions * launch.size
        out = projected.new_empty(item_count, units)
        kept = cells = None
        if launch.keep and launch.cell != "rnn":
            kept = projected.new_empty(item_count, 4 * units)
        if launch.keep and launch.cell == "lstm":
            cells = torch.empty(item_count, units, device=out.device)
        inputs = (projected, launch.index, *launch.rows)
        counts = (launch.order.shape[0], item_count, projected.shape[0])
        if launch.cut.resident:
            resident_forward[launch.grid](
                *inputs, weights, biases, out, kept, cells, *counts, **launch.constants
            )
        else:
            tiles = weights.to(out.dtype)
            tiled_forward[launch.grid](
                *inputs,
                tiles,
                biases,
                out,
                kept,
                cells,
                _state(launch),
                *counts,
                **launch.constants,
            )
        if launch.keep:
            # A cell without such a part needs some tensor in its place, and never looks at it.
            ctx.save_for_backward(
                out, out if kept is None else kept, out if cells is None else cells, weights
            )
        ctx.launch, ctx.distinct_count = launch, projected.shape[0]
        return out

    @staticmethod
    @once_differentiable
    def backward(
        ctx: _Context, gradient: Tensor
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None, None]:
        """Take all steps backwards in one launch, then sum what belongs together."""
        out, kept, cells, weights = ctx.saved_tensors
        launch = ctx.launch
        gates, firsts = _gate_gradients(launch, gradient.contiguous(), (out, kept, cells), weights)
        projected_gradient = weights_gradient = biases_gradient = None
        if ctx.needs_input_grad[0]:
            projected_gradient = sum_by_source(launch, gates, ctx.distinct_count)
        if ctx.needs_input_grad[1] or ctx.needs_input_grad[2]:
            weights_gradient, biases_gradient = sum_products(launch, gates, out, firsts, weights)
        return projected_gradient, weights_gradient, biases_gradient, None


def _gate_gradients(
    launch: Launch, gradient: Tensor, past: tuple[Tensor, Tensor, Tensor], weights: Tensor
) -> tuple[Tensor, Tensor]:
    """Every item's gate gradients, and for each direction whether the item begins its row."""
    out, blocks = past[0], BLOCKS[launch.cell]
    gates = out.new_empty(out.shape[0], blocks * out.shape[1])
    firsts = torch.empty(out.shape[0], launch.directions, device=out.device, dtype=torch.int8)
    counts = (launch.order.shape[0], out.shape[0])
    if launch.cut.resident:
        resident_backward[launch.grid](
            gradient, *past, *launch.rows, weights, gates, firsts, *counts,
            BLOCKS=blocks, **launch.constants,
        )  # fmt: skip
    else:
        tiled_backward[launch.grid](
            gradient, *past, *launch.rows, _by_unit(launch, weights).to(out.dtype), gates, firsts,
            _state(launch), *counts, BLOCKS=blocks, **launch.constants,
        )  # fmt: skip
    return gates, firsts


def _by_unit(launch: Launch, weights: Tensor) -> Tensor:
    """The weights as the gate gradients lie: unit by unit, zero where a block is not recurrent."""
    gate_count, blocks = GATES[launch.cell], BLOCKS[launch.cell]
    result = weights.new_zeros(launch.directions, launch.size, blocks, launch.size)
    by_gate = weights.view(launch.directions, gate_count, launch.size, launch.size)
    result[:, :, blocks - gate_count :] = by_gate.transpose(1, 2)
    return result


def _state(launch: Launch) -> Tensor:
    """Room for an fp32 h and c of every row, direction and unit, all zero."""
    return torch.zeros(
        launch.order.shape[0], launch.directions, 2, launch.size, device=launch.order.device
    )


# Items that are summed by a program of their own, where one row of the table has so many.
_CHUNK = 64
# Below this many items, no word is so frequent that chunks are worth another launch.
_CHUNKS_FROM = 1 << 12
# Programs that keep a large GPU busy.
_PROGRAMS = 264
# Sizes of the tiles that were quickest on an H200.
_OUTER = {"ITEMS": 64, "TALL": 128, "WIDE": 64, "num_warps": 8, "num_stages": 3}
_GATHER = {"ITEMS": 4, "TILE": 512, "num_warps": 4}


def sum_by_source(launch: Launch, gates: Tensor, distinct_count: int) -> Tensor:
    """For each row of the projected table, sum the gradients of the items that used it."""
    gate_count, blocks = GATES[launch.cell], BLOCKS[launch.cell]
    result = gates.new_empty(distinct_count, launch.directions * gate_count * launch.size)
    order = bounds = chunks = None
    pitch = gates.shape[1]
    if launch.index is not None:
        sources, order = torch.sort(launch.index.to(torch.int32), stable=True)
        rows = torch.arange(distinct_count + 1, device=gates.device, dtype=torch.int32)
        bounds = torch.searchsorted(sources, rows, out_int32=True)
        if gates.shape[0] >= _CHUNKS_FROM:
            chunk_count = gates.shape[0] // _CHUNK
            chunks = gates.new_empty(chunk_count, pitch, dtype=torch.float32)
            chunk_sum[(chunk_count, triton.cdiv(pitch, 128))](
                gates, order, sources, chunks, PITCH=pitch, CHUNK=_CHUNK, TILE=128
            )
    gather_sum[(distinct_count, triton.cdiv(pitch, _GATHER["TILE"]))](
        gates, order, bounds, chunks, result,
        BLOCKS=blocks, GATES=gate_count, SHIFT=SHIFT[launch.cell], SIZE=launch.size,
        DIRECTIONS=launch.directions, CHUNK=_CHUNK, **_GATHER,
    )  # fmt: skip
    return result


def sum_products(
    launch: Launch, gates: Tensor, out: Tensor, firsts: Tensor, weights: Tensor
) -> tuple[Tensor, Tensor]:
    """The gradients of the recurrent weights and biases, in the weights' type."""
    blocks = BLOCKS[launch.cell]
    columns = launch.size * blocks
    tall, wide = _OUTER["TALL"], _OUTER["WIDE"]
    tiles = (launch.directions * triton.cdiv(columns, tall), triton.cdiv(launch.size, wide))
    shares = max(1, min(_PROGRAMS // (tiles[0] * tiles[1]), triton.cdiv(out.shape[0], 256)))
    share = triton.cdiv(out.shape[0], shares)
    partials = torch.empty(shares, launch.directions, columns, launch.size + 1, device=out.device)
    outer_sum[(shares, *tiles)](
        gates, out, firsts, partials, out.shape[0], share,
        BLOCKS=blocks, SIZE=launch.size, DIRECTIONS=launch.directions,
        PRECISION=launch.cut.precision, **_OUTER,
    )  # fmt: skip
    weights_gradient = torch.empty_like(weights)
    biases_gradient = weights.new_empty(weights.shape[:2])
    collect[(weights.shape[0] * weights.shape[1],)](
        partials, weights_gradient, biases_gradient, shares,
        BLOCKS=blocks, GATES=GATES[launch.cell], SIZE=launch.size, DIRECTIONS=launch.directions,
        SHARES=16, WIDTH=triton.next_power_of_2(launch.size + 1),
    )  # fmt: skip
    return weights_gradient, biases_gradient


@triton.jit
def chunk_sum(
    gates, order, sources, chunks, PITCH: tl.constexpr, CHUNK: tl.constexpr, TILE: tl.constexpr
):
    """Sum each chunk of items that all used the same row of the projected table.

    A few words make up most of a text; this spreads their items over many programs.
    """
    first = tl.program_id(0) * CHUNK
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)
    if tl.load(sources + first) == tl.load(sources + first + CHUNK - 1):
        total = _sum(gates, order, first, first + CHUNK, column, column < PITCH, PITCH, CHUNK)
        place = tl.program_id(0).to(tl.int64) * PITCH + column
        tl.store(chunks + place, total, mask=column < PITCH)


@triton.jit
def gather_sum(
    gates, order, bounds, chunks, out,
    BLOCKS: tl.constexpr, GATES: tl.constexpr, SHIFT: tl.constexpr, SIZE: tl.constexpr,
    DIRECTIONS: tl.constexpr, CHUNK: tl.constexpr, ITEMS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Sum the gate gradients of all items that used one row of the projected table.

    ``order`` lists the items row by row and ``bounds`` says where each row's items begin; without
    them every item has a row of its own. Whole ``chunks``, if given, are summed already.
    """
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)
    pitch = DIRECTIONS * SIZE * BLOCKS
    # Block b of a unit holds the gradient of gate b - SHIFT; blocks past the gates are no inputs.
    block = column % BLOCKS
    mask = (column < pitch) & (block < GATES)
    gate = (block + GATES - SHIFT) % GATES
    place = (column // (SIZE * BLOCKS) * GATES + gate) * SIZE + column // BLOCKS % SIZE
    target = out + row * (DIRECTIONS * GATES * SIZE) + place
    if order is None:
        tl.store(target, tl.load(gates + row * pitch + column, mask=mask), mask=mask)
    else:
        begin = tl.load(bounds + row)
        end = tl.load(bounds + row + 1)
        total = tl.zeros((TILE,), tl.float32)
        if chunks is not None:
            first = (begin + CHUNK - 1) // CHUNK
            past = end // CHUNK
            if first < past:
                total += _sum(chunks, None, first, past, column, mask, pitch, ITEMS)
                total += _sum(gates, order, begin, first * CHUNK, column, mask, pitch, ITEMS)
                begin = past * CHUNK
        total += _sum(gates, order, begin, end, column, mask, pitch, ITEMS)
        tl.store(target, total, mask=mask)


@triton.jit
def _sum(table, order, begin, end, column, mask, PITCH, ITEMS: tl.constexpr):
    """Sum rows ``begin`` to ``end`` of a table, or those that ``order`` lists there."""
    totals = tl.zeros((ITEMS, column.shape[0]), tl.float32)
    for place in range(begin, end, ITEMS):
        spot = place + tl.arange(0, ITEMS)
        item = spot
        if order is not None:
            item = tl.load(order + spot, mask=spot < end, other=0)
        live = (spot < end)[:, None] & mask[None, :]
        item = item.to(tl.int64)[:, None] * PITCH
        totals += tl.load(table + item + column[None, :], mask=live, other=0.0)
    return tl.sum(totals, 0)


@triton.jit(do_not_specialize=["item_count", "share"])
def outer_sum(
    gates, out, firsts, partials, item_count, share,
    BLOCKS: tl.constexpr, SIZE: tl.constexpr, DIRECTIONS: tl.constexpr, ITEMS: tl.constexpr,
    TALL: tl.constexpr, WIDE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Sum the products of gate gradients and the h before them over a share of the items.

    ``partials``, (shares, directions, size * BLOCKS, size + 1), gets the plain sums last.
    """
    direction = (tl.program_id(1) % DIRECTIONS).to(tl.int64)
    tall = tl.program_id(1) // DIRECTIONS * TALL + tl.arange(0, TALL)
    wide = tl.program_id(2) * WIDE + tl.arange(0, WIDE)
    begin = tl.program_id(0).to(tl.int64) * share
    end = tl.minimum(begin + share, item_count)
    sums = tl.zeros((TALL, WIDE), tl.float32)
    plain = tl.zeros((ITEMS, TALL), tl.float32)
    for place in range(begin, end, ITEMS):
        item = place + tl.arange(0, ITEMS)
        spot = item * DIRECTIONS + direction
        start = tl.load(firsts + spot, mask=item < end, other=1)
        gate = tl.load(
            gates + spot[:, None] * (SIZE * BLOCKS) + tall[None, :],
            mask=(item < end)[:, None] & (tall < SIZE * BLOCKS)[None, :], other=0.0,
        )  # fmt: skip
        before = spot - (1 - 2 * direction) * DIRECTIONS
        h = tl.load(
            out + before[:, None] * SIZE + wide[None, :],
            mask=(start == 0)[:, None] & (wide < SIZE)[None, :], other=0.0,
        )  # fmt: skip
        sums += product(tl.trans(gate), h, PRECISION)
        plain += gate
    row = (tl.program_id(0) * DIRECTIONS + direction) * (SIZE * BLOCKS) + tall
    mask = (tall < SIZE * BLOCKS)[:, None] & (wide < SIZE)[None, :]
    tl.store(partials + row[:, None] * (SIZE + 1) + wide[None, :], sums, mask=mask)
    if tl.program_id(2) == 0:
        tl.store(partials + row * (SIZE + 1) + SIZE, tl.sum(plain, 0), mask=tall < SIZE * BLOCKS)


@triton.jit(do_not_specialize=["share_count"])
def collect(
    partials, weights, biases, share_count,
    BLOCKS: tl.constexpr, GATES: tl.constexpr, SIZE: tl.constexpr, DIRECTIONS: tl.constexpr,
    SHARES: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Add the shares up, and lay them out as the weights and biases are."""
    row = tl.program_id(0)
    column = tl.arange(0, WIDTH)[None, :]
    direction = row // (GATES * SIZE)
    gate = row // SIZE % GATES
    block = row % SIZE * BLOCKS + gate + BLOCKS - GATES
    totals = tl.zeros((SHARES, WIDTH), tl.float32)
    for first in range(0, share_count, SHARES):
        share = first + tl.arange(0, SHARES)[:, None]
        place = (share * DIRECTIONS + direction) * (SIZE * BLOCKS) + block
        mask = (share < share_count) & (column < SIZE + 1)
        totals += tl.load(partials + place.to(tl.int64) * (SIZE + 1) + column, mask=mask, other=0.0)
    total = tl.sum(totals, 0)[None, :]
    tl.store(weights + row * SIZE + column, total, mask=column < SIZE)
    tl.store(biases + row + 0 * column, total, mask=column == SIZE)
