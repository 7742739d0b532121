"""One floor of a hierarchy: an encoder reads each row, and a pooling makes one vector of it.

What makes it quick is in this file and shows nowhere above it: an item that stands many times in
a batch is projected once, what it is projected to may be kept for the next batch, and where nobody
asks for gradients a kernel in C reads and pools in one go.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from ..kernels import cpu
from ..ragged import Ragged
from .encoders import Encoder, RecurrentEncoder
from .pooling import AttentionPooling, Pooled, Pooling
from .positions import row_positions
from .rows import row_sum
from .table_rows import distinct

__all__ = ["Kept", "Level", "Picked", "Places"]

_WHOLE_TABLE = 1 << 17  # items that a GPU projects sooner than it finds the distinct ones
_MOST_BYTES = 1 << 28  # of projected items that are kept


@dataclass(frozen=True, slots=True, eq=False)
class Picked:
    """Rows of items that are picked from a table by their number."""

    table: Tensor  # (distinct, size)
    numbers: Ragged  # (items,)
    sparse: bool = False  # whether a batch picks few of the table's items

    def look_up(self) -> Ragged:
        """Return the items themselves, (items, size)."""
        return self.numbers.with_values(embedding(self.numbers.values, self.table))

    def compact(self) -> Picked:
        """Return the same rows with a table of the picked items alone, each of them once."""
        numbers = self.numbers.values
        if not self.sparse or (numbers.is_cuda and len(self.table) <= _WHOLE_TABLE):
            # To count distinct items the host would have to wait for a GPU.
            return replace(self, sparse=False)
        picked, index = distinct(numbers, len(self.table))
        return Picked(self.table.index_select(0, picked), self.numbers.with_values(index))


class Places(nn.Module):
    """Changes the weights of items by where they stand in their row; at first not at all.

    An item at place i of n counts exp(s) times as much, where s is a learned sum of exp(-i/4),
    exp(-i/12), exp(-i/40), the second of them from the end too, and i/n: the beginning may count
    more, over a few items or many, the end, and whatever lies between. Where a share of the items
    is left out while it learns, places are as far apart as they would be without.
    """

    def __init__(self, left_out: float = 0.0) -> None:
        super().__init__()
        self.left_out = left_out
        self.scores = nn.Parameter(torch.zeros(5))

    def forward(self, weights: Ragged) -> Tensor:
        """Return the changed weights, which sum to one along every row."""
        given = weights.values
        rows = weights.with_values(given if given.dtype == torch.float64 else given.float())
        apart = 1 / (1 - self.left_out) if self.training else 1.0
        counts = rows.lengths.index_select(0, rows.row_ids)
        place = row_positions(rows)
        begin, end = apart * place, apart * (counts - 1 - place)
        fading = [torch.exp(-begin / 4), torch.exp(-begin / 12), torch.exp(-begin / 40)]
        shapes = torch.stack([*fading, torch.exp(-end / 12), (place + 0.5) / counts], 1)
        # Ten times, so that five numbers learn as soon as the network around them does.
        factors = torch.exp(10 * shapes.to(self.scores.dtype) @ self.scores)
        grown = rows.values * (factors if rows.values.ndim == 1 else factors[:, None])
        return grown / row_sum(rows.with_values(grown)).index_select(0, rows.row_ids)


class Level(nn.Module):
    """Reads each row of items, then pools it into one vector.

    The states say how much each item weighs. What is added up is the states too, or with
    ``own`` the items as they came, so that a weight cannot be spent on a neighbour's content.
    A pooling that does not weigh, such as the mean, always adds up the states. With ``places``
    weights change by where an item stands too.
    """

    def __init__(
        self, encoder: Encoder, pooling: Pooling, *, own: bool = False, places: Places | None = None
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.pooling = pooling
        self.places = places
        self.own = own and pooling.weighs
        columns = pooling.output_size // encoder.output_size
        self.output_size = columns * (encoder.input_size if self.own else encoder.output_size)

    def forward(
        self,
        items: Ragged | Picked,
        weights: Tensor | None = None,
        *,
        across: Tensor | None = None,
    ) -> Pooled:
        """Make one vector of every row, (rows, output_size), with weights of its own or given ones.

        ``across`` holds the lengths of longer rows, where the encoder reads on over the ends of
        the rows that are pooled.
        """
        fused = self._fused_attention() if weights is None and across is None else None
        if fused is not None:
            pooled = self._attend_in_one_go(items, fused)
        else:
            states = self.read(items, across=across)
            pooled = self.pooling(states, weights)
            if self.places is not None and weights is None:
                pooled = self.pooling(states, self.places(pooled.weights))
        if not self.own:
            return pooled
        vectors = items.look_up() if isinstance(items, Picked) else items
        return replace(pooled, vectors=self.pooling(vectors, pooled.weights.values).vectors)

    def read(self, items: Ragged | Picked, *, across: Tensor | None = None) -> Ragged:
        """Return the encoder's state of every item, in the rows that were given."""
        compact = items.compact() if isinstance(items, Picked) else None
        given = items.numbers if isinstance(items, Picked) else items
        rows = given if compact is None else compact.numbers
        if across is not None:
            rows = Ragged(rows.values, across)
        states = (
            self.encoder(rows) if compact is None else self.encoder.from_table(compact.table, rows)
        )
        return given.with_values(states.values)

    def _fused_attention(self) -> cpu.ContextAttention | None:
        """The attention as the kernel in C takes it, where it does what both parts would do.

        Asked for by exact type: a derived encoder or pooling may do something else.
        """
        if type(self.encoder) is not RecurrentEncoder or type(self.pooling) is not AttentionPooling:
            return None
        if self.places is not None:
            return None
        return self.pooling.in_c() if self.encoder.attends else None

    def _attend_in_one_go(self, items: Ragged | Picked, attention: cpu.ContextAttention) -> Pooled:
        """Read and pool without keeping the states: they never leave the processor's cache."""
        encoder = self.encoder
        assert isinstance(encoder, RecurrentEncoder)  # where there is a fused attention
        if isinstance(items, Picked):
            table, rows = _project_picked(encoder, items)
            vectors, weights = encoder.attend(table, rows.values, rows, attention)
        else:
            rows = items
            vectors, weights = encoder.attend(encoder.project(rows.values), None, rows, attention)
        return Pooled(vectors, rows.with_values(weights))


def _project_picked(encoder: RecurrentEncoder, items: Picked) -> tuple[Tensor, Ragged]:
    """What the items of a table give the encoder, and the rows of numbers that pick from it."""
    call = _in_use.get()
    if items.sparse and call is not None:
        table = call.project(encoder, items)
        if table is not None:
            return table, items.numbers
    compact = items.compact()
    return encoder.project(compact.table), compact.numbers


class Kept:
    """What the items of a table gave an encoder, kept from one call to the next.

    Beside each result lies what it was made of, and every call compares that with the weights once
    before it uses the result: whoever changed a weight, and however, nothing is ever stale. The
    model stores nothing of it, and threads may share it.
    """

    def __init__(self) -> None:
        self._tables: dict[tuple[int, int], _Projections] = {}

    def __reduce__(self) -> tuple[type[Kept], tuple[()]]:
        """A copy starts empty: it will belong to other weights."""
        return Kept, ()

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Let the levels of this thread use and fill it for one call; no weight changes inside.

        A call inside another that uses the same ``Kept`` is a part of that call.
        """
        outer = _in_use.get()
        token = _in_use.set(outer if outer is not None and outer.kept is self else _Call(self))
        try:
            yield
        finally:
            _in_use.reset(token)

    def find(self, encoder: RecurrentEncoder, table: Tensor) -> _Projections | None:
        """Return what is kept for the encoder as it is now; nothing if it would be too large."""
        if 4 * (encoder.gate_count + table.shape[1]) * len(table) > _MOST_BYTES:
            return None
        key, weights = (id(encoder), len(table)), encoder.input_weights()
        projections = self._tables.get(key)
        if projections is None or not torch.equal(projections.weights, weights):
            projections = self._tables[key] = _Projections(encoder, weights, len(table))
        return projections


class _Call:
    """One call that uses what is kept: an item is checked when it is first met, or all at once."""

    def __init__(self, kept: Kept) -> None:
        self.kept = kept
        self._checked: dict[int, tuple[_Projections, Tensor]] = {}  # and of which items

    def project(self, encoder: RecurrentEncoder, items: Picked) -> Tensor | None:
        """Return a table that is filled in for these items; nothing if it would be too large."""
        if id(encoder) not in self._checked:
            projections = self.kept.find(encoder, items.table)
            if projections is None:
                return None
            none = torch.zeros(len(items.table), dtype=torch.bool)
            self._checked[id(encoder)] = projections, none
        projections, checked = self._checked[id(encoder)]
        numbers = items.numbers.values
        if len(numbers) > len(checked) and not checked.any():
            projections.check_all(items.table)
            checked[:] = True
        elif len(numbers) and not bool(checked.index_select(0, numbers).all()):
            picked, _ = distinct(numbers, len(checked))
            new = picked[~checked[picked]]
            projections.check(new, items.table)
            checked[new] = True
        return projections.rows


class _Projections:
    """Items of a table, and what an encoder made of them."""

    def __init__(self, encoder: RecurrentEncoder, weights: Tensor, count: int) -> None:
        # A tensor made in inference mode could not be written to outside of it.
        with torch.inference_mode(False):
            self.encoder = encoder
            self.weights = weights.clone()
            self.rows = torch.empty(count, encoder.gate_count)
            self._made_of = torch.full((count, encoder.input_size), math.nan)  # equals nothing

    def check_all(self, table: Tensor) -> None:
        """Make anew what was made of other vectors than the table has now."""
        if not torch.equal(self._made_of, table):
            self.check((self._made_of != table).any(1).nonzero().squeeze(1), table)

    def check(self, numbers: Tensor, table: Tensor) -> None:
        """Make anew what was made of other vectors than the table has at these numbers."""
        vectors = table.index_select(0, numbers)
        same = (self._made_of.index_select(0, numbers) == vectors).all(1)
        changed = numbers[~same]
        if len(changed):
            self.encoder.project_into(self.rows, changed, table)
            self._made_of[changed] = vectors[~same]


_in_use: ContextVar[_Call | None] = ContextVar("kept projections", default=None)
