"""Five decoders: two that are told of the source once, three that look at it at every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor, nn

from ...ragged import Ragged
from ..rows import pad, unpad
from .memory import CrossAttention
from .writing import DecoderConfig, EncodedSource, RecurrentDecoder, Seen, State

__all__ = [
    "DECODERS",
    "BahdanauDecoder",
    "ChoDecoder",
    "DecoderName",
    "LuongDecoder",
    "SutskeverDecoder",
    "XuDecoder",
]

DecoderName = Literal["sutskever", "cho", "luong", "bahdanau", "xu"]


class SutskeverDecoder(RecurrentDecoder):
    """Knows of the source what it starts from, of Sutskever et al. (2014)."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__(config, extra_size=0)

    def advance(self, state: State, given: Tensor) -> tuple[State, Seen]:
        """Move the state."""
        carries = self.stack.step(given, state.carries)
        return replace(state, carries=carries, step=state.step + 1), Seen(carries[-1][0])

    def force(self, state: State, given: Ragged) -> Seen:
        """Run along whole rows."""
        return Seen(self.stack.run(given, state.carries).values)


class ChoDecoder(RecurrentDecoder):
    """Reads the summary of the source at every step, of Cho et al. (2014)."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__(config, extra_size=config.memory_size)
        size = config.hidden_size + config.memory_size + config.embedding_size
        self.combine = nn.Linear(size, config.hidden_size)

    def start(self, source: EncodedSource) -> State:
        """Keep the summary for every step."""
        return replace(super().start(source), fed=source.summary)

    def advance(self, state: State, given: Tensor) -> tuple[State, Seen]:
        """Move the state by the token and the summary."""
        assert state.fed is not None
        carries = self.stack.step(given + self._extra(state.fed), state.carries)
        seen = torch.cat([carries[-1][0], state.fed], 1)
        return replace(state, carries=carries, step=state.step + 1), Seen(seen)

    def force(self, state: State, given: Ragged) -> Seen:
        """Run along whole rows, each with its summary."""
        assert state.fed is not None
        summed = given.values + self._extra(state.fed).index_select(0, given.row_ids)
        states = self.stack.run(given.with_values(summed), state.carries).values
        return Seen(torch.cat([states, state.fed.index_select(0, given.row_ids)], 1))

    def read_out(self, seen: Tensor, tokens: Tensor) -> Tensor:
        """tanh(W [state; summary; token])."""
        return torch.tanh(self.combine(torch.cat([seen, tokens], 1)))


class LuongDecoder(RecurrentDecoder):
    """Moves its state, then looks at the source with it, of Luong et al. (2015).

    With ``feeding``, what was seen at a step is read by the next one, so that it knows where
    others have looked; without, all steps look at once.
    """

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__(config, extra_size=config.hidden_size if config.feeding else 0)
        self.look = CrossAttention(config.hidden_size, config.memory_size, config.look)
        size = config.hidden_size + config.memory_size
        self.combine = nn.Linear(size, config.hidden_size, bias=False)

    def start(self, source: EncodedSource) -> State:
        """Prepare the memory; nothing was seen yet."""
        top = source.carries[-1][0]
        fed = torch.zeros_like(top) if self.config.feeding else None
        memory = self.look.prepare(source.memory)
        return State(source.carries, memory.lengths, memory, fed)

    def advance(self, state: State, given: Tensor) -> tuple[State, Seen]:
        """Move the state, look, and combine both."""
        if state.fed is not None:
            given = given + self._extra(state.fed)
        carries = self.stack.step(given, state.carries)
        top = carries[-1][0]
        found = _look(self.look, top, state)
        seen = self._combined(found.values, top)
        fed = None if state.fed is None else seen
        state = replace(state, carries=carries, fed=fed, step=state.step + 1)
        return state, replace(found, values=seen)

    def force(self, state: State, given: Ragged) -> Seen:
        """Run along whole rows first and look afterwards, where nothing is fed back."""
        if state.fed is not None:
            return super().force(state, given)
        assert state.memory is not None
        states = self.stack.run(given, state.carries)
        queries = pad(states)
        steps = torch.arange(queries.shape[1], device=queries.device)
        found = self.look(queries, state.memory, steps)
        contexts = unpad(found.contexts, given).values
        weights = unpad(found.weights, given).values
        chosen = None
        if found.chosen is not None:
            chosen = unpad(found.chosen[..., None], given).values[:, 0]
        return Seen(self._combined(contexts, states.values), weights, chosen)

    def _combined(self, contexts: Tensor, states: Tensor) -> Tensor:
        """tanh(W [context; state])."""
        return torch.tanh(self.combine(torch.cat([contexts, states], 1)))


class BahdanauDecoder(RecurrentDecoder):
    """Looks at the source with its previous state, then moves, of Bahdanau et al. (2015).

    That state has not read the token before; a look that is ``informed`` is told of it as well.
    """

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__(config, extra_size=config.memory_size)
        if config.informed:
            self.inform = nn.Linear(config.embedding_size, config.hidden_size, bias=False)
        self.look = CrossAttention(config.hidden_size, config.memory_size, config.look)
        size = config.hidden_size + config.memory_size + config.embedding_size
        self.combine = nn.Linear(size, config.hidden_size)

    def start(self, source: EncodedSource) -> State:
        """Prepare the memory."""
        memory = self.look.prepare(source.memory)
        return State(source.carries, memory.lengths, memory)

    def advance(self, state: State, given: Tensor) -> tuple[State, Seen]:
        """Look, then move the state by the token and what was found."""
        before = query = state.carries[-1][0]
        if self.config.informed:
            given, told = given.split([given.shape[1] - before.shape[1], before.shape[1]], 1)
            query = before + told
        found = _look(self.look, query, state)
        contexts = self.weigh(found.values, before)
        carries = self.stack.step(given + self._extra(contexts), state.carries)
        state = replace(state, carries=carries, step=state.step + 1)
        return state, replace(found, values=torch.cat([carries[-1][0], contexts], 1))

    def weigh(self, contexts: Tensor, before: Tensor) -> Tensor:
        """Say how much of what was found a step takes in, by its state before; here all."""
        return contexts

    def read_out(self, seen: Tensor, tokens: Tensor) -> Tensor:
        """tanh(W [state; context; token])."""
        return torch.tanh(self.combine(torch.cat([seen, tokens], 1)))

    def _given(self, tokens: Tensor) -> Tensor:
        """What tokens give the first layer's gates and, side by side with it, the look."""
        gates = super()._given(tokens)
        return torch.cat([gates, self.inform(tokens)], 1) if self.config.informed else gates


class XuDecoder(BahdanauDecoder):
    """Looks as Bahdanau's does, and takes in as much as its gate says, of Xu et al. (2015).

    A word that the picture says nothing about, such as "of", can be written with the gate closed.
    """

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__(config)
        self.gate = nn.Linear(config.hidden_size, 1)

    def weigh(self, contexts: Tensor, before: Tensor) -> Tensor:
        """sigmoid(w · state) times what was found."""
        return torch.sigmoid(self.gate(before)) * contexts


DECODERS: dict[DecoderName, Callable[[DecoderConfig], RecurrentDecoder]] = {
    "sutskever": SutskeverDecoder,
    "cho": ChoDecoder,
    "luong": LuongDecoder,
    "bahdanau": BahdanauDecoder,
    "xu": XuDecoder,
}
"""Every decoder by its name in the settings, made with its ``DecoderConfig``."""


def _look(look: CrossAttention, queries: Tensor, state: State) -> Seen:
    """Ask with one query for each hypothesis; return contexts and weights, (rows, ...)."""
    assert state.memory is not None
    sources = len(state.memory)
    asked = queries.view(sources, queries.shape[0] // max(sources, 1), queries.shape[1])
    steps = torch.full((1,), state.step, device=queries.device)
    found = look(asked, state.memory, steps)
    chosen = None if found.chosen is None else found.chosen.flatten(0, 1)
    return Seen(found.contexts.flatten(0, 1), found.weights.flatten(0, 1), chosen)
