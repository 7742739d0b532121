"""Many vectors to one, row by row, and how much each of them counted.

``pooling(items)`` gives a vector a row and the weights behind it, which sum to one along every
row that is not empty; an empty row gives zeros. ``pooling(items, weights)`` uses the given
weights, (items,) or (items, columns), instead of its own: its vectors are then sums of the items
weighted by them.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..kernels import cpu, gpu
from ..ragged import Ragged
from .attention import SCORES, ContextScore
from .rows import row_max, row_mean, row_softmax, row_sum, row_weighted_sum

__all__ = [
    "POOLINGS",
    "AttentionPooling",
    "LastPooling",
    "MaxPooling",
    "MeanPooling",
    "Pooled",
    "Pooling",
    "PoolingConfig",
    "StructuredPooling",
    "redundancy",
]


@dataclass(frozen=True)
class PoolingConfig:
    """What poolings may be told beside the size of the items; most need only some of it."""

    attention_size: int = 100
    score: str = "context"
    hops: int = 4
    directions: int = 1  # of the encoder whose states are pooled: parts that end at different items


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """One vector a row, the weights that made it, and for several hops how much they overlap."""

    vectors: Tensor  # (rows, output_size)
    weights: Ragged  # (items,) or (items, columns)
    penalty: Tensor | None = None  # (rows,)


class Pooling(nn.Module):
    """Makes one vector of every row."""

    weighs = False
    """Whether how much an item counts is learned from what it says."""

    def __init__(self, size: int, config: PoolingConfig) -> None:
        super().__init__()
        self.output_size = size

    def forward(self, items: Ragged, weights: Tensor | None = None) -> Pooled:
        """Pool every row, by its own weights or by the given ones."""
        raise NotImplementedError


class MeanPooling(Pooling):
    """The mean of each row: every item has the same weight."""

    def forward(self, items: Ragged, weights: Tensor | None = None) -> Pooled:
        """Average every row."""
        if weights is not None:
            return _summed(items, weights)
        shares = 1.0 / items.lengths.clamp(min=1).to(items.values.dtype)
        return Pooled(row_mean(items), items.with_values(shares.index_select(0, items.row_ids)))


class MaxPooling(Pooling):
    """The largest number of each row in every coordinate.

    The weight of an item is the share of coordinates that were taken from it, so given weights
    that equal the pooling's own do not give its own vector.
    """

    def forward(self, items: Ragged, weights: Tensor | None = None) -> Pooled:
        """Take the largest of every row."""
        if weights is not None:
            return _summed(items, weights)
        peaks = row_max(items)
        with torch.no_grad():
            taken = (items.values == peaks.index_select(0, items.row_ids)).to(peaks.dtype)
            ties = row_sum(items.with_values(taken)).index_select(0, items.row_ids)
            shares = (taken / ties).mean(1)
        return Pooled(peaks, items.with_values(shares))


class LastPooling(Pooling):
    """The state in which the encoder left each row.

    A backward direction ends at the first item: with two directions the vector is the forward
    half of the last item and the backward half of the first, and there are two columns of weights.
    """

    def __init__(self, size: int, config: PoolingConfig) -> None:
        super().__init__(size, config)
        self.directions = config.directions

    def forward(self, items: Ragged, weights: Tensor | None = None) -> Pooled:
        """Take the final state of every row."""
        if weights is None:
            places = torch.arange(items.values.shape[0], device=items.values.device)
            last = places == items.offsets[1:].index_select(0, items.row_ids) - 1
            first = places == items.offsets.index_select(0, items.row_ids)
            ends = last if self.directions == 1 else torch.stack([last, first], 1)
            weights = ends.to(items.values.dtype)
        if weights.ndim == 1:
            return _summed(items, weights)
        halves = items.values.chunk(2, 1)
        vectors = [
            row_weighted_sum(items.with_values(half), column)
            for half, column in zip(halves, weights.unbind(1), strict=True)
        ]
        return Pooled(torch.cat(vectors, 1), items.with_values(weights))


class AttentionPooling(Pooling):
    """The sum of each row, weighted by how well its items answer a learned query.

    With the score ``context`` it is the attention of Yang et al. (2016). The score is not
    squashed: one item can get any multiple of another's weight.
    """

    weighs = True

    def __init__(self, size: int, config: PoolingConfig) -> None:
        super().__init__(size, config)
        score = SCORES[config.score]
        query_size = size if score.same_size else config.attention_size
        self.score = score(query_size, size, config.attention_size)
        self.query = nn.Parameter(torch.empty(1, query_size).uniform_(-0.1, 0.1))

    def forward(self, items: Ragged, weights: Tensor | None = None) -> Pooled:
        """Weigh every row and add it up."""
        if weights is not None:
            return _summed(items, weights)
        attention = self.in_c()
        if attention is not None and cpu.can_attend(items.values):
            vectors, weights = cpu.attend_context(items.values, items, attention)
            return Pooled(vectors, items.with_values(weights))
        return _attended(items, self.score(self.query, items))

    def in_c(self) -> cpu.ContextAttention | None:
        """The same attention as the kernels in C take it, if they know its score and type.

        A score derived from theirs may ask another question: they know the exact class alone.
        """
        if type(self.score) is not ContextScore or not cpu.can_attend(self.query):
            return None
        return cpu.ContextAttention(self.score.key.weight, self.score.key.bias, self.query[0])


class StructuredPooling(Pooling):
    """Several attentions over each row, their sums side by side, of Lin et al. (2017).

    ``penalty`` is the redundancy of the weights, which a model may add to its loss so that the
    hops look at different items.
    """

    weighs = True

    def __init__(self, size: int, config: PoolingConfig) -> None:
        super().__init__(size, config)
        score = SCORES[config.score]
        query_size = size if score.same_size else config.attention_size
        self.output_size = size * config.hops
        self.score = score(query_size, size, config.attention_size)
        self.query = nn.Parameter(torch.empty(config.hops, query_size).uniform_(-0.1, 0.1))

    def forward(self, items: Ragged, weights: Tensor | None = None) -> Pooled:
        """Weigh every row once a hop."""
        if weights is None:
            keys = self.score.prepare(items)
            scores = [self.score.compare(query, keys) for query in self.query.split(1)]
            weights = row_softmax(items.with_values(torch.stack(scores, 1))).values
        elif weights.ndim == 1:
            weights = weights[:, None].expand(-1, self.query.shape[0])
        vectors = [row_weighted_sum(items, column) for column in weights.unbind(1)]
        shared = items.with_values(weights)
        return Pooled(torch.cat(vectors, 1), shared, redundancy(shared))


def redundancy(weights: Ragged) -> Tensor:
    """Return ||A A^T - I||_F^2 for the weights A, (hops, items), of every row, (rows,).

    Zero when each hop looks at one item that no other hop looks at, and for an empty row.
    """
    columns = weights.values
    # A hop at a time: all products at once would take hops^2 numbers an item.
    overlaps = [row_sum(weights.with_values(columns * one)) for one in columns.split(1, 1)]
    identity = torch.eye(columns.shape[1], dtype=columns.dtype, device=columns.device)
    squared = (torch.stack(overlaps, 1) - identity).square().sum((1, 2))
    return squared * (weights.lengths > 0)


def _attended(items: Ragged, scores: Tensor) -> Pooled:
    """Weigh every row by the softmax of its scores, (items,), and add it up."""
    for kernel in (cpu, gpu):
        if kernel.can_attend(items.values):
            vectors, weights = kernel.attend_rows(scores.float(), items.values, items)
            return Pooled(vectors, items.with_values(weights))
    return _summed(items, row_softmax(items.with_values(scores)).values)


def _summed(items: Ragged, weights: Tensor) -> Pooled:
    return Pooled(row_weighted_sum(items, weights), items.with_values(weights))


POOLINGS: dict[str, type[Pooling]] = {
    "attention": AttentionPooling,
    "mean": MeanPooling,
    "max": MaxPooling,
    "last": LastPooling,
    "structured": StructuredPooling,
}
"""Every pooling by its name in the settings, made with (size, config)."""
