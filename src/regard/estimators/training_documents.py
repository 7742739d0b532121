"""Documents to what a classifier is fitted on, and the judge of how good it is while it learns.

Fitted on: a corpus, its two sides, a vocabulary and classes. Judged: by a quick score on the
validation side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.batch import Batch
from ..data.check import check_corpus
from ..data.corpus import Corpus, build_corpus
from ..data.fingerprints import fingerprints
from ..data.labels import LabelIndex
from ..data.splits import deal_folds, split_validation
from ..errors import DataError
from ..models.base import Model
from ..ragged import send
from ..records.data import DataCheck
from ..tasks.calibration import log_loss
from ..tasks.classify import ClassificationLoss
from ..tasks.predictions import Floats, Integers, decide
from ..text.document import Document
from ..text.tokenize import TextConfig, settle_hangul
from ..text.vocab import Vocab, settle_unknown
from ..training.batches import Batches, Examples
from ..training.devices import device_of
from ..training.seeds import derived_seed
from ..training.teams import Team, batches_to_judge
from .fitting import FEWEST_TO_SPLIT, FitOptions, Holdout, Reason

__all__ = [
    "TEMPERATURES",
    "LabelJudge",
    "Prepared",
    "Weighted",
    "checked_weights",
    "prepare",
    "score_answers",
]

SAMPLE = 1000  # documents that are looked at before any is cut into words
LEAST_WEIGHT, MOST_WEIGHT = 1e-30, 1e30  # beyond, sums of them are no numbers in single precision
TEMPERATURES = 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0
"""By which answers are cooled to judge them. One is fitted after the training, so an epoch after
which a network is right more often and too sure of it is no step back."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """Everything a fit needs of its data."""

    corpus: Corpus  # with the vocabulary's ids
    source: Examples[Batch]  # the same, where the network is, with its weights
    training: NDArray[np.int64]
    validation: NDArray[np.int64]  # empty where nothing is held out
    vocab: Vocab
    labels: LabelIndex
    counts: dict[str, int]  # of the training data's words
    check: DataCheck
    text: TextConfig  # how the texts were cut
    reasons: NDArray[np.int64]  # the places of what people marked, behind all documents
    owners: NDArray[np.int64]  # (reasons,), the document that each is of; -1: of none
    weights: NDArray[np.float32] | None = None  # of each document; None: all the same
    folds: NDArray[np.int64] | None = None  # of each document; None: some are held out for good
    groups: NDArray[np.int64] | None = None  # of each document, where groups stay on one side

    @property
    def fold_count(self) -> int:
        """How many folds hold out a part of the documents each."""
        return 0 if self.folds is None else int(self.folds.max(initial=-1)) + 1

    def with_reasons(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """These documents, with the reasons that are of them or of no document."""
        own = np.isin(self.owners, places) | (self.owners < 0)
        return np.concatenate([places, self.reasons[own]])

    @property
    def held_out_as_read(self) -> NDArray[np.int64]:
        """Where the documents held out stand among all that were read."""
        behind = len(self.corpus.parts) > 1  # the reasons stand before those of another file
        return self.validation - (len(self.reasons) if behind else 0)

    def sides(self, fold: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What is trained on and what is held out in this fold."""
        assert self.folds is not None  # whoever has counted them asks for one
        out = self.folds[self.training] == fold
        return self.training[~out], self.training[out]

    def held_out_in(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which fold leaves each of these documents out; where there are none, the first does."""
        if self.folds is not None:
            return self.folds[places]
        return np.where(np.isin(places, self.training), -1, 0)


def prepare(
    documents: Iterable[Document],
    validation: Iterable[Document] | None,
    *,
    folder: Path,
    text: TextConfig,
    holdout: Holdout,
    options: FitOptions,
    build_vocab: Callable[[Mapping[str, int], TextConfig], Vocab] = Vocab.from_counts,
) -> Prepared:
    """Tokenise every document once, hold some out, build the vocabulary from the others alone."""
    corpus, text = _write_corpus(documents, validation, folder, text, options)
    own = np.arange(len(corpus.parts[0]))
    own, reasons = np.split(own, [len(own) - len(options.reasons)])
    places = (reason.place for reason in options.reasons)
    owners = np.array([-1 if place is None else place for place in places], np.int64)
    labels = corpus.labels
    if labels is None:
        raise DataError("these documents have no labels; training needs a label column")
    _require_choice(corpus, own, labels)
    folds = _folds(corpus, own, holdout, options)
    training, held_out = _sides(corpus, own, holdout, options, folded=folds is not None)
    weights = None
    if options.weights is not None:
        weights = np.ones(len(corpus), dtype=np.float32)
        weights[: len(own)] = checked_weights(options.weights, len(own))
        weights[reasons] = np.where(owners < 0, 1, weights[owners])
        # What counts for nothing is left out; a batch of such alone would have no mean.
        training, held_out = (side[weights[side] > 0] for side in (training, held_out))
        if not len(training):
            raise DataError("the weights of all training documents are zero; give some above it")
    counts = corpus.word_counts(training)
    text = settle_unknown(text, counts)
    vocab = build_vocab(counts, text)
    readings = [reader.counts for reader in options.readers]
    others = {} if options.test is None else {"test": fingerprints(options.test)}
    check = check_corpus(
        corpus,
        training=training,
        validation=held_out,
        others=others,
        readings=readings,
        token=text.token,
    )
    remapped = corpus.remapped(vocab)
    return Prepared(
        remapped,
        remapped,
        training,
        held_out,
        vocab,
        labels,
        counts,
        check,
        text,
        reasons,
        owners,
        weights,
        folds,
        _groups(corpus, options),
    )


def _write_corpus(
    documents: Iterable[Document],
    validation: Iterable[Document] | None,
    folder: Path,
    text: TextConfig,
    options: FitOptions,
) -> tuple[Corpus, TextConfig]:
    """Write the documents, and behind them the reasons; the first of them say how all are read."""
    stream = iter(documents)
    first = list(islice(stream, SAMPLE))
    text = settle_hangul([document.text for document in first], text)
    marked = (_standing(reason, options) for reason in options.reasons)
    everything = chain(first, stream, marked)
    corpus = build_corpus(everything, folder, text, columns=options.columns, validation=validation)
    return corpus, text


def _groups(corpus: Corpus, options: FitOptions) -> NDArray[np.int64] | None:
    """Which group each document is of, where whole groups are held out."""
    if options.split != "group" or len(corpus.parts) > 1:
        return None
    return np.unique(corpus.arrays.groups, return_inverse=True)[1].astype(np.int64)


def _standing(reason: Reason, options: FitOptions) -> Document:
    """A reason as a row of the corpus; that it is of no group and no time is never asked."""
    columns = options.columns
    fields = {name: 0 for name in (columns.group, columns.time) if name is not None}
    return replace(reason.document, fields=fields)


@dataclass(frozen=True, eq=False)
class Weighted:
    """Documents of a source, each with how much it counts."""

    source: Examples[Batch]
    weights: NDArray[np.float32]  # (documents,)

    @property
    def lengths(self) -> NDArray[np.integer]:
        """How many tokens each document has."""
        return self.source.lengths

    def batch(self, indices: NDArray[np.int64]) -> Batch:
        """Put some documents, or none, into one batch."""
        batch = self.source.batch(indices)
        weights = torch.from_numpy(self.weights[np.asarray(indices, dtype=np.int64)])
        return replace(batch, weights=send(weights, batch.sentences.device))


def checked_weights(given: Iterable[float], count: int) -> NDArray[np.float64]:
    """Return how much each of so many documents counts."""
    try:
        weights = np.asarray(list(given), dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"weights must be numbers, one for each document, got {given!r:.100}"
        ) from None
    if weights.shape != (count,):
        raise DataError(f"there are {count:,} documents, but weights of shape {weights.shape}")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise DataError("weights must be numbers of at least 0")
    beyond = weights[(weights > 0) & ((weights < LEAST_WEIGHT) | (weights > MOST_WEIGHT))]
    if len(beyond):
        raise DataError(
            f"weights must be 0 or from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}, got {beyond[0]:g}; "
            "multiply all by one number: only how they compare matters"
        )
    if not weights.any():
        raise DataError("the weights of all documents are zero; give some above it")
    return weights


def _require_choice(corpus: Corpus, own: NDArray[np.int64], labels: LabelIndex) -> None:
    """Raise ``DataError`` unless there are documents, and labels to choose from."""
    if not len(own):
        raise DataError("there are no documents to train on")
    if len(corpus.parts) > 1 and not len(corpus.parts[1]):
        raise DataError("there are no documents to validate on; leave them out or give some")
    if not labels.classes:
        raise DataError(f"none of the {len(corpus):,} documents has a label; training needs some")
    if len(labels) < 2 and not labels.multilabel:
        count, label = len(corpus), repr(labels.classes[0])
        only = f"all {count:,} documents have" if count > 1 else "the only document has"
        raise DataError(f"{only} the label {label}; training needs at least two labels")


def _sides(
    corpus: Corpus, own: NDArray[np.int64], holdout: Holdout, options: FitOptions, *, folded: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which documents of the training data are learnt from, and which are held out."""
    if len(corpus.parts) > 1:
        return own, np.asarray(corpus.parts[1], dtype=np.int64)
    if folded or holdout.fraction == 0 or len(own) < FEWEST_TO_SPLIT:
        return own, own[:0]
    seed = derived_seed(holdout.seed, "validation")
    split = split_validation(corpus, holdout.fraction, seed=seed, by=options.split, indices=own)
    return split.training, split.validation


def _folds(
    corpus: Corpus, own: NDArray[np.int64], holdout: Holdout, options: FitOptions
) -> NDArray[np.int64] | None:
    """In which fold each document is held out, where so few are to be held out once each."""
    if len(corpus.parts) > 1 or holdout.fraction == 0 or options.split != "random":
        return None
    if options.weights is not None:
        return None  # those of a fold may all count for nothing
    count = options.recipe.folds(len(own), int(corpus.lengths[own].sum()))
    if not count:
        return None
    dealt = deal_folds(corpus, count, seed=derived_seed(holdout.seed, "validation"), indices=own)
    return dealt if (dealt >= 0).any() else None


@dataclass(frozen=True, slots=True, eq=False)
class LabelJudge:
    """Judges a classifier by its loss, its accuracy and its macro-F1.

    The loss is that of the answers at whichever of a few temperatures suits them best. For
    multi-label data the accuracy is of documents with every label right. The macro-F1 is the mean
    over the classes that occur or were predicted.
    """

    names: ClassVar[tuple[str, ...]] = ("loss", "accuracy", "macro_f1")

    loss: ClassificationLoss
    label_count: int

    def __call__(self, model: Model, batches: Batches[Batch], team: Team) -> dict[str, float]:
        """Score the model, without dropout, on its share of the batches; the team adds up."""
        model.eval()
        device = device_of(model)
        loss = self.loss.to(device)
        first = 4 + len(TEMPERATURES)
        sums = torch.zeros(first + 3 * self.label_count, dtype=torch.float64, device=device)
        with torch.no_grad():
            for batch in batches_to_judge(model, batches, team):
                sums += _tally(model, batch, loss)
        sums = team.add_up(sums).cpu()
        documents, weight, penalty, right = sums[:4].tolist()
        total = float(sums[4:first].min()) / weight + penalty / documents
        return _scores(total, right / documents, sums[first:].view(3, -1))


def score_answers(
    logits: Floats, labels: Integers, *, temperature: float = 1.0
) -> dict[str, float]:
    """Score answers that were given already, as ``LabelJudge`` does; the loss is the log loss."""
    given, classes = decide(logits, multilabel=labels.ndim == 2), np.arange(logits.shape[1])
    truth, guess = (
        one > 0 if labels.ndim == 2 else one[:, None] == classes for one in (labels, given)
    )
    counts = np.stack([(truth & guess).sum(0), guess.sum(0), truth.sum(0)])
    accuracy = float((truth == guess).all(1).mean())
    loss = log_loss(logits, labels, temperature)
    return _scores(loss, accuracy, torch.from_numpy(counts.astype(np.float64)))


def _tally(model: Model, batch: Batch, loss: ClassificationLoss) -> Tensor:
    """What a batch adds to the sums of ``LabelJudge``.

    Documents, what they weigh, the model's penalty, how many are right, the loss at each
    temperature; then for every class how often it was found, guessed and true.
    """
    output = model(batch)
    costs = [
        loss.of(replace(output, logits=output.logits / temperature), batch)
        for temperature in TEMPERATURES
    ]
    assert batch.labels is not None  # the loss has asked already
    if batch.labels.ndim == 2:
        truth = batch.labels > 0
        guess = output.logits > 0
    else:
        classes = torch.arange(output.logits.shape[1], device=output.logits.device)
        truth = batch.labels[:, None] == classes
        guess = output.logits.argmax(1)[:, None] == classes
    right = (truth == guess).all(1).sum()
    weight = costs[0].weight.to(costs[0].total, non_blocking=True)
    parts = torch.stack([weight, costs[0].penalty, right, *(cost.total for cost in costs)])
    counts = torch.stack([(truth & guess).sum(0), guess.sum(0), truth.sum(0)]).flatten()
    documents = parts.new_full((1,), float(len(batch)))
    return torch.cat([documents.double(), parts.double(), counts.double()])


def _scores(loss: float, accuracy: float, counts: Tensor) -> dict[str, float]:
    """Name the scores; ``counts``, (3, classes), says how often each was found, guessed, true."""
    hits, guesses, truths = counts
    seen = guesses + truths > 0
    f1 = (2 * hits / (guesses + truths))[seen]
    # With several labels a document, there may be none at all, and none guessed.
    return {
        "loss": loss,
        "accuracy": accuracy,
        "macro_f1": float(f1.mean()) if len(f1) else 0.0,
    }
