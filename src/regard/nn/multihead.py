"""Scaled dot-product attention with several heads, of every item of a row to every item of a row.

It is that of Vaswani et al. (2017), "Attention is all you need". The weights are never written
down unless they are asked for: torch's fused kernels add up the values at once. On a GPU they
take rows of any lengths as they are. Elsewhere rows of similar lengths are filled up to the
longest of them and go together, so that a row of three never waits for one of three hundred.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import FunctionCtx, once_differentiable
from torch.nn.functional import embedding, linear, scaled_dot_product_attention

from ..ragged import Ragged
from .dropout import drop
from .positions import causal_mask, row_positions, sinusoids
from .rows import take_rows

__all__ = ["MultiHeadAttention", "Scope", "Turn", "attend", "attend_by_weights", "weigh"]

_STEP = 1.3  # how many times as long as the shortest the longest row of a group may be
_SHORT = 16  # items by which every row counts as longer, so that short ones go together
_IN_KERNELS = (torch.float16, torch.bfloat16, torch.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """By which angles each item's queries and keys are turned: rotary positions.

    Su et al. (2021), "RoFormer": the product of two turned vectors depends on how far apart their
    items stand, and not on where.
    """

    sines: Tensor  # (items, 1, half of a head)
    cosines: Tensor

    @classmethod
    def to(cls, positions: Tensor, size: int) -> Turn:
        """The angles at some positions, (items,), for heads of ``size``."""
        sines, cosines = sinusoids(positions, size)[:, None].chunk(2, -1)
        return cls(sines, cosines)

    def __call__(self, vectors: Tensor) -> Tensor:
        """Turn vectors, (items, heads, size): the n-th number with the n-th of the other half."""
        one, other = vectors.chunk(2, -1)
        turned = (
            one * self.cosines - other * self.sines,
            other * self.cosines + one * self.sines,
        )
        return torch.cat(turned, -1).to(vectors.dtype)


class Scope:
    """Who looks at whom: the items of each row of ``queries`` at those of its row of ``keys``.

    With ``causal`` an item looks at those of its own row that stand no later than itself. A scope
    is made once and serves all layers.
    """

    def __init__(
        self, queries: Ragged, keys: Ragged | None = None, *, causal: bool = False
    ) -> None:
        assert not (causal and keys is not None)  # which comes first, of two rows, is not said
        self.queries = queries
        self.keys = queries if keys is None else keys
        self.causal = causal
        self._groups: _Groups | None = None
        self._starts: tuple[Tensor, Tensor] | None = None

    @property
    def groups(self) -> _Groups:
        """The rows in groups of similar lengths."""
        if self._groups is None:
            self._groups = _Groups.of(self)
        return self._groups

    @property
    def starts(self) -> tuple[Tensor, Tensor]:
        """Where the rows of queries and of keys begin, as kernels on a GPU take it."""
        if self._starts is None:
            own = self.queries.offsets.int()
            same = self.keys is self.queries
            self._starts = own, own if same else self.keys.offsets.int()
        return self._starts

    @property
    def blind(self) -> Tensor | None:
        """Which queries have nothing to look at, (items,); None where all have something."""
        if all(self.keys.host_lengths):
            return None
        return (self.keys.lengths == 0).index_select(0, self.queries.row_ids)


class MultiHeadAttention(nn.Module):
    """Attention on several shares of the columns side by side, mixed again afterwards.

    An item of a source that is ``missed`` keeps its weight in training, and what it holds is not
    found: a head that looks at one item alone finds nothing then.
    """

    def __init__(self, size: int, heads: int, *, missed: float = 0.0) -> None:
        super().__init__()
        self.size, self.heads, self.missed = size, heads, missed
        self.enter = nn.Linear(size, 3 * size)  # to queries, keys and values, in this order
        self.leave = nn.Linear(size, size)
        nn.init.xavier_uniform_(self.enter.weight)
        nn.init.zeros_(self.enter.bias)
        nn.init.zeros_(self.leave.bias)

    def forward(
        self, items: Tensor, scope: Scope, *, source: Tensor | None = None, turn: Turn | None = None
    ) -> Tensor:
        """Let items, (items, size), look at each other or at those of a source."""
        query, key, value = self.project(items, source, turn)
        return self.mix(attend(query, key, value, scope))

    def weights(
        self, items: Tensor, scope: Scope, *, source: Tensor | None = None, turn: Turn | None = None
    ) -> Ragged:
        """How much each item looks at each of those it sees: a row an item, (pairs, heads)."""
        query, key, _ = self.project(items, source, turn)
        return weigh(query, key, scope)

    def project(
        self, items: Tensor, source: Tensor | None = None, turn: Turn | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries of the items, with their own keys and values or a source's, (..., heads, size).

        ``turn`` is of the items, which then look at themselves.
        """
        if source is None:
            query, key, value = self._by_head(self.enter(items), 3)
            return (query, key, value) if turn is None else (turn(query), turn(key), value)
        return self.queries(items), *self.keys_and_values(source)

    def queries(self, items: Tensor) -> Tensor:
        """What the items ask, (..., heads, size)."""
        weight, bias = self.enter.weight[: self.size], self.enter.bias[: self.size]
        return self._by_head(linear(items, weight, bias), 1)[0]

    def keys_and_values(self, items: Tensor) -> tuple[Tensor, Tensor]:
        """What the items of a source answer to, and what they give, (..., heads, size)."""
        weight, bias = self.enter.weight[self.size :], self.enter.bias[self.size :]
        key, value = self._by_head(linear(items, weight, bias), 2)
        if self.training and self.missed:
            value = value * drop(value.new_ones(*value.shape[:-1], 1), self.missed, training=True)
        return key, value

    def mix(self, found: Tensor) -> Tensor:
        """Make one vector of what all heads found, (..., heads, size)."""
        return self.leave(found.flatten(-2))

    def _by_head(self, columns: Tensor, parts: int) -> tuple[Tensor, ...]:
        return columns.unflatten(-1, (parts, self.heads, self.size // self.heads)).unbind(-3)


def attend(query: Tensor, key: Tensor, value: Tensor, scope: Scope) -> Tensor:
    """Add up the values that each query sees, by weights that are not kept, (items, heads, size).

    A query that sees nothing finds zeros.
    """
    size = query.shape[-1]
    if query.is_cuda and query.dtype in _IN_KERNELS and size % 8 == 0 and size <= 256:
        return _attend_on_gpu(query, key, value, scope)
    groups = scope.groups
    padded = (
        groups.queries.fill_up(query),
        groups.keys.fill_up(key),
        groups.keys.fill_up(value),
    )
    found: list[Tensor] = []
    for group, *given in zip(groups.shapes, *padded, strict=True):
        query, key, value = (part.transpose(1, 2) for part in given)  # (rows, heads, items, size)
        made = scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=None if scope.causal else group.present,
            # What fills a row up comes after all that is in it, where no item looks.
            is_causal=scope.causal,
        )
        found.append(made.transpose(1, 2))
    return groups.queries.take_out(found, like=query)


def weigh(query: Tensor, key: Tensor, scope: Scope) -> Ragged:
    """How much each query looks at each key it sees: a row a query, (pairs, heads)."""
    groups = scope.groups
    found: list[Tensor] = []
    padded = (groups.queries.fill_up(query), groups.keys.fill_up(key))
    for group, asking, asked in zip(groups.shapes, *padded, strict=True):
        seen = group.seen(scope.causal)
        weights = attend_by_weights(asking, asked, asked, ~seen[:, None])[1]
        found.append(weights.permute(0, 2, 3, 1)[seen])
    values = torch.cat(found) if found else query.new_zeros(0, query.shape[1])
    return groups.in_order(values, scope)


def attend_by_weights(
    query: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The formula: softmax(query · key / √size) · value, with its weights.

    Filled-up rows, (rows, items, heads, size); weights are (rows, heads, queries, keys), and none
    is where ``hidden``, of that shape, is true.
    """
    query, key, value = (part.transpose(1, 2) for part in (query, key, value))
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    scores = scores if scores.dtype == torch.float64 else scores.float()
    if hidden is not None:
        # Not minus infinity: where nothing is seen there would be nothing to divide by.
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, -1)
    return (weights.to(value.dtype) @ value).transpose(1, 2), weights


def _attend_on_gpu(query: Tensor, key: Tensor, value: Tensor, scope: Scope) -> Tensor:
    """The same by the kernels of a GPU, which take rows of any lengths end to end.

    Torch's public name for the first, ``varlen_attn``, takes other arguments in each release.
    """
    longest = [max(rows.host_lengths, default=0) for rows in (scope.queries, scope.keys)]
    if not all(longest):
        return torch.zeros_like(query)
    if query.dtype == torch.float32:
        given = (part[None] for part in (query, key, value))
        mask = int(scope.causal)
        made = torch.ops.aten._efficient_attention_forward(
            *given, None, *scope.starts, *longest, 0.0, mask, True
        )
        found = cast(Tensor, made[0])[0]
    else:
        made = torch.ops.aten._flash_attention_forward(
            query, key, value, *scope.starts, *longest, 0.0, scope.causal, False
        )
        found = cast(Tensor, made[0])
    blind = scope.blind
    return found if blind is None else found.masked_fill(blind[:, None, None], 0)


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Rows that are filled up to the same lengths."""

    query_counts: Tensor  # (rows,)
    key_counts: Tensor  # (rows,)
    queries: int  # the most that a row has
    keys: int
    present: Tensor | None  # (rows, 1, 1, keys), whether there is a key; None: everywhere

    def seen(self, causal: bool) -> Tensor:
        """Whether a query is there, and sees a key, (rows, queries, keys)."""
        device = self.query_counts.device
        asking = torch.arange(self.queries, device=device)[:, None]
        asked = torch.arange(self.keys, device=device)
        counts = self.query_counts[:, None, None], self.key_counts[:, None, None]
        seen = (asking < counts[0]) & (asked < counts[1])
        return seen & causal_mask(self.queries, device) if causal else seen


@dataclass(frozen=True, slots=True, eq=False)
class _Picks:
    """Which item goes to each place; to some goes none."""

    items: Tensor  # (places,)
    empty: Tensor | None  # the places that are left empty; None: there are none

    @classmethod
    def of(cls, items: NDArray[np.int64], device: torch.device) -> _Picks:
        empty = np.flatnonzero(items < 0)
        places = torch.from_numpy(items.clip(min=0)).to(device)
        return cls(places, torch.from_numpy(empty).to(device) if len(empty) else None)

    def pick(self, values: Tensor) -> Tensor:
        """Put the items into their places, and zeros where none goes, (places, ...)."""
        flat = values.reshape(values.shape[0], math.prod(values.shape[1:]))
        if not flat.shape[0]:
            return values.new_zeros(len(self.items), *values.shape[1:])
        picked = embedding(self.items, flat)
        if self.empty is not None:
            picked.index_fill_(0, self.empty, 0)
        return picked.view(-1, *values.shape[1:])


class _Moved(Function):
    """Items at other places, each at one of them or at none: the way back is as quick."""

    @staticmethod
    def forward(ctx: FunctionCtx, values: Tensor, there: _Picks, back: _Picks) -> Tensor:
        ctx.back = back  # type: ignore[attr-defined]
        return there.pick(values)

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor, None, None]:
        return ctx.back.pick(gradient), None, None  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """Where the items of one side, queries or keys, stand when their rows are filled up."""

    there: _Picks  # the item of each place
    back: _Picks  # the place of each item
    shapes: list[tuple[int, int]]  # rows and places in a row, of each group

    @classmethod
    def of(cls, rows: Ragged, groups: list[NDArray[np.int64]]) -> _Side:
        lengths = np.asarray(rows.host_lengths, dtype=np.int64)
        starts = np.cumsum(lengths) - lengths
        shapes, items = [], [np.zeros(0, np.int64)]
        for group in groups:
            places = np.arange(lengths[group].max())
            there = places < lengths[group, None]
            items.append(np.where(there, starts[group, None] + places, -1).ravel())
            shapes.append((len(group), len(places)))
        every = np.concatenate(items)
        back = np.full(int(lengths.sum()), -1)
        back[every[every >= 0]] = np.flatnonzero(every >= 0)
        device = rows.values.device
        return cls(_Picks.of(every, device), _Picks.of(back, device), shapes)

    def fill_up(self, values: Tensor) -> list[Tensor]:
        """Fill the rows up, group by group, (rows, longest, ...)."""
        moved = cast(Tensor, _Moved.apply(values, self.there, self.back))
        parts = moved.split([rows * places for rows, places in self.shapes])
        return [part.unflatten(0, shape) for part, shape in zip(parts, self.shapes, strict=True)]

    def take_out(self, padded: list[Tensor], *, like: Tensor) -> Tensor:
        """The items again, in their order; zeros for those that are in no group."""
        flat = [part.flatten(0, 1) for part in padded]
        every = torch.cat(flat) if flat else like.new_zeros(0, *like.shape[1:])
        return cast(Tensor, _Moved.apply(every, self.back, self.there))


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """The rows of a scope by their lengths; those without queries or without keys are in none."""

    shapes: list[_Group]
    queries: _Side
    keys: _Side

    @classmethod
    def of(cls, scope: Scope) -> _Groups:
        asking = np.asarray(scope.queries.host_lengths, dtype=np.int64)
        asked = np.asarray(scope.keys.host_lengths, dtype=np.int64)
        rows = np.flatnonzero((asking > 0) & (asked > 0))
        sizes = (np.log1p(asked[rows] / _SHORT) / math.log(_STEP)).astype(np.int64)
        groups = [rows[sizes == size] for size in np.unique(sizes)]
        queries = _Side.of(scope.queries, groups)
        keys = queries if scope.keys is scope.queries else _Side.of(scope.keys, groups)
        device = scope.queries.values.device
        return cls([_group(asking[one], asked[one], device) for one in groups], queries, keys)

    def in_order(self, pairs: Tensor, scope: Scope) -> Ragged:
        """Rows of pairs, one a query, group by group, in the order of the queries."""
        back = self.queries.back
        seen = scope.keys.lengths.index_select(0, scope.queries.row_ids)
        if scope.causal:
            seen = 1 + row_positions(scope.queries)
        if back.empty is not None:
            seen = seen.index_fill(0, back.empty, 0)
        # Places grow with the groups; who is in none comes last, with an empty row.
        places = back.items if back.empty is None else back.items.index_fill(0, back.empty, 1 << 62)
        order = places.argsort(stable=True)
        rank = torch.empty_like(order).scatter_(0, order, torch.arange(len(order)).to(order))
        return take_rows(Ragged(pairs, seen[order]), rank, len(pairs))


def _group(asking: NDArray[np.int64], asked: NDArray[np.int64], device: torch.device) -> _Group:
    counts = torch.from_numpy(asked).to(device)
    keys = int(asked.max())
    present = torch.arange(keys, device=device) < counts[:, None, None, None]
    whole = bool((asked == keys).all())
    return _Group(
        torch.from_numpy(asking).to(device),
        counts,
        int(asking.max()),
        keys,
        None if whole else present,
    )
