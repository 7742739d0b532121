"""What all recurrent decoders share: writing a token at a time, or whole rows that are known.

A decoder keeps nothing between calls. Where it is lies in a ``State``, which a search may cut,
reorder or follow several ways.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from ...ragged import Ragged
from ..dropout import drop
from ..packing import Packing
from ..recurrence import CellName
from .memory import LookConfig, Memory, weight_rows
from .stacks import Carries, RecurrentStack

__all__ = [
    "DecoderConfig",
    "EncodedSource",
    "NextPiece",
    "RecurrentDecoder",
    "Seen",
    "State",
    "Steps",
    "Written",
    "write_freely",
]


@dataclass(frozen=True)
class DecoderConfig:
    """How large a decoder is, and how it looks at its memory."""

    vocab_size: int
    embedding_size: int
    hidden_size: int
    memory_size: int  # of the items to look at, and of their summary
    cell: CellName = "gru"
    layers: int = 1
    dropout: float = 0.0
    tied: bool = False  # tokens are written by the same vectors that they are read by
    feeding: bool = True  # what was seen at a step is read at the next (Luong's decoder)
    informed: bool = False  # a look knows the token before (Bahdanau's and Xu's; Luong's always)
    look: LookConfig = field(default_factory=LookConfig)


@dataclass(frozen=True, slots=True, eq=False)
class EncodedSource:
    """What a decoder is told of each source: a row of items, a summary, and where to start."""

    memory: Ragged  # (items, memory size)
    summary: Tensor  # (sources, memory size)
    carries: Carries


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Where a decoder is: a row for each hypothesis, those about the same source side by side."""

    carries: Carries
    lengths: Tensor  # (sources,), items that weights are given to; zeros where none are
    memory: Memory | None = None
    fed: Tensor | None = None  # (rows, size), what a step reads beside the token before it
    step: int = 0

    def take(self, rows: Tensor, sources: Tensor | None = None) -> State:
        """Follow the hypotheses of the given rows, about the given sources or still about all."""
        carries = tuple(
            tuple(part.index_select(0, rows) for part in carry) for carry in self.carries
        )
        fed = None if self.fed is None else self.fed.index_select(0, rows)
        if sources is None:
            return replace(self, carries=carries, fed=fed)
        memory = None if self.memory is None else self.memory.taken(sources)
        lengths = self.lengths.index_select(0, sources)
        return replace(self, carries=carries, fed=fed, memory=memory, lengths=lengths)

    def first(self, count: int) -> State:
        """Follow the first hypotheses alone, where each source has one."""
        if count == self.lengths.shape[0]:
            return self
        carries = tuple(tuple(part[:count] for part in carry) for carry in self.carries)
        fed = None if self.fed is None else self.fed[:count]
        memory = None if self.memory is None else self.memory.first(count)
        return State(carries, self.lengths[:count], memory, fed, self.step)


@dataclass(frozen=True, slots=True, eq=False)
class NextPiece:
    """One step of every hypothesis."""

    state: State
    logits: Tensor  # (rows, vocab)
    weights: Tensor | None  # (rows, longest), each row cut off by the length of its source
    chosen: Tensor | None = None  # (rows,), the item that was seen where one alone is


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """Whole rows: the logits of every step, and a row of weights for each."""

    logits: Tensor  # (items, vocab)
    weights: Ragged | None
    chosen: Tensor | None = None  # (items,), the item of the source that each step saw


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What a step knows when it comes to write, and where it looked."""

    values: Tensor  # (rows, size)
    weights: Tensor | None = None  # (rows, longest)
    chosen: Tensor | None = None  # (rows,)


class Steps(Protocol):
    """A decoder that writes a token at a time."""

    def step(self, state: State, previous: Tensor) -> NextPiece:
        """Read the token before, (rows,), and write the next."""
        ...


class RecurrentDecoder(nn.Module):
    """Reads the token before, moves its state, and writes a token.

    A kind of decoder says what a step reads beside the token, ``extra_size`` numbers, and how
    it moves, ``advance``; where no step waits for another it also knows a quicker ``force``.
    """

    def __init__(self, config: DecoderConfig, *, extra_size: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.embedding_size)
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
        self.stack = RecurrentStack(
            config.embedding_size + extra_size,
            config.hidden_size,
            cell=config.cell,
            layers=config.layers,
            dropout=config.dropout,
        )
        if config.tied:
            self.narrow = nn.Linear(config.hidden_size, config.embedding_size, bias=False)
            self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        else:
            self.output = nn.Linear(config.hidden_size, config.vocab_size)

    def start(self, source: EncodedSource) -> State:
        """Be ready to write about every source."""
        nothing = torch.zeros_like(source.memory.lengths)
        return State(source.carries, nothing)

    def step(self, state: State, previous: Tensor) -> NextPiece:
        """Read the token before, (rows,), and write the next."""
        tokens = self._embedded(previous)
        state, seen = self.advance(state, self._given(tokens))
        logits = self.logits(self.read_out(seen.values, tokens))
        return NextPiece(state, logits, seen.weights, seen.chosen)

    def write(self, state: State, previous: Ragged, forcing: float = 1.0) -> Written:
        """Write rows whose tokens are known; ``previous`` has the token before each.

        ``forcing`` is the probability that a step reads the true token before it, and not the
        one that the decoder thought likeliest; the first token of a row is always read.
        """
        if forcing < 1:
            return write_freely(self, state, previous, forcing)
        tokens = previous.with_values(self._embedded(previous.values))
        seen = self.force(state, tokens.with_values(self._given(tokens.values)))
        logits = self.logits(self.read_out(seen.values, tokens.values))
        return Written(logits, _by_step(seen.weights, state, previous), seen.chosen)

    def advance(self, state: State, given: Tensor) -> tuple[State, Seen]:
        """Make a step with what the token gives it."""
        raise NotImplementedError

    def force(self, state: State, given: Ragged) -> Seen:
        """Make the steps of whole rows, one after the other; the items are those of the rows."""
        packing = Packing(given)
        state = state.take(packing.order, packing.order)
        pieces = given.values.index_select(0, packing.source).split(packing.sizes)
        made: list[Seen] = []
        for piece in pieces:
            state, seen = self.advance(state.first(piece.shape[0]), piece)
            made.append(seen)
        return _joined(made, packing) if made else self.advance(state, given.values)[1]

    def read_out(self, seen: Tensor, tokens: Tensor) -> Tensor:
        """Make what is written from, (rows, hidden), of what was seen and of the token before."""
        return seen

    def logits(self, readout: Tensor) -> Tensor:
        """Score every token of the vocabulary, (rows, vocab)."""
        kept = drop(readout, self.config.dropout, self.training)
        if self.config.tied:
            return linear(self.narrow(kept), self.embedding.weight, self.bias)
        return self.output(kept)

    def _embedded(self, ids: Tensor) -> Tensor:
        return drop(self.embedding(ids), self.config.dropout, self.training)

    def _given(self, tokens: Tensor) -> Tensor:
        """What tokens give a step: here what they give the first layer's gates."""
        return self.stack.project(tokens, slice(self.config.embedding_size))

    def _extra(self, values: Tensor) -> Tensor:
        """What else a step reads gives the first layer's gates."""
        return self.stack.project(values, slice(self.config.embedding_size, None), bias=False)


def write_freely(decoder: Steps, state: State, previous: Ragged, forcing: float) -> Written:
    """Write step by step, each told either the true token before it or the decoder's own.

    ``forcing`` is the probability of the true one; the first token of a row is always read.
    """
    packing, begun = Packing(previous), state
    state = state.take(packing.order, packing.order)
    made: list[Seen] = []
    guessed: Tensor | None = None
    for true in previous.values.index_select(0, packing.source).split(packing.sizes):
        read = true
        if guessed is not None:
            told = torch.rand(true.shape, device=true.device) < forcing
            read = torch.where(told, true, guessed[: true.shape[0]])
        step = decoder.step(state.first(true.shape[0]), read)
        state, guessed = step.state, step.logits.detach().argmax(1)
        made.append(Seen(step.logits, step.weights, step.chosen))
    if not made:
        step = decoder.step(state.first(0), previous.values)
        made.append(Seen(step.logits, step.weights))
    seen = _joined(made, packing)
    return Written(seen.values, _by_step(seen.weights, begun, previous), seen.chosen)


def _joined(made: list[Seen], packing: Packing) -> Seen:
    """Put the steps of all rows together again, row by row."""
    values = torch.cat([seen.values for seen in made]).index_select(0, packing.place)
    weights = [seen.weights for seen in made if seen.weights is not None]
    chosen = [seen.chosen for seen in made if seen.chosen is not None]
    return Seen(
        values,
        torch.cat(weights).index_select(0, packing.place) if weights else None,
        torch.cat(chosen).index_select(0, packing.place) if chosen else None,
    )


def _by_step(weights: Tensor | None, state: State, rows: Ragged) -> Ragged | None:
    if weights is None:
        return None
    return weight_rows(weights, state.lengths.index_select(0, rows.row_ids))
