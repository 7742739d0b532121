"""The Transformer of Vaswani et al. (2017) from its parts: positions, blocks, and stacks of them.

Rows are stored end to end: what is done to each item by itself, which is most of the work, is one
product for all rows, and nothing is padded for it. Attention alone needs to know where rows begin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, gelu, relu

from ..config import require, require_one_of
from ..errors import DataError
from ..ragged import Ragged
from .dropout import drop
from .multihead import MultiHeadAttention, Scope, Turn, attend_by_weights
from .positions import row_positions, sinusoids

__all__ = [
    "ACTIVATIONS",
    "POSITIONS",
    "Added",
    "Answers",
    "BlockConfig",
    "DecoderBlock",
    "EncoderBlock",
    "EncoderStack",
    "KeysAndValues",
    "LearnedPositions",
    "NormName",
    "Positions",
    "PositionsName",
    "RotaryPositions",
    "SinusoidalPositions",
    "TransformerEncoder",
    "final_norm",
]

ActivationName = Literal["relu", "gelu"]
NormName = Literal["pre", "post"]
PositionsName = Literal["sinusoidal", "learned", "rotary"]

ACTIVATIONS: dict[ActivationName, Callable[[Tensor], Tensor]] = {"relu": relu, "gelu": gelu}
"""What stands between the two layers of a feed-forward net, by its name in the settings."""

LONGEST_LEARNED = 1024
"""How many places have a learned vector."""


@dataclass(frozen=True)
class BlockConfig:
    """The shape of every block of a stack."""

    size: int
    heads: int
    feed_size: int
    dropout: float = 0.0
    norm: NormName = "pre"  # pre: of what enters a part (Xiong et al. 2020); post: of the sum
    activation: ActivationName = "relu"
    eps: float = 1e-5  # what a norm adds to the variance, against dividing by nothing
    missed: float = 0.0  # share of a source's items whose values a head overlooks in training

    def __post_init__(self) -> None:
        require(
            self.heads >= 1 and self.size % self.heads == 0,
            f"{self.heads} heads cannot share {self.size} columns evenly; choose another number",
        )
        require_one_of("norm", self.norm, ("pre", "post"))
        require_one_of("activation", self.activation, ACTIVATIONS)

    @property
    def head_size(self) -> int:
        """How wide one head is."""
        return self.size // self.heads


class Positions(nn.Module):
    """Tells items where they stand: by a vector that is added, or by how their heads are turned."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.check(config)
        self.config = config

    @staticmethod
    def check(config: BlockConfig) -> None:
        """Raise ``ConfigError`` where blocks of this shape cannot be told positions so."""

    def forward(self, items: Tensor, positions: Tensor) -> Tensor:
        """Return items, (items, size), that know their positions, (items,)."""
        return items

    def turn(self, positions: Tensor) -> Turn | None:
        """By what queries and keys are turned at the positions, (items,)."""
        return None


class SinusoidalPositions(Positions):
    """Adds sines and cosines of falling frequency; there is no last position."""

    def forward(self, items: Tensor, positions: Tensor) -> Tensor:
        """Add the waves at every item's place."""
        return items + _looked_up(positions, self.config.size).to(items.dtype)


class LearnedPositions(Positions):
    """Adds a vector that is learned for every place; there is a last one."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__(config)
        self.places = nn.Embedding(LONGEST_LEARNED, config.size)
        nn.init.normal_(self.places.weight, std=0.02)

    def forward(self, items: Tensor, positions: Tensor) -> Tensor:
        """Add the vector of every item's place."""
        last = int(positions.max()) if len(positions) else 0
        if last >= LONGEST_LEARNED:
            raise DataError(
                f"a text of {last + 1:,} items is longer than the {LONGEST_LEARNED:,} learned "
                "positions; train with network.positions sinusoidal or rotary, which have no end"
            )
        return items + self.places(positions).to(items.dtype)


class RotaryPositions(Positions):
    """Turns queries and keys, so that how they meet depends on how far apart they stand."""

    @staticmethod
    def check(config: BlockConfig) -> None:
        """Heads are turned by halves."""
        require(
            config.head_size % 2 == 0,
            f"rotary positions need heads of an even size, got {config.head_size}",
        )

    def turn(self, positions: Tensor) -> Turn:
        """The angles at every item's place."""
        return Turn.to(positions, self.config.head_size)


POSITIONS: dict[PositionsName, type[Positions]] = {
    "sinusoidal": SinusoidalPositions,
    "learned": LearnedPositions,
    "rotary": RotaryPositions,
}
"""Every way to tell positions by its name in the settings, made with the shape of a block."""


def _looked_up(positions: Tensor, size: int) -> Tensor:
    """The waves at positions, (items, size): those of each place are computed once."""
    if positions.is_cuda or not len(positions):  # which would have to say how many places there are
        return sinusoids(positions, size)
    places = torch.arange(int(positions.max()) + 1)
    return embedding(positions, sinusoids(places, size))


class Residual(nn.Module):
    """The sum of items and of what a part makes of them, with a norm in one of two places.

    After: norm(x + part(x)), as in the paper. Before: x + part(norm(x)), which also learns deep
    stacks without a warm-up.
    """

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.size, config.eps)
        self.before = config.norm == "pre"
        self.dropout = config.dropout

    def enter(self, items: Tensor) -> Tensor:
        """What the part is given."""
        return self.norm(items) if self.before else items

    def forward(self, items: Tensor, made: Tensor) -> Tensor:
        """Add what the part made of the items."""
        both = items + drop(made, self.dropout, self.training)
        return both if self.before else self.norm(both)


class FeedForward(nn.Module):
    """Two layers that see each item by itself."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.widen = nn.Linear(config.size, config.feed_size)
        self.narrow = nn.Linear(config.feed_size, config.size)
        self.activation = ACTIVATIONS[config.activation]
        self.dropout = config.dropout
        for layer in (self.widen, self.narrow):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, items: Tensor) -> Tensor:
        """W2 activation(W1 x)."""
        return self.narrow(drop(self.activation(self.widen(items)), self.dropout, self.training))


class EncoderBlock(nn.Module):
    """Every item looks at all of its row, then at itself."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config.size, config.heads)
        self.attended = Residual(config)
        self.feed = FeedForward(config)
        self.fed = Residual(config)

    def forward(self, items: Tensor, scope: Scope, turn: Turn | None = None) -> Tensor:
        """Read items, (items, size)."""
        asking = self.attended.enter(items)
        items = self.attended(items, self.attention(asking, scope, turn=turn))
        return self.fed(items, self.feed(self.fed.enter(items)))

    def weights(self, items: Tensor, scope: Scope, turn: Turn | None = None) -> Ragged:
        """How much each item looks at each other, head by head: a row an item, (pairs, heads)."""
        return self.attention.weights(self.attended.enter(items), scope, turn=turn)


KeysAndValues = tuple[Tensor, Tensor]
"""What the items of rows answer to, and what they give, each (rows, items, heads, size)."""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What one layer is answered by every source, filled up to the longest."""

    keys: Tensor  # (sources, longest, heads, size)
    values: Tensor
    absent: Tensor  # (sources, 1, 1, longest), whether a place is beyond the end of its source


@dataclass(frozen=True, slots=True, eq=False)
class Added:
    """What a block made of one more item of every row."""

    items: Tensor  # (rows, size)
    kept: KeysAndValues  # of all items so far
    weights: Tensor  # (rows, heads, longest), where it looked in its source


class DecoderBlock(nn.Module):
    """Every item looks at those before it, then at a source, then at itself."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config.size, config.heads)
        self.attended = Residual(config)
        self.cross = MultiHeadAttention(config.size, config.heads, missed=config.missed)
        self.crossed = Residual(config)
        self.feed = FeedForward(config)
        self.fed = Residual(config)

    def forward(
        self, items: Tensor, scope: Scope, source: Tensor, over: Scope, turn: Turn | None = None
    ) -> Tensor:
        """Read items, (items, size), within a causal scope, and a source, (source items, size)."""
        items = self.look_back(items, scope, turn)
        items = self.crossed(items, self.cross(self.crossed.enter(items), over, source=source))
        return self.fed(items, self.feed(self.fed.enter(items)))

    def weights(
        self, items: Tensor, scope: Scope, source: Tensor, over: Scope, turn: Turn | None = None
    ) -> Ragged:
        """How much each item looks at each item of its source, head by head."""
        asking = self.crossed.enter(self.look_back(items, scope, turn))
        return self.cross.weights(asking, over, source=source)

    def step(self, items: Tensor, kept: KeysAndValues, source: Answers, turn: Turn | None) -> Added:
        """Read one more item of every row, (rows, size), after those of which keys are kept.

        Rows about the same source stand side by side.
        """
        asking = self.attended.enter(items)
        query, key, value = (part[:, None] for part in self.attention.project(asking, turn=turn))
        keys, values = torch.cat([kept[0], key], 1), torch.cat([kept[1], value], 1)
        found, _ = attend_by_weights(query, keys, values)
        items = self.attended(items, self.attention.mix(found[:, 0]))
        query = self.cross.queries(self.crossed.enter(items))
        rows = len(items) // max(len(source.keys), 1)  # about each source
        query = query.unflatten(0, (len(source.keys), rows))
        found, weights = attend_by_weights(query, source.keys, source.values, source.absent)
        items = self.crossed(items, self.cross.mix(found.flatten(0, 1)))
        items = self.fed(items, self.feed(self.fed.enter(items)))
        return Added(items, (keys, values), weights.transpose(1, 2).flatten(0, 1))

    def look_back(self, items: Tensor, scope: Scope, turn: Turn | None = None) -> Tensor:
        """Read what stands before each item: the first third of the block."""
        asking = self.attended.enter(items)
        return self.attended(items, self.attention(asking, scope, turn=turn))


class EncoderStack(nn.Module):
    """Blocks on top of each other; before them positions, and after them a norm where it is due."""

    def __init__(self, config: BlockConfig, *, layers: int, positions: PositionsName) -> None:
        super().__init__()
        self.config = config
        self.positions = POSITIONS[positions](config)
        self.blocks = nn.ModuleList(EncoderBlock(config) for _ in range(layers))
        self.norm = final_norm(config)

    def forward(self, items: Ragged) -> Ragged:
        """Read rows of vectors, (items, size)."""
        scope, places = Scope(items), row_positions(items)
        states, turn = self._enter(items.values, places), self.positions.turn(places)
        for block in self.blocks:
            states = block(states, scope, turn)
        return items.with_values(self.norm(states))

    def weights(self, items: Ragged) -> list[Ragged]:
        """Where every item looks, layer by layer: a row an item, (pairs, heads)."""
        scope, places = Scope(items), row_positions(items)
        states, turn = self._enter(items.values, places), self.positions.turn(places)
        found: list[Ragged] = []
        for block in self.blocks:
            assert isinstance(block, EncoderBlock)
            found.append(block.weights(states, scope, turn))
            states = block(states, scope, turn)
        return found

    def _enter(self, items: Tensor, places: Tensor) -> Tensor:
        return drop(self.positions(items, places), self.config.dropout, self.training)


def final_norm(config: BlockConfig) -> nn.Module:
    """What comes after the last block: a norm, where the blocks have theirs before their parts."""
    return nn.LayerNorm(config.size, config.eps) if config.norm == "pre" else nn.Identity()


class TransformerEncoder(nn.Module):
    """A stack as an encoder of documents, for vectors of any size.

    Vectors are brought to the size of the stack and to a common length first, so that neither
    words nor positions drown the other, however small the vectors of words begin.
    """

    def __init__(
        self, size: int, config: BlockConfig, *, layers: int, positions: PositionsName
    ) -> None:
        super().__init__()
        self.input_size, self.output_size = size, config.size
        self.enter = nn.Sequential(nn.Linear(size, config.size), nn.LayerNorm(config.size))
        self.stack = EncoderStack(config, layers=layers, positions=positions)

    def forward(self, items: Ragged) -> Ragged:
        """Read rows of vectors, (items, size)."""
        return self.stack(items.with_values(self.enter(items.values)))

    def from_table(self, table: Tensor, index: Ragged) -> Ragged:
        """Read rows of numbers that pick vectors from a table, (distinct, size)."""
        return self.stack(index.with_values(embedding(index.values, self.enter(table))))

    def weights(self, items: Ragged) -> list[Ragged]:
        """Where every item looks, layer by layer: a row an item, (pairs, heads)."""
        return self.stack.weights(items.with_values(self.enter(items.values)))
