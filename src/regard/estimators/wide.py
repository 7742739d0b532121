"""Put n-grams beside a trained network, and say how much each of the two has to say.

The n-grams are learnt from what a network was trained on, to compare the two on what was held out,
for each fold where there are several, and then from everything. How much each has to say is fitted
on the held-out documents too, and held near what it usually is, since a few of them decide nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..config import Plain
from ..data.corpus import Corpus
from ..models.base import Model
from ..models.ngrams import Rows
from ..models.wide import Wide, WideConfig
from ..tasks.calibration import fit_temperature, log_loss
from ..tasks.predictions import Floats, Integers
from ..training.ngrams import LearningData, Learnt, MarkedReasons, Report, learn_ngrams
from ..training.seeds import derived_seed
from .training_documents import Prepared

__all__ = [
    "HeldOut",
    "fit_blend",
    "learning_places",
    "ngram_facts",
    "ngram_seconds",
    "rows_at",
    "widen",
]

MAX_TOKENS = 30_000_000  # of the documents that are learnt from; more are drawn from
MOST = 4.0  # by which either may be scaled: where all documents are right, there is no end to it
PULL = 50.0  # how many documents the first say weighs as much as, about
FEW_AND_MANY = 2_000, 20_000  # documents between which the first say of the network rises ...
LEAST_SAY = 0.2  # ... from this to a half


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """What a model says of documents held out from its training, and what they are."""

    logits: Floats  # (documents, classes)
    labels: Integers  # (documents,), or zeros and ones (documents, classes)
    batches: tuple[tuple[int, Rows], ...]  # the documents in their order, and which fold they are

    @classmethod
    def joined(cls, parts: Sequence[HeldOut]) -> HeldOut:
        """What is said of the documents of several folds."""
        return cls(
            np.concatenate([part.logits for part in parts]),
            np.concatenate([part.labels for part in parts]),
            tuple(batch for part in parts for batch in part.batches),
        )


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
    documents = _learning_data(data, places, class_weights, letters=config.letters)
    learnt = learn_ngrams(documents, config, report=report)
    if learnt is None:
        return None
    scale, say = prior = _first_say(len(places))
    if held_out is not None:
        ngrams = _answer_held_out(learnt, held_out)
        scale, say = fit_blend([held_out.logits, ngrams], held_out.labels, prior=prior)
        held_out = replace(held_out, logits=scale * held_out.logits + say * ngrams)
    model = Wide(
        network,
        learnt.parts(learnt.after, say),
        intercepts=(say * learnt.after.intercepts).astype(np.float32),
        scale=scale,
    )
    return model, held_out


def _learning_data(
    data: Prepared,
    places: NDArray[np.int64],
    class_weights: NDArray[np.floating] | None,
    *,
    letters: bool,
) -> LearningData:
    """The documents at these rising places as n-grams are learnt from them, and their reasons."""
    own = len(places)
    everything = data.with_reasons(places)
    tensor = data.corpus.label_tensor(everything)
    assert tensor is not None  # there were labels to train on
    labels = tensor.long().numpy()
    counts = _counts(labels, class_weights, data.weights, everything)
    reasons = None
    if len(everything) > own:
        reasons = MarkedReasons(
            rows_at(data.corpus, everything[own:]),
            labels[own:],
            _owners(data, places, everything[own:]),
            None if counts is None else counts[own:],
        )
    return LearningData(
        rows=rows_at(data.corpus, places),
        labels=labels[:own],
        class_count=len(data.labels),
        held_out_in=data.held_out_in(places),
        words=data.vocab.words if letters else (),
        word_count=len(data.vocab),
        counts=None if counts is None else counts[:own],
        groups=None if data.groups is None else data.groups[places],
        reasons=reasons,
    )


def _answer_held_out(learnt: Learnt, held_out: HeldOut) -> Floats:
    """What n-grams say of documents held out that they had not seen, (documents, classes)."""
    parts = [learnt.parts(model, 1.0) for model in learnt.before]
    return np.concatenate(
        [
            learnt.before[fold].intercepts
            + sum(part.table.weigh(rows, part.weights) for part in parts[fold])
            for fold, rows in held_out.batches
        ]
    )


def _first_say(document_count: int) -> tuple[float, float]:
    """How much network and n-grams have to say before anything was held out to ask.

    From few documents a network learns less than n-grams do; from many it learns as much.
    """
    few, many = (np.log(count) for count in FEW_AND_MANY)
    rise = float(np.clip((np.log(max(document_count, 1)) - few) / (many - few), 0, 1))
    network = LEAST_SAY + rise * (0.5 - LEAST_SAY)
    return network, 1 - network


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


def _owners(
    data: Prepared, places: NDArray[np.int64], reasons: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Which of the documents at these rising places each reason is of; -1: none."""
    owners = data.owners[reasons - len(data.corpus.parts[0]) + len(data.reasons)]
    return np.where(owners < 0, -1, np.searchsorted(places, owners))


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


def ngram_facts(model: Wide) -> dict[str, Plain]:
    """Say of n-grams how many there are and where they count more, for a model to remember."""
    table = model.tables[0]
    found: dict[str, Plain] = {"ngrams": len(table)}
    if table.emphasis:
        side = "last" if table.emphasis.last > table.emphasis.first else "first"
        found["ngrams_count_more_in"] = f"the {side} sentences"
    if table.marking is not None:
        found["ngrams_count_like_marked"] = True
    return found


def ngram_seconds(*, words: int, class_count: int, fits: int = 2) -> float:
    """Estimate how long it takes to learn from so many words on one core, from a few runs."""
    columns = 1 if class_count == 2 else class_count
    return 0.1 + min(words, MAX_TOKENS) * (1e-6 + 2.5e-6 * fits * min(columns, 20))


def fit_blend(logits: Sequence[Floats], labels: Integers, *, prior: Sequence[float]) -> list[float]:
    """Return by what to multiply the logits of several models, (documents, classes), to add them.

    Each is brought to its own best temperature first. Then their say is fitted, none below zero,
    and held near that of ``prior``, which counts as much as some documents.
    """
    from scipy.optimize import minimize

    first = np.asarray(prior, np.float64)
    scales = [1 / min(max(fit_temperature(one, labels), 1 / MOST), MOST) for one in logits]
    cooled = [scale * one for scale, one in zip(scales, logits, strict=True)]

    def cost(say: Floats) -> float:
        together = np.tensordot(say, cooled, 1)
        return len(labels) * log_loss(together, labels) + PULL * float(((say - first) ** 2).sum())

    found = minimize(cost, first, method="L-BFGS-B", bounds=[(0, None)] * len(first))
    return [float(say * scale) for say, scale in zip(found.x, scales, strict=True)]
