"""Explain by gradients: how steeply the log-odds of a class rise along each word or weight.

Gradient x input takes the slope at the words as they are, integrated gradients (Sundararajan, Taly
and Yan, 2017) average it on the straight way from zero vectors, so that the scores of all words add
up to how far the answer moved: the way is looked at more closely where they would not. Attention x
gradient takes the weights as given, and the slope says what the answer would gain from more of each
(Serrano and Smith, 2019); a pooling that is no weighted sum, the maximum, is explained as if its
vector were the sum weighted by its shares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..data.batch import Batch
from ..data.batches import cut_runs
from ..errors import ConfigError
from ..models.base import Attention
from ..nn.rows import row_sum, take_rows
from ..ragged import Ragged
from ..records.explanation import Decision, Explanation
from ..records.weights import Weights
from .answers import Answers, explanations, levels_of_batch

__all__ = [
    "TOLERANCE",
    "UNIT",
    "differentiating",
    "integrate_gradients",
    "integrated",
    "log_odds",
    "log_odds_of",
    "multiply_attention_by_gradient",
    "multiply_gradient_by_input",
    "of_each_class",
    "shares_along",
]

UNIT = "log-odds"


def log_odds(logits: Tensor, numbers: Tensor, answers: Answers) -> Tensor:
    """Return log p / (1 - p) of one class of each document, (documents,).

    Unlike the probability it keeps a slope where the model is sure. With several labels a
    document it is the logit itself, with two classes the difference of their logits.
    """
    scaled = logits / answers.temperature
    chosen = scaled.gather(1, numbers[:, None])[:, 0]
    if answers.multilabel or logits.shape[1] == 1:
        return chosen
    others = scaled.scatter(1, numbers[:, None], -torch.inf)
    return chosen - others.logsumexp(1)


def log_odds_of(logits: Tensor, numbers: Sequence[int], answers: Answers) -> Tensor:
    """Return log p / (1 - p) of several classes of each document, (documents, numbers)."""
    columns = [
        log_odds(logits, torch.full((len(logits),), number, device=logits.device), answers)
        for number in numbers
    ]
    return torch.stack(columns, 1)


def shares_along(answers: Answers, batch: Batch, slopes: Tensor) -> Tensor:
    """Return what each word adds beside the network, along the slopes of its logits, (tokens,).

    ``slopes``, (documents, classes), are those of what is explained. Between two classes, and for
    each of several labels, the answer is a line along its logits, and so this is exact.
    """
    shares = answers.model.word_shares(batch)
    if shares is None:
        return slopes.new_zeros(batch.token_count)
    return (shares * slopes.double()[batch.by_document.row_ids]).sum(1).to(slopes.dtype)


@contextmanager
def differentiating() -> Iterator[None]:
    """Let gradients through, also where cuDNN would refuse to go back through a model at rest."""
    with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
        yield


def of_each_class(
    answers: Answers, weigh: Callable[[Tensor], Sequence[tuple[Weights, ...]]]
) -> list[list[Decision]]:
    """Decide about every document once for each chosen class.

    ``weigh`` takes one class number a document and returns the weights of every document.
    """
    found: list[list[Decision]] = [[] for _ in answers.chosen]
    for rank in range(max(map(len, answers.chosen), default=0)):
        # A document with fewer classes than others is asked about its last one again.
        numbers = [chosen[min(rank, len(chosen) - 1)] for chosen in answers.chosen]
        weighed = weigh(torch.tensor(numbers, device=answers.batch.ids.values.device))
        for place, weights in enumerate(weighed):
            if rank < len(answers.chosen[place]):
                found[place].append(answers.decision(place, numbers[place], weights))
    return found


def multiply_gradient_by_input(answers: Answers) -> list[Explanation]:
    """Return an explanation of each document by the slope of each class's log-odds."""
    batch, model = answers.batch, answers.model

    def weigh(numbers: Tensor) -> list[tuple[Weights, ...]]:
        with differentiating():
            vectors = model.embed(batch).values.detach().requires_grad_()
            output = model.from_vectors(batch.ids.with_values(vectors), batch)
            total = log_odds(output.logits, numbers, answers).sum()
            slopes, along = torch.autograd.grad(total, (vectors, output.logits))
        scores = (slopes * vectors.detach()).sum(1) + shares_along(answers, batch, along)
        return levels_of_batch(batch, scores, unit=UNIT)

    return explanations(answers, "gradient_input", of_each_class(answers, weigh))


def multiply_attention_by_gradient(answers: Answers) -> list[Explanation]:
    """Return an explanation of each document: the weights of each level times their gradients."""
    layers = {layer.name: layer for layer in answers.output.attention}
    if "word" not in layers:
        raise ConfigError(
            "this model gives words no attention weights; choose another method, such as erasure"
        )

    def weigh(numbers: Tensor) -> list[tuple[Weights, ...]]:
        words = _scores(answers, layers["word"], numbers)
        sentences = None
        if "sentence" in layers:
            sentences = _scores(answers, layers["sentence"], numbers)
        return levels_of_batch(answers.batch, words, sentences, unit=UNIT)

    return explanations(answers, "attention_gradient", of_each_class(answers, weigh))


def _scores(answers: Answers, layer: Attention, numbers: Tensor) -> Tensor:
    """Each weight of a layer times the slope of the answer along it, (items,)."""
    with differentiating():
        weights = layer.weights.values.detach().requires_grad_()
        output = answers.model(answers.batch, impose={layer.name: weights})
        total = log_odds(output.logits, numbers, answers).sum()
        slopes, along = torch.autograd.grad(total, (weights, output.logits))
    products = weights.detach() * slopes
    beside = shares_along(answers, answers.batch, along)
    if layer.over == "sentence":
        beside = row_sum(answers.batch.ids.with_values(beside))
    return (products if products.ndim == 1 else products.sum(1)) + beside  # hops, directions


POINTS = 8
"""How many points of a stretch of the way are looked at."""
HALVINGS = 10
"""How often a stretch is cut in two where its points do not add up to what happens along it."""
TOLERANCE = 0.01
"""By how much the scores may fail to add up, as a share of how far the answer moved."""
LEAST_GAP = 1e-3  # and this much wherever the answer hardly moved

BATCH_TOKENS = 1 << 15  # bounds the memory of what is differentiated at once


def integrate_gradients(answers: Answers) -> list[Explanation]:
    """Return an explanation of each document by the log-odds that each word adds."""

    def weigh(numbers: Tensor) -> list[tuple[Weights, ...]]:
        return levels_of_batch(answers.batch, _word_scores(answers, numbers), unit=UNIT)

    return explanations(answers, "integrated_gradients", of_each_class(answers, weigh))


@dataclass(frozen=True, slots=True, eq=False)
class _Stretches:
    """Stretches of the ways of some documents from zero vectors, 0, to their own, 1."""

    documents: Tensor  # (stretches,)
    begins: Tensor  # where they begin and end on the way
    ends: Tensor
    before: Tensor  # the answers there
    after: Tensor

    def take(self, places: Tensor | slice) -> _Stretches:
        """Some of them."""
        parts = (self.documents, self.begins, self.ends, self.before, self.after)
        return _Stretches(*(part[places] for part in parts))

    def halved(self, answers: Answers, numbers: Tensor) -> _Stretches:
        """Both halves of each."""
        middles = (self.begins + self.ends) / 2
        there = torch.cat(
            [
                _answer_at(answers, _taken(answers.batch, some)[0], numbers[some], middles[run])
                for run, some in _lots(answers.batch, self.documents)
            ]
        )
        return _Stretches(
            self.documents.repeat(2),
            torch.cat([self.begins, middles]),
            torch.cat([middles, self.ends]),
            torch.cat([self.before, there]),
            torch.cat([there, self.after]),
        )


def _word_scores(answers: Answers, numbers: Tensor) -> Tensor:
    """Add up the slopes on the way, looking closer where the answer turns sharply, (tokens,).

    Attention can pass from one word to another at some point of the way, however many words there
    are: points spread evenly over the whole way may all miss it.
    """
    batch = answers.batch
    left = _whole_ways(answers, numbers)
    allowed = TOLERANCE * (left.after - left.before).abs() + LEAST_GAP
    spent = torch.zeros_like(allowed)
    found = torch.zeros_like(batch.ids.values, dtype=allowed.dtype)
    for halving in range(HALVINGS + 1):
        gaps, lots = _gaps(answers, numbers, left)
        of_documents = spent.index_add(0, left.documents, gaps)
        share = allowed[left.documents] * (left.ends - left.begins)
        open_ones = (gaps > share) & (of_documents > allowed)[left.documents]
        told = torch.ones_like(open_ones)
        if halving == HALVINGS:  # over a cliff: where slopes tell less than none would, none do
            told = gaps <= (left.after - left.before).abs()
            open_ones = torch.zeros_like(open_ones)
        spent.index_add_(0, left.documents[~open_ones], gaps[~open_ones])
        for run, words, homes, scores in lots:
            kept = (told & ~open_ones)[run][homes]
            found.index_add_(0, words[kept], scores[kept])
        if not open_ones.any():
            break
        left = left.take(open_ones).halved(answers, numbers)
    return found


_Lot = tuple[slice, Tensor, Tensor, Tensor]
"""Which stretches, and of each of their words: which of the batch, of which stretch, its score."""


def _gaps(answers: Answers, numbers: Tensor, left: _Stretches) -> tuple[Tensor, list[_Lot]]:
    """Integrate along each stretch, and say by how much it does not add up, (stretches,)."""
    gaps, lots = [], []
    for run, documents in _lots(answers.batch, left.documents):
        some = left.take(run)
        part, words = _taken(answers.batch, documents)
        scores = integrated(answers, part, numbers[documents], some.begins, some.ends)
        rows = part.by_document
        gaps.append((row_sum(rows.with_values(scores)) - (some.after - some.before)).abs())
        lots.append((run, words, rows.row_ids, scores))
    return torch.cat(gaps), lots


def _lots(batch: Batch, documents: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Cut a list of documents into runs of as many words as are read at once."""
    lengths = batch.by_document.lengths[documents].cpu().numpy()
    for run in cut_runs(lengths, most_items=max(len(lengths), 1), most_total=BATCH_TOKENS):
        yield run, documents[run]


def _whole_ways(answers: Answers, numbers: Tensor) -> _Stretches:
    """The whole way of every document."""
    count = len(answers.batch)
    ends = answers.output.logits.new_ones(count)
    begins = torch.zeros_like(ends)
    before, after = (_answer_at(answers, answers.batch, numbers, at) for at in (begins, ends))
    return _Stretches(torch.arange(count, device=ends.device), begins, ends, before, after)


def _answer_at(answers: Answers, batch: Batch, numbers: Tensor, places: Tensor) -> Tensor:
    """The log-odds of each document at its place of the way, (documents,)."""
    with torch.no_grad():
        vectors = answers.model.embed(batch)
        along = places[batch.by_document.row_ids, None] * vectors.values
        logits = answers.model.from_vectors(vectors.with_values(along), batch).logits
        beside = _beside(answers, batch)
        if beside is not None:
            logits = logits - (1 - places)[:, None] * beside
        return log_odds(logits, numbers, answers)


def _beside(answers: Answers, batch: Batch) -> Tensor | None:
    """What all words of each document add beside the network, (documents, classes)."""
    shares = answers.model.word_shares(batch)
    if shares is None:
        return None
    return row_sum(batch.by_document.with_values(shares)).to(answers.output.logits.dtype)


def integrated(
    answers: Answers, batch: Batch, numbers: Tensor, begins: Tensor, ends: Tensor
) -> Tensor:
    """Add up the slopes along a stretch of each document's way, by Gauss and Legendre, (tokens,).

    What the words add beside the network grows on the way as their vectors do.
    """
    with torch.no_grad():
        vectors = answers.model.embed(batch).values
    beside = _beside(answers, batch)
    along_logits = answers.output.logits.new_zeros(len(batch), answers.output.logits.shape[1])
    points, shares = np.polynomial.legendre.leggauss(POINTS)
    sizes = ends - begins
    homes = batch.by_document.row_ids
    at_once = max(1, BATCH_TOKENS // max(len(vectors), 1))
    total = torch.zeros_like(vectors)
    for first in range(0, POINTS, at_once):
        some = slice(first, first + at_once)
        places = begins + sizes * vectors.new_tensor((points[some, None] + 1) / 2)
        count = len(places)  # (points, documents)
        copies = _copies(batch, count)
        with differentiating():
            along = (places[:, homes, None] * vectors).flatten(0, 1).requires_grad_()
            logits = answers.model.from_vectors(copies.ids.with_values(along), copies).logits
            if beside is not None:
                logits = logits - (1 - places).flatten()[:, None] * beside.repeat(count, 1)
            answer = log_odds(logits, numbers.repeat(count), answers)
            slopes, of_logits = torch.autograd.grad(answer.sum(), (along, logits))
        weights = vectors.new_tensor(shares[some] / 2)
        total += torch.tensordot(weights, slopes.view(count, *vectors.shape), 1)
        along_logits += torch.tensordot(weights, of_logits.view(count, *along_logits.shape), 1)
    slopes = (total * vectors).sum(1) * sizes[homes]
    return slopes + shares_along(answers, batch, along_logits * sizes[:, None])


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
