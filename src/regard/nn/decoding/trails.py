"""The way back: what was written at each step of a search, from which every hypothesis is read."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["Hypothesis", "Trails"]


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """One thing that was written about a source, on the CPU."""

    ids: Tensor  # (steps,), the end token counted where it was written
    score: float  # what hypotheses about a source are ranked by
    log_probability: float
    ended: bool  # whether the end token was written, or the limit came first
    weights: Tensor | None  # (steps, items of the source); each row sums to one


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
