"""BERT of Devlin et al. (2019): a Transformer encoder that is first taught to fill in gaps.

What enters is the sum of three vectors: of the piece, of its place, and of the segment, the first
text of the row or the second. Its blocks are those of ``nn/transformer.py``, with the norm after
each sum. So a folder of published weights can be read, and gives the same states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from ..config import checked_settings, require, require_counts, require_shares
from ..errors import DataError
from ..nn.dropout import drop
from ..nn.multihead import Scope
from ..nn.positions import row_positions
from ..nn.transformer import ACTIVATIONS, BlockConfig, EncoderBlock
from ..ragged import Ragged

__all__ = ["Bert", "BertConfig", "BertPretraining"]

_SPREAD = 0.02  # of fresh weights


@dataclass(frozen=True)
@checked_settings
class BertConfig:
    """How large the network is; the sizes suit some ten million words, as IMDB has.

    In training numbers are dropped as in our other blocks: in the feed-forward net too, and not
    among the weights of attention.
    """

    name: ClassVar[str] = "bert"

    hidden_size: int = 256  # of every piece in every layer
    layers: int = 4
    heads: int = 4
    feed_size: int = 1024  # of the net that sees each piece by itself
    longest: int = 512  # pieces of a row at most, [CLS] and [SEP] counted
    segments: int = 2  # texts that a row can hold
    dropout: float = 0.1
    activation: Literal["relu", "gelu"] = "gelu"
    eps: float = 1e-12  # what a norm adds to the variance
    pooler: bool = True  # whether a layer stands between the first state and what is made of it

    def __post_init__(self) -> None:
        require_counts(self, "hidden_size", "layers", "heads", "feed_size", "segments")
        require(self.layers <= 200, f"layers must be from 1 to 200, got {self.layers}")
        require(self.longest >= 3, f"longest must be at least 3, got {self.longest}")
        require_shares(self, "dropout")
        require(0 < self.eps < 1, f"eps must lie between 0 and 1, got {self.eps}")
        self.block  # noqa: B018 - it checks that the heads share the columns evenly

    @property
    def block(self) -> BlockConfig:
        """The shape of every block."""
        return BlockConfig(
            self.hidden_size,
            self.heads,
            self.feed_size,
            self.dropout,
            "post",
            self.activation,
            self.eps,
        )

    def build(self, *, vocab_size: int) -> Bert:
        """Make the network for a vocabulary, with fresh weights drawn from torch's seed."""
        return Bert(self, vocab_size=vocab_size)


class Bert(nn.Module):
    """Reads rows of pieces, each [CLS] text [SEP] or [CLS] text [SEP] other text [SEP]."""

    def __init__(self, config: BertConfig, *, vocab_size: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(vocab_size, config.hidden_size)
        self.places = nn.Embedding(config.longest, config.hidden_size)
        self.segments = nn.Embedding(config.segments, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, config.eps)
        self.blocks = nn.ModuleList(EncoderBlock(config.block) for _ in range(config.layers))
        self.pooler = None
        if config.pooler:
            self.pooler = nn.Linear(config.hidden_size, config.hidden_size)
        self.apply(draw_weights)

    @property
    def vocab_size(self) -> int:
        """How many different pieces it knows."""
        return self.embedding.num_embeddings

    def forward(self, ids: Ragged, segments: Tensor | None = None) -> Ragged:
        """Read rows of ids; return the state of every piece after the last layer, (items, size).

        ``segments``, (items,), says which text of its row each piece belongs to; None: the first.
        """
        return self.from_vectors(self.word_vectors(ids), segments)

    def word_vectors(self, ids: Ragged) -> Ragged:
        """The vectors of the pieces alone, (items, size), which know neither place nor segment."""
        return ids.with_values(self.embedding(ids.values))

    def from_vectors(self, vectors: Ragged, segments: Tensor | None = None) -> Ragged:
        """Read rows of vectors in place of the pieces' own."""
        states, scope = self._enter(vectors, segments), Scope(vectors)
        for block in self.blocks:
            states = block(states, scope)
        return vectors.with_values(states)

    def states(self, ids: Ragged, segments: Tensor | None = None) -> list[Ragged]:
        """What enters the first layer, and what leaves each: one more than there are layers."""
        states, scope = self._enter(self.word_vectors(ids), segments), Scope(ids)
        found = [ids.with_values(states)]
        for block in self.blocks:
            states = block(states, scope)
            found.append(ids.with_values(states))
        return found

    def weights(self, ids: Ragged, segments: Tensor | None = None) -> list[Ragged]:
        """Where every piece looks, layer by layer: a row a piece, (pairs, heads)."""
        scope = Scope(ids)
        found: list[Ragged] = []
        for block, entering in zip(self.blocks, self.states(ids, segments), strict=False):
            assert isinstance(block, EncoderBlock)
            found.append(block.weights(entering.values, scope))
        return found

    def pool(self, states: Ragged) -> Tensor:
        """Make one vector of each row, (rows, size): of the state of its first piece."""
        first = states.values.index_select(0, states.offsets[:-1])
        return first if self.pooler is None else torch.tanh(self.pooler(first))

    def _enter(self, vectors: Ragged, segments: Tensor | None) -> Tensor:
        longest = max(vectors.host_lengths, default=0)
        if longest > self.config.longest:
            raise DataError(
                f"a row has {longest:,} pieces, and this BERT reads {self.config.longest:,} at "
                "most; cut it into windows"
            )
        which = self.segments.weight[0] if segments is None else self.segments(segments)
        total = vectors.values + self.places(row_positions(vectors)) + which
        return drop(self.norm(total), self.config.dropout, self.training)


class BertPretraining(nn.Module):
    """BERT with what it is taught by: to name hidden pieces, and whether a text goes on."""

    def __init__(self, config: BertConfig, *, vocab_size: int) -> None:
        super().__init__()
        require(config.pooler, "whether a text goes on is asked of the pooler; set pooler=true")
        self.bert = Bert(config, vocab_size=vocab_size)
        size = config.hidden_size
        self.transform = nn.Linear(size, size)
        self.activation = ACTIVATIONS[config.activation]
        self.norm = nn.LayerNorm(size, config.eps)
        self.bias = nn.Parameter(torch.zeros(vocab_size))
        self.follows = nn.Linear(size, 2)  # it does, or it does not
        for part in (self.transform, self.follows):
            draw_weights(part)

    def name_pieces(self, states: Tensor) -> Tensor:
        """Score every piece for each state, (items, vocabulary); by the vectors that it reads."""
        made = self.norm(self.activation(self.transform(states)))
        return linear(made, self.bert.embedding.weight, self.bias)

    def judge_next(self, states: Ragged) -> Tensor:
        """Score for each row whether its second text follows the first, or not, (rows, 2)."""
        return self.follows(self.bert.pool(states))


def draw_weights(part: nn.Module) -> None:
    """Give one layer fresh weights, as the paper does; norms stay as they are."""
    if isinstance(part, nn.Linear | nn.Embedding):
        nn.init.normal_(part.weight, std=_SPREAD)
    if isinstance(part, nn.Linear):
        nn.init.zeros_(part.bias)
