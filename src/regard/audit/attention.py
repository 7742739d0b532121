"""What the attention of a model is worth: its last attention is replaced by another.

Dealt out anew, or as far from the model's own as the answer allows (Jain and Wallace, 2019); taken
from units one after the other (Serrano and Smith, 2019); made even everywhere, or learned from
another seed (Wiegreffe and Pinter, 2019).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.batch import Batch
from ..explain.answers import Answers
from ..explain.erasing import documents
from ..explain.gradients import differentiating
from ..explain.rankings import Floats, Ranks, random_ranks, ranks_of
from ..explain.receipts import ranked_levels
from ..models.base import Attention, Hierarchical
from ..ragged import Ragged
from ..records.audit import FlipTable
from ..records.explanation import Decision
from ..records.weights import Weights
from .tally import Measured

__all__ = [
    "BOUND",
    "EPSILON",
    "PERMUTATIONS",
    "TOP",
    "Flips",
    "LastAttention",
    "SingleFlip",
    "count_flips",
    "find_adversary",
    "jensen_shannon",
    "last_attention",
    "measure_adversary",
    "measure_permutations",
    "measure_stability",
    "shares",
    "total_variation",
    "weigh_evenly",
]

BATCH_ITEMS = 1 << 15  # bounds the memory of what is asked at once
PERMUTATIONS = 100
EPSILON = 0.01
"""By how much the answer may change under an adversary's attention, in total variation."""
STARTS, CLIMB_STEPS, LINE_POINTS, RATE = 5, 60, 40, 0.3  # of the search for an adversary
FLIP_STEPS = 50
RANDOM_RANKINGS = 5
TOP = 3  # how many heaviest sentences two models are compared by
BOUND = math.log(2)
"""The largest Jensen-Shannon divergence there is, in nats."""


def last_attention(answers: Answers) -> list[LastAttention] | None:
    """Return the attention of each document that its vector is made by; None where there is none.

    It is over sentences in a hierarchical model, over words in a flat one.
    """
    layers = [layer for layer in answers.output.attention if layer.by == "document"]
    if not layers:
        return None
    layer = layers[-1]
    lengths = layer.weights.host_lengths
    rows = layer.weights.values.detach().split(lengths)
    return [
        LastAttention(answers, layer, ids=ids, weights=weights)
        for ids, weights in zip(documents(answers.batch), rows, strict=True)
    ]


class LastAttention:
    """One document whose units can be weighed anew; everything before stays as it is.

    ``weights`` are the model's own, (units,): of several hops or directions their mean.
    """

    def __init__(self, answers: Answers, layer: Attention, *, ids: Ragged, weights: Tensor) -> None:
        self._answers, self._name, self._ids = answers, layer.name, ids
        self.unit = layer.over
        self.weights = weights if weights.ndim == 1 else weights.mean(1)
        self.count = len(self.weights)
        self._vectors: Tensor | None = None
        network = answers.model.network
        self._batch = Batch(ids, torch.tensor([len(ids)], device=ids.values.device))
        if isinstance(network, Hierarchical) and layer.over == "sentence":
            with torch.no_grad():
                self._vectors = network.sentence_vectors(self._batch).values

    @property
    def homes(self) -> NDArray[np.int64]:
        """The sentence that each word stands in, (words,)."""
        return np.repeat(np.arange(len(self._ids)), self._ids.host_lengths)

    def likely(self, weights: Tensor) -> Tensor:
        """Return the probabilities under other weights, (versions, units), (versions, classes)."""
        step = max(1, BATCH_ITEMS // max(self.count, 1))
        with torch.no_grad():
            parts = [self._probabilities(part) for part in weights.split(step)]
        return torch.cat(parts).cpu()

    def differentiable(self, weights: Tensor) -> Tensor:
        """Do as ``likely``, on the model's device and with gradients."""
        return self._probabilities(weights)

    def movement(self, likely: Tensor, answer: Tensor) -> Tensor:
        """How far probabilities are from an answer, (versions,): their total variation.

        With several labels a document, which sum to nothing, it is the furthest of any label.
        """
        if self._answers.multilabel:
            return (likely - answer).abs().amax(-1)
        return total_variation(likely, answer)

    def _probabilities(self, weights: Tensor) -> Tensor:
        versions, device = len(weights), self._ids.values.device
        given = {self._name: weights.to(device=device, dtype=self.weights.dtype).flatten()}
        model = self._answers.model
        network = model.network
        if self._vectors is not None and isinstance(network, Hierarchical):
            counts = torch.full((versions,), self.count, device=device)
            rows = Ragged(self._vectors.repeat(versions, 1), counts)
            logits = model.completed(network.from_sentences(rows, given).logits, self._batch)
        else:
            ids = Ragged(self._ids.values.repeat(versions), self._ids.lengths.repeat(versions))
            sentences = torch.full((versions,), len(self._ids), device=device)
            logits = model(Batch(ids, sentences), impose=given).logits
        return self._answers.likely(logits)


def shares(weights: Tensor) -> Tensor:
    """Make each row sum to one again; a row of zeros becomes even shares."""
    totals = weights.sum(-1, keepdim=True)
    even = torch.full_like(weights, 1 / max(weights.shape[-1], 1))
    return torch.where(totals > 0, weights / totals.clamp_min(1e-30), even)


def measure_permutations(attention: LastAttention, seed: int = 0) -> dict[str, Measured]:
    """Deal the weights out anew: how far the answer moves, beside how far even weights move it."""
    if attention.count < 2:
        return {}
    own = attention.weights
    draw = np.random.default_rng([seed, attention.count])
    rows = np.tile(np.arange(attention.count), (PERMUTATIONS, 1))
    orders = torch.from_numpy(draw.permuted(rows, axis=1)).to(own.device)
    even = torch.full_like(own, 1 / attention.count)[None]
    likely = attention.likely(torch.cat([own[None], even, own[orders]]))
    moved = attention.movement(likely[1:], likely[0])
    return {"permutation_change": Measured(float(moved[1:].quantile(0.5)), float(moved[0]))}


def measure_adversary(attention: LastAttention, seed: int = 0) -> dict[str, Measured]:
    """Look for the attention furthest from the model's own that leaves its answer as it is.

    What is found keeps to the bound: on the straight way from the model's own attention to each
    candidate the furthest point that does is taken.
    """
    if attention.count < 2:
        return {}
    own, answer, starts = _start(attention, seed)
    found = _climb(attention, own, answer, starts)
    random = torch.softmax(starts, 1)
    best, chance = (
        jensen_shannon(_go_furthest(attention, own, answer, ends)[None], own)
        for ends in (torch.cat([found, random]), random)
    )
    return {"adversarial_jsd": Measured(float(best), float(chance))}


def find_adversary(attention: LastAttention, seed: int = 0) -> Tensor:
    """Return the attention found that differs most at the same answer, (units,)."""
    if attention.count < 2:
        return attention.weights.double()
    own, answer, starts = _start(attention, seed)
    found = _climb(attention, own, answer, starts)
    return _go_furthest(attention, own, answer, torch.cat([found, torch.softmax(starts, 1)]))


def _start(attention: LastAttention, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """The model's own attention, its answer, and scores to start the search from."""
    draw = np.random.default_rng([seed, attention.count])
    own = attention.weights.double()
    starts = torch.from_numpy(draw.normal(0, 3, (STARTS, attention.count))).to(own)
    return own, attention.likely(own[None]).to(own.device), starts


def _climb(attention: LastAttention, own: Tensor, answer: Tensor, starts: Tensor) -> Tensor:
    """Climb the divergence from each start, pushed back where the answer moves, (starts, units)."""
    with differentiating():
        scores = starts.clone().requires_grad_()
        optimizer = torch.optim.Adam([scores], lr=RATE)
        for _ in range(CLIMB_STEPS):
            weights = torch.softmax(scores, 1)
            moved = attention.movement(attention.differentiable(weights), answer)
            excess = torch.relu(moved - EPSILON / 2)
            loss = (10 * excess - jensen_shannon(weights, own)).sum()
            (scores.grad,) = torch.autograd.grad(loss, scores)
            optimizer.step()
    return torch.softmax(scores.detach(), 1)


def _go_furthest(attention: LastAttention, own: Tensor, answer: Tensor, ends: Tensor) -> Tensor:
    """The weights of largest divergence on the ways from ``own`` to the ends that keep the bound.

    ``own`` itself where none does, (units,).
    """
    parts = torch.linspace(1 / LINE_POINTS, 1, LINE_POINTS, dtype=own.dtype, device=own.device)
    line = own + parts[:, None, None] * (ends - own)  # (points, ends, units)
    given = torch.cat([own[None], line.flatten(0, 1)])
    moved = attention.movement(attention.likely(given).to(own.device), answer)
    apart = jensen_shannon(given, own)
    return given[torch.where(moved <= EPSILON, apart, 0.0).argmax()]


@dataclass(frozen=True, slots=True)
class SingleFlip:
    """Whether one answer flips without its heaviest unit, and without a random other one."""

    top: bool
    random: bool


class Flips:
    """Sets weights of one document to zero and sees whether its answer stays.

    The other weights are made to sum to one again; nothing is read anew.
    """

    def __init__(self, answers: Answers, attention: LastAttention, *, number: int, seed: int):
        self._answers, self._attention, self._number, self._seed = answers, attention, number, seed
        own = attention.weights[None]
        self._held = bool(answers.decided(attention.likely(own), number)[0])
        count = attention.count
        self._sizes = np.unique(
            np.linspace(1, count - 1, min(FLIP_STEPS, max(count - 1, 0))).round().astype(int)
        )

    def single(self) -> SingleFlip | None:
        """Zero the largest weight, then that of a random other unit; None where there is none."""
        weights = self._attention.weights
        if self._attention.count < 2:
            return None
        top = int(weights.argmax())
        draw = np.random.default_rng([self._seed, self._attention.count])
        others = [place for place in range(self._attention.count) if place != top]
        gone = torch.ones(2, self._attention.count, dtype=weights.dtype, device=weights.device)
        gone[0, top] = gone[1, draw.choice(others)] = 0
        flips = self._flips(shares(gone * weights))
        return SingleFlip(bool(flips[0]), bool(flips[1]))

    def fraction(self, amounts: Floats) -> dict[str, Measured]:
        """Zero weights in the order of the amounts until the answer flips."""
        count = self._attention.count
        if count < 2:
            return {}
        ranks = ranks_of(amounts, np.random.default_rng([self._seed, count]))
        return {"flip_fraction": Measured(float(self._first(ranks)[0]), self._random_fraction)}

    @cached_property
    def _random_fraction(self) -> float:
        """What random orders get on average: the same for every explanation of the document."""
        count = self._attention.count
        draw = np.random.default_rng([self._seed, count])
        return float(self._first(random_ranks(count, RANDOM_RANKINGS, draw)).mean())

    def _first(self, ranks: Ranks) -> Floats:
        """The smallest share of the units without which the answer flips, (rankings,)."""
        kept = ranks[:, None, :] >= self._sizes[:, None]  # (rankings, sizes, units)
        weights = self._attention.weights
        given = shares(torch.from_numpy(kept).to(weights) * weights)
        flips = self._flips(given.flatten(0, 1)).view(len(ranks), len(self._sizes)).numpy()
        return np.where(flips, self._sizes / self._attention.count, 1.0).min(1)

    def _flips(self, weights: Tensor) -> Tensor:
        likely = self._attention.likely(weights)
        return self._answers.decided(likely, self._number) != self._held


def count_flips(unit: str, flips: list[SingleFlip]) -> FlipTable:
    """Count the four cases."""
    return FlipTable(
        unit=unit,
        both=sum(one.top and one.random for one in flips),
        only_top=sum(one.top and not one.random for one in flips),
        only_random=sum(one.random and not one.top for one in flips),
        neither=sum(not one.top and not one.random for one in flips),
    )


def weigh_evenly(answers: Answers) -> Tensor:
    """Return the probabilities with every attention made even, (documents, classes)."""
    even = {}
    for layer in answers.output.attention:
        counts = layer.weights.lengths.index_select(0, layer.weights.row_ids)
        values = layer.weights.values
        shares = 1.0 / counts.to(values.dtype)
        even[layer.name] = shares.view(-1, *[1] * (values.ndim - 1)).expand_as(values)
    with torch.no_grad():
        logits = answers.model(answers.batch, impose=even or None).logits
    return answers.likely(logits).cpu()


def measure_stability(one: Decision, other: Decision, seed: int = 0) -> dict[str, Measured]:
    """Compare what two models attend to in one text; pieces that one did not read weigh nothing."""
    first, second = ranked_levels(one), ranked_levels(other)
    found: dict[str, Measured] = {}
    if "word" in first and "word" in second:
        found["stability_jsd"] = _divergence(first["word"], second["word"], seed)
    if "sentence" in first and "sentence" in second:
        found["stability_overlap"] = _overlap(first["sentence"], second["sentence"])
    return found


def _divergence(first: Weights, second: Weights, seed: int) -> Measured:
    pieces = sorted({*first.pieces, *second.pieces})
    rows = []
    for weights in (first, second):
        by_piece = dict(zip(weights.pieces, weights.values, strict=True))
        rows.append(torch.tensor([by_piece.get(piece, 0.0) for piece in pieces]).double())
    order = np.random.default_rng([seed, len(pieces)]).permutation(len(pieces))
    shuffled = jensen_shannon(rows[0], rows[1][torch.from_numpy(order)])
    return Measured(float(jensen_shannon(rows[0], rows[1])), float(shuffled))


def _overlap(first: Weights, second: Weights) -> Measured:
    size = min(TOP, len(first), len(second))
    shared = _heaviest(first, size) & _heaviest(second, size)
    return Measured(len(shared) / size, size / max(len(first), len(second)))


def _heaviest(weights: Weights, count: int) -> set[tuple[int, ...]]:
    return {weights.pieces[place] for place in weights.heaviest(count)}


def jensen_shannon(one: Tensor, other: Tensor) -> Tensor:
    """Return the divergence of rows that each sum to one, (...), from 0 to ``BOUND``."""
    middle = (one + other) / 2
    return (_relative(one, middle) + _relative(other, middle)) / 2


def total_variation(one: Tensor, other: Tensor) -> Tensor:
    """Return half the sum of the differences, (...): the largest change of any event."""
    return (one - other).abs().sum(-1) / 2


def _relative(one: Tensor, other: Tensor) -> Tensor:
    # Where a share is zero its term is zero; the floor keeps the gradient there finite.
    ratio = torch.log(one.clamp_min(1e-12)) - torch.log(other.clamp_min(1e-12))
    return (one * ratio).sum(-1)
