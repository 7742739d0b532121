"""Whether models that were trained alike attend alike (Wiegreffe and Pinter, 2019)."""

from __future__ import annotations

import numpy as np
import torch

from ..explain.comprehensiveness import ranked_levels
from ..records.explanation import Decision
from ..records.weights import Weights
from .divergence import jensen_shannon
from .tally import Measured

__all__ = ["FEWEST_SHARED", "TOP", "stability"]

TOP = 3
FEWEST_SHARED = 0.5
"""Below this overlap of the heaviest sentences the models are said to disagree."""


def stability(one: Decision, other: Decision, seed: int = 0) -> dict[str, Measured]:
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
