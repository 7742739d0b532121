"""Documents to what a model can be fitted on: a corpus, its two sides, a vocabulary, classes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from ..data.batch import Batch
from ..data.check import check_corpus
from ..data.corpus import Corpus, build_corpus
from ..data.fingerprints import fingerprints
from ..data.labels import LabelIndex
from ..data.splits import split_validation
from ..errors import DataError
from ..ragged import send
from ..records.check import DataCheck
from ..text.document import Document
from ..text.tokenize import TextConfig
from ..text.vocab import Vocab
from ..training.batches import Source
from ..training.seeds import derived_seed
from .fitting import FEWEST_TO_SPLIT, FitOptions, Holdout

__all__ = ["Prepared", "Weighted", "prepare"]


@dataclass(frozen=True, eq=False)
class Prepared:
    """Everything a fit needs of its data."""

    corpus: Corpus  # with the vocabulary's ids
    source: Source[Batch]  # the same, where the network is, with its weights
    training: NDArray[np.int64]
    validation: NDArray[np.int64]  # empty where nothing is held out
    vocab: Vocab
    labels: LabelIndex
    counts: dict[str, int]  # of the training data's words
    check: DataCheck
    weights: NDArray[np.float32] | None = None  # of each document; None: all the same


def prepare(
    documents: Iterable[Document],
    validation: Iterable[Document] | None,
    *,
    folder: Path,
    text: TextConfig,
    holdout: Holdout,
    options: FitOptions,
) -> Prepared:
    """Tokenise every document once, hold some out, build the vocabulary from the others alone."""
    corpus = build_corpus(documents, folder, text, columns=options.columns, validation=validation)
    labels = corpus.labels
    if labels is None:
        raise DataError("these documents have no labels; training needs a label column")
    _require_choice(corpus, labels)
    training, held_out = _sides(corpus, holdout, options)
    weights = None
    if options.weights is not None:
        weights = _checked_weights(options.weights, corpus)
        # What counts for nothing is left out; a batch of such alone would have no mean.
        training, held_out = (side[weights[side] > 0] for side in (training, held_out))
        if not len(training):
            raise DataError("the weights of all training documents are zero; give some above it")
    counts = corpus.word_counts(training)
    vocab = Vocab.from_counts(counts, text)
    readings = [reader.counts for reader in options.readers]
    others = {} if options.test is None else {"test": fingerprints(options.test)}
    check = check_corpus(
        corpus, training=training, validation=held_out, others=others, readings=readings
    )
    found = corpus.remapped(vocab)
    return Prepared(found, found, training, held_out, vocab, labels, counts, check, weights)


@dataclass(frozen=True, eq=False)
class Weighted:
    """Documents of a source, each with how much it counts."""

    source: Source[Batch]
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


def _checked_weights(given: Iterable[float], corpus: Corpus) -> NDArray[np.float32]:
    """The weights of all documents of a corpus; those to validate on weigh one each."""
    weights = np.asarray(list(given), dtype=np.float64)
    count = len(corpus.parts[0])
    if weights.shape != (count,):
        raise DataError(f"there are {count:,} documents, but weights of shape {weights.shape}")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise DataError("weights must be numbers of at least 0")
    everything = np.ones(len(corpus), dtype=np.float32)
    everything[:count] = weights
    return everything


def _require_choice(corpus: Corpus, labels: LabelIndex) -> None:
    """Raise ``DataError`` unless there are documents, and labels to choose from."""
    if not len(corpus.parts[0]):
        raise DataError("there are no documents to train on")
    if len(corpus.parts) > 1 and not len(corpus.parts[1]):
        raise DataError("there are no documents to validate on; leave them out or give some")
    if not labels.classes:
        raise DataError(f"none of the {len(corpus):,} documents has a label; training needs some")
    if len(labels) < 2 and not labels.multilabel:
        only = f"all {len(corpus):,} documents have the label {labels.classes[0]!r}"
        raise DataError(f"{only}; training needs at least two labels")


def _sides(
    corpus: Corpus, holdout: Holdout, options: FitOptions
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if len(corpus.parts) > 1:
        return np.arange(len(corpus.parts[0])), np.asarray(corpus.parts[1], dtype=np.int64)
    everything = np.arange(len(corpus))
    if holdout.fraction == 0 or len(corpus) < FEWEST_TO_SPLIT:
        return everything, everything[:0]
    seed = derived_seed(holdout.seed, "validation")
    split = split_validation(corpus, holdout.fraction, seed=seed, by=options.split)
    return split.training, split.validation
