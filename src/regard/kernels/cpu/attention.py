"""Attention over rows in C: pooling for training, and a whole level in one go for prediction."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from ...ragged import Ragged
from ..native import Job, required_library
from .buffers import empty
from .jobs import AttendJob, Layout, PoolJob, ScoreJob, check_tensor, padded, padded_rows, sum_rows
from .recurrence import Plan, Recurrent

__all__ = ["ContextAttention", "attend", "attend_context", "attend_rows"]

_WORK_FOR_THREADS = 500_000  # floats; fewer are pooled before another thread wakes up


@dataclass(frozen=True, eq=False)
class ContextAttention:
    """The score query · tanh(matrix item + bias) of an item."""

    matrix: Tensor  # (attention size, size)
    bias: Tensor  # (attention size,)
    query: Tensor  # (attention size,)

    def __post_init__(self) -> None:
        check_tensor("matrix", self.matrix, (len(self.query), self.matrix.shape[-1]))
        check_tensor("bias", self.bias, (len(self.query),))
        check_tensor("query", self.query, (len(self.query),))


def attend(
    projected: Tensor,
    index: Tensor | None,
    rows: Ragged,
    *,
    layer: Recurrent,
    attention: ContextAttention,
) -> tuple[Tensor, Tensor]:
    """Read every row and pool its states by attention, without keeping the states.

    Returns the vectors, (rows, directions * hidden size), and the weights, (items,); an empty
    row gives zeros. For prediction: no gradient goes back through it.
    """
    plan = Plan.of(layer, projected, index, rows)
    pooling = PoolJob()
    pooling.fill(size=plan.directions * plan.hidden_size)
    vectors, weights = torch.empty(len(rows), pooling.size), torch.empty(plan.layout.item_count)
    pooling.fill(pooled=vectors, weights=weights)
    job = AttendJob()
    job.fill(recurrence=plan.job(projected, layer.weights, layer.biases))
    job.fill(scoring=_scoring(pooling, attention))
    threads = min(plan.threads, plan.layout.share_count)
    plan.native.run("attend", job, instructions=plan.instructions, threads=threads)
    return vectors, weights


def attend_rows(scores: Tensor, values: Tensor, rows: Ragged) -> tuple[Tensor, Tensor]:
    """Weigh every row's values, (items, size), by the softmax of its scores, (items,).

    Returns the sums, (rows, size), zero for an empty row, and the weights, (items,).
    """
    check_tensor("values", values, (int(rows.offsets[-1]), values.shape[-1]))
    check_tensor("scores", scores, values.shape[:1])
    sums, weights = _AttendRows.apply(scores, values, rows)
    return sums, weights


def attend_context(
    values: Tensor, rows: Ragged, attention: ContextAttention
) -> tuple[Tensor, Tensor]:
    """Do as ``attend_rows``, with the scores that the attention gives the values."""
    check_tensor("values", values, (int(rows.offsets[-1]), values.shape[-1]))
    parameters = (attention.matrix, attention.bias, attention.query)
    sums, weights = _AttendContext.apply(values, *parameters, rows)
    return sums, weights


class _Context(FunctionCtx):
    """What the way forward leaves for the way back."""

    layout: Layout
    saved_tensors: tuple[Tensor, ...]
    needs_input_grad: tuple[bool, ...]


class _AttendRows(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: _Context, scores: Tensor, values: Tensor, rows: Ragged
    ) -> tuple[Tensor, Tensor]:
        ctx.layout = Layout.in_order(rows)
        job = _pooling(ctx.layout, values.contiguous(), scores.contiguous())
        vectors, weights = _outputs(job, values, rows)
        _run("pool", job, job)
        ctx.save_for_backward(values, scores, weights)
        return vectors, weights

    @staticmethod
    @once_differentiable
    def backward(
        ctx: _Context, vectors_gradient: Tensor, weights_gradient: Tensor
    ) -> tuple[Tensor, Tensor, None]:
        values, scores, weights = ctx.saved_tensors
        job = _pooling(ctx.layout, values.contiguous(), scores.contiguous())
        values_gradient, scores_gradient = _gradients(
            job, weights, vectors_gradient, weights_gradient
        )
        _run("pool_back", job, job)
        return scores_gradient, values_gradient, None


class _AttendContext(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: _Context, values: Tensor, matrix: Tensor, bias: Tensor, query: Tensor, rows: Ragged
    ) -> tuple[Tensor, Tensor]:
        ctx.layout = Layout.in_order(rows)
        scores = values.new_empty(len(values))
        pooling = _pooling(ctx.layout, values.contiguous(), scores)
        vectors, weights = _outputs(pooling, values, rows)
        job = _scoring(pooling, ContextAttention(matrix, bias, query))
        keep = any(ctx.needs_input_grad)
        mixed = empty(len(values) if keep else 0, job.attention_step)
        job.fill(mixed=mixed if keep else None)
        _run("pool_context", job, pooling)
        ctx.save_for_backward(values, matrix, bias, query, scores, weights, mixed)
        return vectors, weights

    @staticmethod
    @once_differentiable
    def backward(
        ctx: _Context, vectors_gradient: Tensor, weights_gradient: Tensor
    ) -> tuple[Tensor | None, ...]:
        values, matrix, bias, query, scores, weights, mixed = ctx.saved_tensors
        pooling = _pooling(ctx.layout, values.contiguous(), scores)
        values_gradient, _ = _gradients(pooling, weights, vectors_gradient, weights_gradient)
        job = _scoring(pooling, ContextAttention(matrix, bias, query))
        size, rows = values.shape[1], sum_rows(values.shape[1])
        shares = ctx.layout.share_count
        sums = torch.empty(shares, rows + 2, job.attention_step)
        job.fill(mixed=mixed, matrix_back=padded_rows(matrix), size_step=padded(size), sums=sums)
        _run("pool_context_back", job, pooling)
        required_library().call("add_shares", sums.data_ptr(), shares, sums[0].numel())
        total = sums[0, :, : job.attention_size]
        return values_gradient, total[:size].t().contiguous(), total[rows], total[rows + 1], None


def _pooling(layout: Layout, values: Tensor, scores: Tensor) -> PoolJob:
    job = PoolJob()
    job.fill(layout=layout, size=values.shape[1], items=values, scores=scores)
    return job


def _outputs(job: PoolJob, values: Tensor, rows: Ragged) -> tuple[Tensor, Tensor]:
    vectors = values.new_empty(len(rows), values.shape[1])
    weights = values.new_empty(len(values))
    job.fill(pooled=vectors, weights=weights)
    return vectors, weights


def _gradients(
    job: PoolJob, weights: Tensor, vectors_gradient: Tensor, weights_gradient: Tensor
) -> tuple[Tensor, Tensor]:
    """Make room for the gradients of the items and the scores."""
    items_gradient = empty(len(weights), job.size)
    scores_gradient = torch.empty_like(weights)
    job.fill(weights=weights, pooled_gradient=vectors_gradient.contiguous())
    job.fill(weights_gradient=weights_gradient.contiguous())
    job.fill(items_gradient=items_gradient, scores_gradient=scores_gradient)
    return items_gradient, scores_gradient


def _scoring(pooling: PoolJob, attention: ContextAttention) -> ScoreJob:
    attention_size = len(attention.query)
    check_tensor("matrix", attention.matrix, (attention_size, pooling.size))
    job = ScoreJob()
    job.fill(pooling=pooling, attention_size=attention_size, attention_step=padded(attention_size))
    job.fill(matrix=padded_rows(attention.matrix.t()), bias=padded_rows(attention.bias))
    job.fill(query=padded_rows(attention.query))
    return job


def _run(name: str, job: Job, pooling: PoolJob) -> None:
    native = required_library()
    work = pooling.layout.item_count * pooling.size
    threads = torch.get_num_threads() if work > _WORK_FOR_THREADS else 1
    threads = min(threads, pooling.layout.share_count)
    native.run(
        name, job, instructions=native.instructions_for(max(1, pooling.size)), threads=threads
    )
