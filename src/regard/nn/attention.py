"""How much each key matters to a query: the scores that attention weighs by.

``score(query, keys)`` gives one number a key, (items,), before any softmax. The query of a row
is its row of ``query``, (rows, query_size); a query of one row asks on behalf of every row.
Where the same keys are asked many times, ``prepare`` them once and ``compare`` each query, or
many queries at once with ``compare_padded``.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from ..ragged import Ragged
from .positions import row_positions, sinusoids

__all__ = [
    "SCORES",
    "AdditiveScore",
    "ConcatScore",
    "ContextScore",
    "DotScore",
    "GeneralDiagonalScore",
    "GeneralScore",
    "LocationScore",
    "ProductScore",
    "Score",
    "SumScore",
]


class Score(nn.Module):
    """Scores every key against the query of its row."""

    same_size = False
    """Whether the query must be as wide as the keys."""

    def __init__(self, query_size: int, key_size: int, hidden_size: int) -> None:
        super().__init__()

    def forward(self, query: Tensor, keys: Ragged) -> Tensor:
        """Return one score a key, (items,)."""
        return self.compare(query, self.prepare(keys))

    def prepare(self, keys: Ragged) -> Ragged:
        """Do to the keys whatever does not depend on the query."""
        return keys

    def ask(self, query: Tensor) -> Tensor:
        """Do to the query whatever does not depend on the keys."""
        return query

    def compare(self, query: Tensor, keys: Ragged) -> Tensor:
        """Score prepared keys against a query, (items,)."""
        raise NotImplementedError

    def compare_padded(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Score prepared keys against several queries of each row, (rows, queries, keys).

        Here the rows are padded: queries (rows, queries, query_size), keys (rows, keys, size).
        """
        raise NotImplementedError


class ProductScore(Score):
    """The product of what is made of the query with what is made of the key."""

    def compare(self, query: Tensor, keys: Ragged) -> Tensor:
        """Multiply with the query, (items,)."""
        return _dot(self.ask(query), keys)

    def compare_padded(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Multiply every query of a row with every key of it, (rows, queries, keys)."""
        return self.ask(queries) @ keys.transpose(1, 2)


class SumScore(Score):
    """v · tanh(the sum of what is made of the query and what is made of the key)."""

    def __init__(self, query_size: int, key_size: int, hidden_size: int) -> None:
        super().__init__(query_size, key_size, hidden_size)
        self.out = nn.Linear(hidden_size, 1, bias=False)

    def compare(self, query: Tensor, keys: Ragged) -> Tensor:
        """Add the query's part, squash, and sum up by v, (items,)."""
        mixed = torch.tanh(keys.values + _by_item(self.ask(query), keys))
        return self.out(mixed).squeeze(-1)

    def compare_padded(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Do so for every query and every key of a row, (rows, queries, keys)."""
        mixed = torch.tanh(keys.unsqueeze(1) + self.ask(queries).unsqueeze(2))
        return self.out(mixed).squeeze(-1)


class ContextScore(ProductScore):
    """query · tanh(U key + b), where Yang et al. (2016) learn the query: the context vector."""

    def __init__(self, query_size: int, key_size: int, hidden_size: int) -> None:
        super().__init__(query_size, key_size, hidden_size)
        self.key = nn.Linear(key_size, query_size)

    def prepare(self, keys: Ragged) -> Ragged:
        """tanh(U key + b)."""
        return keys.with_values(torch.tanh(self.key(keys.values)))


class DotScore(ProductScore):
    """query · key, of Luong et al. (2015)."""

    same_size = True


class GeneralScore(ProductScore):
    """query · W key with a full matrix W, of Luong et al. (2015)."""

    def __init__(self, query_size: int, key_size: int, hidden_size: int) -> None:
        super().__init__(query_size, key_size, hidden_size)
        self.key = nn.Linear(key_size, query_size, bias=False)

    def prepare(self, keys: Ragged) -> Ragged:
        """W key."""
        return keys.with_values(self.key(keys.values))


class GeneralDiagonalScore(ProductScore):
    """query · W key with a diagonal matrix W; it starts as the dot product."""

    same_size = True

    def __init__(self, query_size: int, key_size: int, hidden_size: int) -> None:
        super().__init__(query_size, key_size, hidden_size)
        self.diagonal = nn.Parameter(torch.ones(key_size))

    def ask(self, query: Tensor) -> Tensor:
        """Stretch the query, of which there are fewer than keys."""
        return query * self.diagonal


class AdditiveScore(SumScore):
    """v · tanh(W query + U key), of Bahdanau et al. (2015)."""

    def __init__(self, query_size: int, key_size: int, hidden_size: int) -> None:
        super().__init__(query_size, key_size, hidden_size)
        self.query = nn.Linear(query_size, hidden_size, bias=False)
        self.key = nn.Linear(key_size, hidden_size, bias=False)

    def prepare(self, keys: Ragged) -> Ragged:
        """U key."""
        return keys.with_values(self.key(keys.values))

    def ask(self, query: Tensor) -> Tensor:
        """W query."""
        return self.query(query)


class ConcatScore(SumScore):
    """v · tanh(W [query; key]), of Luong et al. (2015): additive with both matrices in one."""

    def __init__(self, query_size: int, key_size: int, hidden_size: int) -> None:
        super().__init__(query_size, key_size, hidden_size)
        self.query_size = query_size
        self.both = nn.Linear(query_size + key_size, hidden_size, bias=False)

    def prepare(self, keys: Ragged) -> Ragged:
        """The key's half of the product."""
        return keys.with_values(linear(keys.values, self.both.weight[:, self.query_size :]))

    def ask(self, query: Tensor) -> Tensor:
        """The query's half of the product."""
        return linear(query, self.both.weight[:, : self.query_size])


class LocationScore(ProductScore):
    """query · U position: where a key stands counts, and not what it is.

    Luong et al. (2015) give each of a fixed number of places a row of a matrix. Here a place is
    described by sinusoids, so that a row may have any length.
    """

    def __init__(self, query_size: int, key_size: int, hidden_size: int) -> None:
        super().__init__(query_size, key_size, hidden_size)
        self.place = nn.Linear(hidden_size, query_size, bias=False)

    def prepare(self, keys: Ragged) -> Ragged:
        """U position."""
        places = sinusoids(row_positions(keys), self.place.in_features)
        return keys.with_values(self.place(places.to(self.place.weight.dtype)))


SCORES: dict[str, type[Score]] = {
    "context": ContextScore,
    "dot": DotScore,
    "general": GeneralScore,
    "general_diag": GeneralDiagonalScore,
    "concat": ConcatScore,
    "additive": AdditiveScore,
    "location": LocationScore,
}
"""Every score by its name in the settings, made with (query_size, key_size, hidden_size)."""


def _by_item(query: Tensor, keys: Ragged) -> Tensor:
    """Give each key the query of its row; a query for all rows stays one."""
    return query if query.shape[0] == 1 else query.index_select(0, keys.row_ids)


def _dot(query: Tensor, keys: Ragged) -> Tensor:
    """Multiply each key with the query of its row, (items,)."""
    if query.shape[0] == 1:
        return keys.values @ query[0]  # no copy of the query for every key
    return torch.linalg.vecdot(keys.values, _by_item(query, keys))
