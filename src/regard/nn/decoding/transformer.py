"""The decoder of Vaswani et al. (2017): it looks back at what it wrote, and at the source.

Rows that are known are written at once. On its own it writes a token at a time, and what was made
of earlier tokens is kept: their keys and values are what each layer carries from step to step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from ...ragged import Ragged
from ..dropout import drop
from ..multihead import Scope
from ..positions import row_positions
from ..rows import pad
from ..transformer import (
    POSITIONS,
    Answers,
    BlockConfig,
    DecoderBlock,
    KeysAndValues,
    PositionsName,
    final_norm,
)
from .memory import Memory
from .writing import NextPiece, State, Written

__all__ = ["TransformerDecoder"]


class TransformerDecoder(nn.Module):
    """Blocks that look back and at the source, over vectors of tokens, and scores of every token.

    Where it looks is told by one layer, the last but one, on average over its heads: of all layers
    it follows translations best (Garg et al. 2019, "Jointly learning to align and translate").
    """

    def __init__(
        self,
        config: BlockConfig,
        *,
        vocab_size: int,
        layers: int,
        positions: PositionsName,
        tied: bool = True,
    ) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(vocab_size, config.size)
        nn.init.normal_(self.embedding.weight, std=config.size**-0.5)
        self.positions = POSITIONS[positions](config)
        self.blocks = nn.ModuleList(DecoderBlock(config) for _ in range(layers))
        self.norm = final_norm(config)
        self.told = max(layers - 2, 0)  # the layer that tells where it looks
        if tied:
            self.output = None
            self.bias = nn.Parameter(torch.zeros(vocab_size))
        else:
            self.output = nn.Linear(config.size, vocab_size)
            nn.init.xavier_uniform_(self.output.weight)

    def write(self, memory: Ragged, previous: Ragged, *, weigh: bool = False) -> Written:
        """Write rows whose tokens are known; ``previous`` has the token before each."""
        scope, over = Scope(previous, causal=True), Scope(previous, memory)
        places = row_positions(previous)
        states, turn = self._enter(previous.values, places), self.positions.turn(places)
        weights: Ragged | None = None
        for number, block in enumerate(self._blocks()):
            if weigh and number == self.told:
                looked = block.weights(states, scope, memory.values, over, turn)
                weights = looked.with_values(looked.values.mean(1))
            states = block(states, scope, memory.values, over, turn)
        return Written(self._logits(states), weights)

    def start(self, memory: Ragged) -> State:
        """Be ready to write about every source: what each layer will be answered is made once."""
        made = [block.cross.keys_and_values(memory.values) for block in self._blocks()]
        keys, values = (
            pad(memory.with_values(torch.stack(parts, 1))) for parts in zip(*made, strict=True)
        )  # (sources, longest, layers, heads, size)
        places = torch.arange(keys.shape[1], device=keys.device)
        absent = places >= memory.lengths[:, None, None]
        nothing = keys.new_zeros(len(memory), 0, *keys.shape[3:])
        return State(
            carries=((nothing, nothing),) * len(self.blocks),
            lengths=memory.lengths,
            memory=Memory(values, keys, memory.lengths, absent),
        )

    def step(self, state: State, previous: Tensor) -> NextPiece:
        """Read the token before, (rows,), and write the next."""
        memory = state.memory
        assert memory is not None  # ``start`` gives one
        place = torch.full_like(previous, state.step)
        states, turn = self._enter(previous, place), self.positions.turn(place)
        carries: list[KeysAndValues] = []
        weights: Tensor | None = None
        for number, block in enumerate(self._blocks()):
            keys, values = state.carries[number]
            source = Answers(
                memory.keys[:, :, number], memory.values[:, :, number], memory.absent[:, None]
            )
            made = block.step(states, (keys, values), source, turn)
            states = made.items
            carries.append(made.kept)
            weights = made.weights.mean(1) if number == self.told else weights
        after = replace(state, carries=tuple(carries), step=state.step + 1)
        return NextPiece(after, self._logits(states), weights)

    def _enter(self, ids: Tensor, places: Tensor) -> Tensor:
        """Vectors of tokens that know their places."""
        vectors = self.embedding(ids) * math.sqrt(self.config.size)
        return drop(self.positions(vectors, places), self.config.dropout, self.training)

    def _logits(self, states: Tensor) -> Tensor:
        """Score every token of the vocabulary, (rows, vocab)."""
        states = self.norm(states)
        if self.output is None:
            return linear(states, self.embedding.weight, self.bias)
        return self.output(states)

    def _blocks(self) -> Iterator[DecoderBlock]:
        for block in self.blocks:
            assert isinstance(block, DecoderBlock)
            yield block
