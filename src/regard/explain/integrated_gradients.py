"""Explain by integrated gradients (Sundararajan, Taly and Yan, 2017).

The gradient is averaged along the straight way from zero vectors to the words' own, so that the
scores of all words add up to how far the answer moved on that way.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..data.batch import Batch
from ..nn.rows import row_sum, take_rows
from ..ragged import Ragged
from ..records.explanation import Explanation
from ..records.weights import Weights
from .answers import Answers, explanations
from .gradients import UNIT, differentiating, log_odds, of_each_class, shares_along
from .scores import levels_of_batch

__all__ = ["TOLERANCE", "explain", "integrated"]

STEPS = (32, 64, 128, 256)
"""How many points of the way are looked at; more only where fewer do not add up."""
TOLERANCE = 0.01
"""By how much the scores may fail to add up, as a share of how far the answer moved."""

BATCH_TOKENS = 1 << 15  # bounds the memory of what is differentiated at once


def explain(answers: Answers) -> list[Explanation]:
    """Return an explanation of each document by the log-odds that each word adds."""

    def weigh(numbers: Tensor) -> list[tuple[Weights, ...]]:
        return levels_of_batch(answers.batch, _word_scores(answers, numbers), unit=UNIT)

    return explanations(answers, "integrated_gradients", of_each_class(answers, weigh))


def _word_scores(answers: Answers, numbers: Tensor) -> Tensor:
    """Integrate with as many steps as each document needs, (tokens,)."""
    batch = answers.batch
    moved = _moved(answers, numbers)
    found = torch.zeros_like(batch.ids.values, dtype=moved.dtype)
    pending = torch.arange(len(batch), device=numbers.device)
    for steps in STEPS:
        part, words = _taken(batch, pending)
        scores = integrated(answers, part, numbers[pending], steps)
        found[words] = scores
        gaps = (row_sum(part.by_document.with_values(scores)) - moved[pending]).abs()
        pending = pending[gaps > TOLERANCE * moved[pending].abs() + 1e-3]
        if not len(pending):
            break
    return found


def _moved(answers: Answers, numbers: Tensor) -> Tensor:
    """How far the answer is from that of zero vectors, (documents,)."""
    with torch.no_grad():
        vectors = answers.model.embed(answers.batch)
        nothing = vectors.with_values(torch.zeros_like(vectors.values))
        end = answers.model.from_vectors(vectors, answers.batch).logits
        start = answers.model.from_vectors(nothing, answers.batch).logits
        beside = _beside(answers, answers.batch)
        if beside is not None:
            start = start - beside
        return log_odds(end, numbers, answers) - log_odds(start, numbers, answers)


def _beside(answers: Answers, batch: Batch) -> Tensor | None:
    """What all words of each document add beside the network, (documents, classes)."""
    shares = answers.model.word_shares(batch)
    if shares is None:
        return None
    return row_sum(batch.by_document.with_values(shares)).to(answers.output.logits.dtype)


def integrated(answers: Answers, batch: Batch, numbers: Tensor, steps: int) -> Tensor:
    """Average the slope at ``steps`` points of the way, by Gauss and Legendre, (tokens,).

    What the words add beside the network grows on the way as their vectors do.
    """
    with torch.no_grad():
        vectors = answers.model.embed(batch).values
    beside = _beside(answers, batch)
    along_logits = answers.output.logits.new_zeros(len(batch), answers.output.logits.shape[1])
    points, shares = np.polynomial.legendre.leggauss(steps)
    at_once = max(1, BATCH_TOKENS // max(len(vectors), 1))
    total = torch.zeros_like(vectors)
    for first in range(0, steps, at_once):
        some = slice(first, first + at_once)
        places = vectors.new_tensor((points[some] + 1) / 2)
        count = len(places)
        copies = _copies(batch, count)
        with differentiating():
            along = (places[:, None, None] * vectors).flatten(0, 1).requires_grad_()
            logits = answers.model.from_vectors(copies.ids.with_values(along), copies).logits
            if beside is not None:
                left = (1 - places).repeat_interleave(len(batch))[:, None]
                logits = logits - left * beside.repeat(count, 1)
            answer = log_odds(logits, numbers.repeat(count), answers)
            slopes, of_logits = torch.autograd.grad(answer.sum(), (along, logits))
        weights = vectors.new_tensor(shares[some] / 2)
        total += torch.tensordot(weights, slopes.view(count, *vectors.shape), 1)
        along_logits += torch.tensordot(weights, of_logits.view(count, *along_logits.shape), 1)
    return (total * vectors).sum(1) + shares_along(answers, batch, along_logits)


def _copies(batch: Batch, count: int) -> Batch:
    """The whole batch so many times over."""
    ids = Ragged(batch.ids.values.repeat(count), batch.ids.lengths.repeat(count))
    return Batch(ids, batch.sentences.repeat(count))


def _taken(batch: Batch, places: Tensor) -> tuple[Batch, Tensor]:
    """Some documents of a batch, and where their words stand in it."""
    sentences = torch.arange(len(batch.ids), device=places.device)
    rows = take_rows(Ragged(sentences, batch.sentences), places)
    words = torch.arange(len(batch.ids.values), device=places.device)
    taken = take_rows(batch.ids.with_values(words), rows.values)
    ids = taken.with_values(batch.ids.values[taken.values])
    return Batch(ids, rows.lengths), taken.values
