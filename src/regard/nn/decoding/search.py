"""Letting a decoder write on its own: greedily, at random, or following several ways at once.

All sources of a batch are written about together, and each leaves the batch as soon as it is
done; what is written about one does not depend on the others. What was written at each step is
remembered, and every hypothesis is read from it, going back.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor

__all__ = ["Ends", "Hypothesis", "Trails", "beam_search", "greedy_search", "sample"]

S = TypeVar("S", bound="SearchState")
Made = TypeVar("Made", bound="SearchState", covariant=True)


class SearchState(Protocol):
    """Where a decoder is: a row for each hypothesis, those about the same source side by side."""

    @property
    def lengths(self) -> Tensor:
        """How many items of each source are given weights, (sources,)."""
        ...

    def take(self: S, rows: Tensor, sources: Tensor | None = None) -> S:
        """Follow the hypotheses of the given rows, about the given sources or still about all."""
        ...


class SearchStep(Protocol[Made]):
    """One step of every hypothesis."""

    @property
    def state(self) -> Made:
        """Where the decoder is now."""
        ...

    @property
    def logits(self) -> Tensor:
        """The score of every token, (rows, vocab)."""
        ...

    @property
    def weights(self) -> Tensor | None:
        """Where it looked, (rows, longest)."""
        ...


class Decoder(Protocol[S]):
    """All that a search needs of a decoder."""

    def step(self, state: S, previous: Tensor) -> SearchStep[S]:
        """Read the token before, (rows,), and write the next."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Where writing begins and where it ends."""

    start: int  # the token before the first
    end: int  # the token after the last
    limits: Tensor  # (sources,), tokens to write at most, the end counted


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """One thing that was written about a source, on the CPU."""

    ids: Tensor  # (steps,), the end token counted where it was written
    score: float  # what hypotheses about a source are ranked by
    log_probability: float
    ended: bool  # whether the end token was written, or the limit came first
    weights: Tensor | None  # (steps, items of the source); each row sums to one


@torch.no_grad()
def greedy_search(decoder: Decoder[S], state: S, ends: Ends) -> list[Hypothesis]:
    """Write the likeliest token at every step; return one hypothesis a source."""
    return _one_each(decoder, state, ends, lambda logits, _, __: logits.argmax(1))


@torch.no_grad()
def sample(
    decoder: Decoder[S], state: S, ends: Ends, *, seed: int, temperature: float = 1.0
) -> list[Hypothesis]:
    """Write every token as often as it is likely; return one hypothesis a source.

    Below one the ``temperature`` makes likely tokens likelier. The draws of a source come from
    the seed and its place in the batch, and do not depend on when others end.
    """
    most = max(ends.limits.tolist(), default=0)
    random = torch.Generator().manual_seed(seed)
    draws = torch.rand(len(ends.limits), most, generator=random, dtype=torch.float64)

    def choose(logits: Tensor, sources: Tensor, step: int) -> Tensor:
        heights = torch.softmax(logits.double() / temperature, 1).cumsum(1)
        drawn = draws[:, step].to(logits.device).index_select(0, sources)[:, None]
        found = torch.searchsorted(heights, drawn * heights[:, -1:], right=True)
        return found.squeeze(1).clamp(max=logits.shape[1] - 1)

    return _one_each(decoder, state, ends, choose)


@torch.no_grad()
def beam_search(
    decoder: Decoder[S], state: S, ends: Ends, *, width: int, length_power: float = 1.0
) -> list[list[Hypothesis]]:
    """Follow the likeliest hypotheses side by side; return the best of each source, best first.

    A hypothesis is scored by the sum of its tokens' log-probabilities divided by its length to
    the ``length_power``. A source is done when ``width`` hypotheses about it have ended and the
    best of them scores higher than what is still open; where its limit comes first, those still
    open are ranked behind them.
    """
    trails = _Beam(decoder, state, ends, width, length_power).run()
    return [found[:width] for found in trails.hypotheses(length_power=length_power)]


def _one_each(
    decoder: Decoder[S], state: S, ends: Ends, choose: Callable[[Tensor, Tensor, int], Tensor]
) -> list[Hypothesis]:
    """Follow one hypothesis a source, by tokens chosen from (logits, sources, step)."""
    trails = Trails(state.lengths)
    sources = torch.nonzero(ends.limits > 0).squeeze(1)
    state, origins = state.take(sources, sources), sources
    previous = torch.full_like(sources, ends.start)
    totals = torch.zeros(len(sources), device=sources.device)
    while len(sources):
        step = decoder.step(state, previous)
        previous = choose(step.logits, sources, trails.steps)
        totals = totals + _log_probability(step.logits, previous)
        rows = torch.arange(len(sources), device=sources.device)
        trails.add(origins, previous, rows, weights=step.weights)
        ended = previous == ends.end
        done = ended | (ends.limits.index_select(0, sources) <= trails.steps)
        trails.finish(rows[done], sources=sources[done], totals=totals[done], ended=ended[done])
        origins = rows[~done]
        state = step.state
        if len(origins) < len(sources):
            state = state.take(origins, origins)
            sources, totals, previous = sources[~done], totals[~done], previous[~done]
    return [found[0] if found else _NOTHING for found in trails.hypotheses()]


_NOTHING = Hypothesis(torch.zeros(0, dtype=torch.int64), 0.0, 0.0, ended=False, weights=None)
"""What is written where nothing may be."""


def _log_probability(logits: Tensor, tokens: Tensor) -> Tensor:
    """How likely each row's token was, (rows,)."""
    chosen = logits.gather(1, tokens[:, None]).squeeze(1)
    return chosen.float() - logits.float().logsumexp(1)


class _Beam(Generic[S]):
    """A beam search under way: so many rows for every source that is not done."""

    def __init__(
        self, decoder: Decoder[S], state: S, ends: Ends, width: int, length_power: float
    ) -> None:
        self.decoder, self.ends, self.width, self.length_power = decoder, ends, width, length_power
        self.trails = Trails(state.lengths)
        self.sources = torch.nonzero(ends.limits > 0).squeeze(1)
        self.state = state.take(self.sources, self.sources)
        self.origins = self.sources
        self.previous = torch.full_like(self.sources, ends.start)
        self.totals = torch.zeros(len(self.sources), 1, device=self.sources.device)
        self.missing = torch.full_like(self.sources, width)  # hypotheses that have yet to end
        self.best = torch.full_like(self.totals[:, 0], -math.inf)  # score of those that ended

    def run(self) -> Trails:
        """Write until every source is done."""
        while len(self.sources):
            self._step()
        return self.trails

    def _step(self) -> None:
        step = self.decoder.step(self.state, self.previous)
        found = self._candidates(step.logits)
        self.trails.add(
            self.origins, found.tokens.flatten(), found.rows.flatten(), weights=step.weights
        )
        ranks = torch.arange(found.tokens.shape[1], device=self.sources.device)
        ended = found.tokens == self.ends.end
        # An end that is not among the best is no better than going on.
        accepted = ended & (ranks < self.width) & found.totals.isfinite()
        self._finish(accepted, found, ended=True)
        self.missing = self.missing - accepted.sum(1)
        scale = self.trails.steps**self.length_power
        scores = found.totals.masked_fill(~accepted, -math.inf) / scale
        self.best = torch.maximum(self.best, scores.amax(1))
        last = self.ends.limits.index_select(0, self.sources) <= self.trails.steps
        going = found.totals.masked_fill(ended, -math.inf)
        kept = going.topk(min(self.width, going.shape[1]), 1)
        still = torch.zeros_like(ended).scatter(1, kept.indices, kept.values.isfinite())
        self._finish(still & last[:, None], found, ended=False)
        # A few ends that are hardly likely must not stop what is far likelier and goes on.
        enough = (self.missing <= 0) & (self.best > kept.values[:, 0] / scale)
        done = last | enough | ~still.any(1)
        self._go_on(step.state, found, kept.indices, torch.nonzero(~done).squeeze(1))
        self.totals = kept.values[~done]

    def _candidates(self, logits: Tensor) -> _Candidates:
        """The likeliest ways to go on, of each source, best first.

        Twice as many as are followed: as each row can end in one way only, at least one in two
        of them does not end.
        """
        sources, width = self.totals.shape
        each = logits.float().topk(min(2 * self.width, logits.shape[1]), 1)
        gained = each.values - logits.float().logsumexp(1, keepdim=True)
        totals = (self.totals.view(-1, 1) + gained).view(sources, -1)
        best = totals.topk(min(2 * self.width, totals.shape[1]), 1)
        tokens = each.indices.view(sources, -1).gather(1, best.indices)
        bases = torch.arange(sources, device=logits.device)[:, None] * width
        return _Candidates(tokens, bases + best.indices // each.indices.shape[1], best.values)

    def _finish(self, which: Tensor, found: _Candidates, *, ended: bool) -> None:
        nodes = torch.nonzero(which.flatten()).squeeze(1)
        sources = self.sources[nodes // which.shape[1]]
        totals = found.totals.flatten()[nodes]
        flags = torch.full_like(nodes, ended, dtype=torch.bool)
        self.trails.finish(nodes, sources=sources, totals=totals, ended=flags)

    def _go_on(self, state: S, found: _Candidates, kept: Tensor, going: Tensor) -> None:
        """Follow the kept candidates of the sources that are not done."""
        all_go_on = len(going) == len(self.sources)
        places = kept[going]
        rows = found.rows[going].gather(1, places).flatten()
        self.state = state.take(rows, None if all_go_on else going)
        self.previous = found.tokens[going].gather(1, places).flatten()
        self.origins = (going[:, None] * found.tokens.shape[1] + places).flatten()
        self.sources, self.missing = self.sources[going], self.missing[going]
        self.best = self.best[going]


@dataclass(frozen=True, slots=True, eq=False)
class _Candidates:
    """Ways to go on, (sources, ways): a token, the row it grows from, and how likely it is."""

    tokens: Tensor
    rows: Tensor
    totals: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class _Moment:
    """One step: the rows that were followed, and the nodes that grew from them."""

    origins: Tensor  # (rows,), the node of the step before that each row is
    tokens: Tensor  # (nodes,)
    rows: Tensor  # (nodes,), the row each node grew from
    weights: Tensor | None  # (rows, longest)


@dataclass(frozen=True, slots=True, eq=False)
class _Finish:
    """Nodes where hypotheses came to their end at a step."""

    step: int
    nodes: Tensor
    sources: Tensor
    log_probabilities: Tensor
    ended: Tensor


class Trails:
    """Remembers every step of a search; nothing is copied from hypothesis to hypothesis."""

    def __init__(self, lengths: Tensor) -> None:
        self._lengths: list[int] = lengths.tolist()
        self._moments: list[_Moment] = []
        self._finishes: list[_Finish] = []

    @property
    def steps(self) -> int:
        """How many steps were made."""
        return len(self._moments)

    def add(self, origins: Tensor, tokens: Tensor, rows: Tensor, *, weights: Tensor | None) -> None:
        """Note a step: which nodes its rows were, and which tokens grew from which rows."""
        self._moments.append(_Moment(origins, tokens, rows, weights))

    def finish(self, nodes: Tensor, *, sources: Tensor, totals: Tensor, ended: Tensor) -> None:
        """Note that hypotheses come to their end at some nodes of the last step."""
        self._finishes.append(_Finish(self.steps - 1, nodes, sources, totals, ended))

    def hypotheses(self, *, length_power: float = 1.0) -> list[list[Hypothesis]]:
        """Read all hypotheses of every source: those that ended first, and each by its score."""
        moments = [_on_host(moment) for moment in self._moments]
        found: list[list[Hypothesis]] = [[] for _ in self._lengths]
        for finish in self._finishes:
            parts = (finish.nodes, finish.sources, finish.log_probabilities, finish.ended)
            for node, source, total, ended in zip(*(part.tolist() for part in parts), strict=True):
                ids, weights = self._read(moments[: finish.step + 1], node)
                score = total / len(ids) ** length_power
                if weights is not None:
                    weights = weights[:, : self._lengths[source]]
                hypothesis = Hypothesis(torch.tensor(ids), score, total, ended, weights)
                found[source].append(hypothesis)
        for hypotheses in found:
            hypotheses.sort(key=lambda one: (not one.ended, -one.score))
        return found

    def _read(self, moments: list[_HostMoment], node: int) -> tuple[list[int], Tensor | None]:
        """Go back from a node; return what was written on the way to it, and where it looked."""
        ids: list[int] = []
        weights: list[Tensor] = []
        for moment in reversed(moments):
            row = moment.rows[node]
            ids.append(moment.tokens[node])
            if moment.weights is not None:
                weights.append(moment.weights[row])
            node = moment.origins[row]
        return ids[::-1], torch.stack(weights[::-1]) if weights else None


@dataclass(frozen=True, slots=True, eq=False)
class _HostMoment:
    origins: list[int]
    tokens: list[int]
    rows: list[int]
    weights: tuple[Tensor, ...] | None


def _on_host(moment: _Moment) -> _HostMoment:
    return _HostMoment(
        moment.origins.tolist(),
        moment.tokens.tolist(),
        moment.rows.tolist(),
        None if moment.weights is None else moment.weights.cpu().unbind(0),
    )
