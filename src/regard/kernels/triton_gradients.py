"""From every item's gate gradients to those of the projected table, the weights and the biases."""

from __future__ import annotations

import torch
import triton
from torch import Tensor

from .triton_plan import BLOCKS, GATES, SHIFT, Job
from .triton_sums import chunk_sum, collect, gather_sum, outer_sum

__all__ = ["sum_by_source", "sum_products"]

# Items that are summed by a program of their own, where one row of the table has so many.
_CHUNK = 64
# Below this many items, no word is so frequent that chunks are worth another launch.
_CHUNKS_FROM = 1 << 12
# Programs that keep a large GPU busy.
_PROGRAMS = 264
# Sizes of the tiles that were quickest on an H200.
_OUTER = {"ITEMS": 64, "TALL": 128, "WIDE": 64, "num_warps": 8, "num_stages": 3}
_GATHER = {"ITEMS": 4, "TILE": 512, "num_warps": 4}


def sum_by_source(job: Job, gates: Tensor, distinct_count: int) -> Tensor:
    """For each row of the projected table, sum the gradients of the items that used it."""
    gate_count, blocks = GATES[job.cell], BLOCKS[job.cell]
    result = gates.new_empty(distinct_count, job.directions * gate_count * job.size)
    order = bounds = chunks = None
    pitch = gates.shape[1]
    if job.index is not None:
        sources, order = torch.sort(job.index.to(torch.int32), stable=True)
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
        BLOCKS=blocks, GATES=gate_count, SHIFT=SHIFT[job.cell], SIZE=job.size,
        DIRECTIONS=job.directions, CHUNK=_CHUNK, **_GATHER,
    )  # fmt: skip
    return result


def sum_products(
    job: Job, gates: Tensor, out: Tensor, firsts: Tensor, weights: Tensor
) -> tuple[Tensor, Tensor]:
    """The gradients of the recurrent weights and biases, in the weights' type."""
    blocks = BLOCKS[job.cell]
    columns = job.size * blocks
    tall, wide = _OUTER["TALL"], _OUTER["WIDE"]
    tiles = (job.directions * triton.cdiv(columns, tall), triton.cdiv(job.size, wide))
    shares = max(1, min(_PROGRAMS // (tiles[0] * tiles[1]), triton.cdiv(out.shape[0], 256)))
    share = triton.cdiv(out.shape[0], shares)
    partials = torch.empty(shares, job.directions, columns, job.size + 1, device=out.device)
    outer_sum[(shares, *tiles)](
        gates, out, firsts, partials, out.shape[0], share,
        BLOCKS=blocks, SIZE=job.size, DIRECTIONS=job.directions, PRECISION=job.cut.precision,
        **_OUTER,
    )  # fmt: skip
    weights_gradient = torch.empty_like(weights)
    biases_gradient = weights.new_empty(weights.shape[:2])
    collect[(weights.shape[0] * weights.shape[1],)](
        partials, weights_gradient, biases_gradient, shares,
        BLOCKS=blocks, GATES=GATES[job.cell], SIZE=job.size, DIRECTIONS=job.directions,
        SHARES=16, WIDTH=triton.next_power_of_2(job.size + 1),
    )  # fmt: skip
    return weights_gradient, biases_gradient
