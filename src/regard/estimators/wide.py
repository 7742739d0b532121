"""Fit n-grams beside a trained network, and how much each of the two has to say.

The n-grams are fitted twice: on what the network was trained on, to compare the two on what was
held out, and then on everything. How much each has to say is fitted on the held-out documents too,
and held near an even say, since a few of them decide nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..data.corpus import Corpus
from ..models.base import Model
from ..models.ngrams import Counted, NGramTable, Rows, count_ngrams
from ..models.wide import Wide, WideConfig
from ..tasks.calibration import fit_temperature, log_loss
from ..tasks.linear import Linear, bayes_ratios, fit_linear
from ..tasks.predictions import Floats, Integers
from ..training.seeds import derived_seed
from .training_documents import Prepared

__all__ = [
    "HeldOut",
    "LearningData",
    "Learnt",
    "fit_blend",
    "learn_ngrams",
    "learning_places",
    "ngram_seconds",
    "rows_at",
    "widen",
]

PENALTY = 1 / 16
"""What squared weights cost. From a quarter to four times of it hardly anything changes."""
ENOUGH = 1000  # documents from which naive Bayes knows what to trust; with fewer it is noise
MAX_TOKENS = 30_000_000  # of the documents that are learnt from; more are drawn from
MAX_WORK = 200_000_000  # values times columns of weights: above, one fit takes minutes
MOST = 4.0  # by which either may be scaled: where all documents are right, there is no end to it
PULL = 10.0  # how many documents an even say weighs as much as, about

Report = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class LearningData:
    """Documents to learn from, and which of them the network has learnt from too."""

    rows: Rows
    labels: Integers  # (documents,), or zeros and ones (documents, classes)
    class_count: int
    training: NDArray[np.bool_]  # (documents,)
    counts: NDArray[np.floating] | None = None  # how much each counts, or each of its labels


@dataclass(frozen=True, slots=True, eq=False)
class Learnt:
    """Weights of n-grams, from what the network has learnt from, and from everything."""

    table: NGramTable
    before: Linear
    after: Linear


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """What a model says of documents held out from its training, and what they are."""

    logits: Floats  # (documents, classes)
    labels: Integers  # (documents,), or zeros and ones (documents, classes)
    batches: tuple[Rows, ...]  # the documents, in their order


def widen(
    network: Model,
    data: Prepared,
    held_out: HeldOut | None,
    config: WideConfig,
    *,
    class_weights: NDArray[np.floating] | None,
    seed: int,
    report: Report,
) -> tuple[Wide, HeldOut | None] | None:
    """Put n-grams beside a trained network, and say how both answer together.

    ``held_out`` is what the network says of the documents held out; nothing where none were. What
    both say of them is by n-grams that had not seen them. Nothing where n-grams cannot be learnt.
    """
    places = learning_places(data, seed)
    tensor = data.corpus.label_tensor(places)
    assert tensor is not None  # there were labels to train on
    labels = tensor.long().numpy()
    learnt = learn_ngrams(
        LearningData(
            rows=rows_at(data.corpus, places),
            labels=labels,
            class_count=len(data.labels),
            training=np.isin(places, data.training),
            counts=_counts(labels, class_weights, data.weights, places),
        ),
        config,
        report=report,
    )
    if learnt is None:
        return None
    scale, say = 0.5, 0.5
    if held_out is not None:
        before = learnt.before.weights.astype(np.float32)
        guessed = [learnt.table.weigh(rows, before) for rows in held_out.batches]
        wide = np.concatenate(guessed) + learnt.before.intercepts
        scale, say = fit_blend([held_out.logits, wide], held_out.labels)
        held_out = replace(held_out, logits=scale * held_out.logits + say * wide)
    together = Wide(
        network,
        learnt.table,
        weights=(say * learnt.after.weights).astype(np.float32),
        intercepts=(say * learnt.after.intercepts).astype(np.float32),
        scale=scale,
    )
    return together, held_out


def learning_places(data: Prepared, seed: int) -> NDArray[np.int64]:
    """Which documents n-grams are learnt from: those of the training, and those held out of it.

    Documents that were given to validate on are never learnt from. Of very many some are drawn.
    """
    own = len(data.corpus.parts) == 1
    places = np.concatenate([data.training, data.validation]) if own else data.training
    lengths = data.corpus.lengths[places]
    if lengths.sum() <= MAX_TOKENS:
        return np.sort(places)
    order = np.random.default_rng(derived_seed(seed, "ngrams")).permutation(len(places))
    return np.sort(places[order[np.cumsum(lengths[order]) <= MAX_TOKENS]])


def _counts(
    labels: Integers,
    class_weights: NDArray[np.floating] | None,
    weights: NDArray[np.float32] | None,
    places: NDArray[np.int64],
) -> NDArray[np.floating] | None:
    """How much each document counts, or each of its labels, as in the loss of the network."""
    if class_weights is None and weights is None:
        return None
    counts: NDArray[np.floating] = np.ones(labels.shape)
    if class_weights is not None:
        counts = (
            np.where(labels > 0, class_weights, 1) if labels.ndim == 2 else class_weights[labels]
        )
    if weights is not None:
        own = weights[places] / weights[places].mean()  # a weight that all have changes nothing
        counts = counts * (own[:, None] if labels.ndim == 2 else own)
    return counts


def rows_at(corpus: Corpus, places: NDArray[np.int64]) -> Rows:
    """The ids of some documents of a corpus."""
    parts = [corpus.batch(block) for block in corpus.blocks(places)]
    none = [np.zeros(0, np.int64)]
    return Rows(
        np.concatenate(none + [part.ids.values.numpy() for part in parts]),
        np.concatenate(none + [part.ids.lengths.numpy() for part in parts]),
        np.concatenate(none + [part.sentences.numpy() for part in parts]),
    )


def ngram_seconds(*, words: int, class_count: int) -> float:
    """Estimate how long it takes to learn from so many words on one core, from a few runs."""
    columns = 1 if class_count == 2 else class_count
    return 0.1 + min(words, MAX_TOKENS) * (1e-6 + 5e-6 * min(columns, 20))


def learn_ngrams(
    data: LearningData, config: WideConfig, *, report: Report = lambda done, total: None
) -> Learnt | None:
    """Weigh the n-grams of documents; nothing where that would take too long, or there are none.

    ``report`` is told how far it is.
    """
    columns = 1 if data.class_count == 2 and data.labels.ndim == 1 else data.class_count
    report(0, 3)
    counted = count_ngrams(
        data.rows,
        longest=config.longest,
        fewest=config.fewest_documents,
        most=config.most_weights // columns,
    )
    if not len(counted.keys) or counted.values.nnz * columns > MAX_WORK:
        return None
    report(1, 3)
    before = after = _fit(counted, data, data.training)
    if not data.training.all():
        report(2, 3)
        after = _fit(counted, data, np.ones(len(data.labels), bool), before)
    return Learnt(NGramTable(counted.keys, counted.rarity, config.longest), before, after)


def _fit(
    counted: Counted, data: LearningData, chosen: NDArray[np.bool_], start: Linear | None = None
) -> Linear:
    """Learn from some of the documents."""
    values, labels = counted.values[chosen], data.labels[chosen]
    scales = None
    if len(labels) >= ENOUGH:
        # The root of how much naive Bayes trusts a feature: between trusting it and not at all.
        scales = np.sqrt(np.abs(bayes_ratios(values, labels, data.class_count)))
    return fit_linear(
        values,
        labels,
        class_count=data.class_count,
        penalty=PENALTY,
        scales=scales,
        counts=None if data.counts is None else data.counts[chosen],
        start=start,
    )


def fit_blend(logits: Sequence[Floats], labels: Integers) -> list[float]:
    """Return by what to multiply the logits of several models, (documents, classes), to add them.

    Each is brought to its own best temperature first. Then their say is fitted, none below zero,
    and held near an even one, which counts as much as a few documents.
    """
    from scipy.optimize import minimize

    even = 1 / len(logits)
    if not len(labels):
        return [even] * len(logits)
    scales = [1 / min(max(fit_temperature(one, labels), 1 / MOST), MOST) for one in logits]
    cooled = [scale * one for scale, one in zip(scales, logits, strict=True)]

    def cost(say: Floats) -> float:
        together = np.tensordot(say, cooled, 1)
        return len(labels) * log_loss(together, labels) + PULL * float(((say - even) ** 2).sum())

    first = np.full(len(logits), even)
    found = minimize(cost, first, method="L-BFGS-B", bounds=[(0, None)] * len(first))
    return [float(say * scale) for say, scale in zip(found.x, scales, strict=True)]
