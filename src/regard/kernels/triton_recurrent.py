"""The launches of the recurrence over ragged rows, and how their gradients come together."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import triton
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from . import triton_resident, triton_tiled
from .triton_rows import gather_sum

__all__ = ["GATES", "Cut", "Job", "Recurrence", "cut_for", "interpreted"]

GATES = {"rnn": 1, "gru": 3, "lstm": 4}
# Per item: blocks of gate gradients, and tiles that forward keeps for backward.
BLOCKS = {"rnn": 1, "gru": 4, "lstm": 4}
KEPT = {"rnn": 0, "gru": 4, "lstm": 5}
# A GRU's gradient blocks begin with its last gate, so that the recurrent ones stand together.
SHIFT = {"rnn": 0, "gru": 1, "lstm": 0}


@dataclass(frozen=True)
class Cut:
    """How a launch is cut into programs: ``rows`` and hidden units (``width``) that each works on."""

    resident: bool
    rows: int
    width: int
    warps: int
    stages: int
    precision: str


@dataclass(frozen=True)
class Job:
    """What a launch must know besides its tensors; ``order`` names the rows, longest first."""

    cell: str
    directions: int
    size: int
    item_count: int
    keep: bool
    index: Tensor | None
    order: Tensor
    lengths: Tensor
    offsets: Tensor
    cut: Cut

    @property
    def spacing(self) -> int:
        """How far apart two gates of an item lie in our own buffers, so that loads are aligned."""
        return _round_up(self.size, 8)

    @property
    def grid(self) -> tuple[int]:
        """How many programs there are."""
        return (triton.cdiv(len(self.order), self.cut.rows) * self.directions,)

    @property
    def sizes(self) -> dict[str, int | str]:
        """What the kernels are compiled for."""
        width = "WIDTH" if self.cut.resident else "TILE"
        return {
            "CELL": self.cell,
            "GATES": GATES[self.cell],
            "SIZE": self.size,
            "SPACING": self.spacing,
            "DIRECTIONS": self.directions,
            "ROWS": self.cut.rows,
            "PRECISION": self.cut.precision,
            width: self.cut.width,
            "num_warps": self.cut.warps,
            "num_stages": self.cut.stages,
        }


def interpreted() -> bool:
    """Say whether Triton interprets its kernels on the CPU instead of compiling them."""
    return not isinstance(gather_sum, triton.JITFunction)


def cut_for(size: int, *, row_count: int, dtype: torch.dtype) -> Cut:
    """Choose how to cut the work; ``row_count`` counts a row once per direction."""
    exact = dtype == torch.float32
    # Three tf32 products make one that is as good as fp32's own; bf16 operands need no choice.
    precision = "emulated" if interpreted() else "tf32x3" if exact else "tf32"
    width = max(16, triton.next_power_of_2(size))
    if width <= 64:
        return Cut(True, 16, width, 8 if exact else 4, 1, precision)
    return Cut(False, 16, 64, 4, 2, precision)


class Recurrence(torch.autograd.Function):
    """Every item's h, (items, directions * size), from projected inputs and recurrent weights."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, projected: Tensor, weights: Tensor, biases: Tensor, job: Job
    ) -> Tensor:
        """Take all steps in one launch."""
        kept_count = KEPT[job.cell] if job.keep else 0
        out = projected.new_empty(job.item_count, job.directions * job.size)
        kept = projected.new_empty(job.directions, job.item_count, kept_count * job.spacing)
        arguments = (projected, job.index, job.order, job.lengths, job.offsets)
        counts = (len(job.order), job.item_count, len(projected))
        if job.cut.resident:
            triton_resident.forward[job.grid](
                *arguments, weights, biases, out, kept, *counts, KEPT=kept_count, **job.sizes
            )
        else:
            state = _state(job)
            tiles = weights.to(projected.dtype)
            triton_tiled.forward[job.grid](
                *arguments, tiles, biases, out, kept, state, *counts, KEPT=kept_count, **job.sizes
            )
        ctx.save_for_backward(out, kept, weights)
        ctx.job, ctx.distinct_count = job, len(projected)  # type: ignore[attr-defined]
        return out

    @staticmethod
    @once_differentiable
    def backward(
        ctx: FunctionCtx, gradient: Tensor
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None, None]:
        """Take all steps backwards in one launch, then sum what belongs together."""
        out, kept, weights = ctx.saved_tensors  # type: ignore[attr-defined]
        job: Job = ctx.job  # type: ignore[attr-defined]
        gates, previous = _backward(job, gradient.contiguous(), out, kept, weights)
        needs = ctx.needs_input_grad  # type: ignore[attr-defined]
        projected_gradient = weights_gradient = biases_gradient = None
        if needs[0]:
            projected_gradient = _sum_by_source(job, gates, ctx.distinct_count)  # type: ignore[attr-defined]
        if needs[1] or needs[2]:
            both = _sum_products(job, gates, previous).to(weights.dtype)
            weights_gradient, biases_gradient = both[..., :-1], both[..., -1]
        return projected_gradient, weights_gradient, biases_gradient, None


def _backward(
    job: Job, gradient: Tensor, out: Tensor, kept: Tensor, weights: Tensor
) -> tuple[Tensor, Tensor]:
    """Every item's gate gradients and the h before it, in ``parts`` of equal length."""
    plane = _round_up(job.item_count, _parts(job.item_count))
    pitch = _round_up(job.size + 1, 8)
    gates = out.new_empty(job.directions, plane, BLOCKS[job.cell] * job.spacing)
    previous = out.new_empty(job.directions, plane, pitch)
    gates[:, job.item_count :] = 0
    previous[:, job.item_count :] = 0
    # What is multiplied with a column of ones is summed: the gradient of the biases.
    previous[..., job.size] = 1
    arguments = (gradient, out, kept, job.order, job.lengths, job.offsets)
    counts = (len(job.order), job.item_count, plane)
    sizes = {"KEPT": KEPT[job.cell], "BLOCKS": BLOCKS[job.cell], "PITCH": pitch, **job.sizes}
    if job.cut.resident:
        triton_resident.backward[job.grid](*arguments, weights, gates, previous, *counts, **sizes)
    else:
        state = _state(job)
        tiles = weights.to(out.dtype)
        triton_tiled.backward[job.grid](
            *arguments, tiles, gates, previous, state, *counts, **sizes
        )
    return gates, previous


def _sum_products(job: Job, gates: Tensor, previous: Tensor) -> Tensor:
    """The gradients of the recurrent weights, (directions, gates * size, size + 1), biases last."""
    # One product over all items would leave most of the device idle, so each part has its own.
    parts = _parts(job.item_count)
    count = GATES[job.cell]
    batch = (job.directions * parts, gates.shape[1] // parts)
    chunks = gates.view(*batch, gates.shape[2])[..., -count * job.spacing :].transpose(1, 2)
    steps = previous.view(*batch, previous.shape[2])[..., : job.size + 1]
    if gates.is_cuda and gates.dtype != torch.float32:
        sums = torch.bmm(chunks, steps, out_dtype=torch.float32)
    else:
        sums = torch.bmm(chunks, steps)
    sums = sums.view(job.directions, parts, count, job.spacing, job.size + 1)
    sums = sums[..., : job.size, :].sum(1, dtype=torch.float32)
    return sums.reshape(job.directions, count * job.size, job.size + 1)


def _sum_by_source(job: Job, gates: Tensor, distinct_count: int) -> Tensor:
    """The gradient of ``projected``: for each of its rows, the sum over the items that used it."""
    count = GATES[job.cell]
    result = gates.new_empty(distinct_count, job.directions * count * job.size)
    order = bounds = None
    if job.index is not None:
        sources, order = torch.sort(job.index.to(torch.int32), stable=True)
        rows = torch.arange(distinct_count + 1, device=gates.device, dtype=torch.int32)
        bounds = torch.searchsorted(sources, rows, out_int32=True)
    tile = 64
    grid = (distinct_count, job.directions * triton.cdiv(count * job.spacing, tile))
    gather_sum[grid](
        gates, order, bounds, result, gates.shape[1],
        BLOCKS=BLOCKS[job.cell], GATES=count, SHIFT=SHIFT[job.cell], SIZE=job.size,
        SPACING=job.spacing, DIRECTIONS=job.directions, MANY=128, FEW=8, TILE=tile, num_warps=2,
    )  # fmt: skip
    return result


def _state(job: Job) -> Tensor:
    """Room for an fp32 value of h and c for every row, direction and unit, all zero."""
    shape = (len(job.order), job.directions, 2, job.size)
    return torch.zeros(shape, device=job.order.device)


def _parts(item_count: int) -> int:
    """Into how many parts the items are cut, to keep every multiprocessor busy."""
    return max(1, min(64, item_count // 512))


def _round_up(count: int, multiple: int) -> int:
    return (count + multiple - 1) // multiple * multiple
