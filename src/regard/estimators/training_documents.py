"""Documents to what a model can be fitted on: a corpus, its two sides, a vocabulary, classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from ..config import Plain, require
from ..data.batch import Batch
from ..data.check import check_corpus
from ..data.columns import Columns
from ..data.corpus import Corpus, build_corpus
from ..data.fingerprints import fingerprints
from ..data.labels import LabelIndex
from ..data.readers import Reader
from ..data.splits import SplitBy, split_validation
from ..errors import DataError
from ..ragged import send
from ..records.check import DataCheck, PairCheck
from ..text.document import Document
from ..text.tokenize import TextConfig
from ..text.vocab import Vocab
from ..training.batches import Source
from ..training.interrupts import Interrupts
from ..training.observers import Observer
from ..training.seeds import derived_seed
from ..training.teams import Alone, Team
from .label_forms import LabelForm

__all__ = ["FitOptions", "Prepared", "Weighted", "noting_interrupts", "prepare"]

FEWEST_TO_SPLIT = 20  # documents; with fewer, all are trained on


@dataclass(frozen=True, eq=False)
class FitOptions:
    """What goes with a fit beside its data and settings."""

    split: SplitBy = "random"
    columns: Columns = field(default_factory=Columns)  # names the group or time column to split by
    readers: tuple[Reader, ...] = ()  # where the documents come from, to tell what was not read
    weights: Iterable[float] | None = None  # how much each document counts, in their order
    label_form: LabelForm = field(default_factory=LabelForm)  # in which labels are given back
    test: Iterable[Document] | None = None  # only looked for among the training documents
    vectors: Path | None = None  # pretrained word vectors
    work: Path | None = None  # where corpus and checkpoints lie; a temporary folder when None
    resume: bool = False
    choose_method: bool = False  # whether to measure which explanations suit the fitted model
    baseline: bool = False  # whether one is fitted afterwards, which takes time too
    observers: tuple[Observer, ...] = ()
    team: Team = field(default_factory=Alone)
    interrupts: Interrupts | None = None  # who notes Ctrl-C; the fit itself when None
    on_check: Callable[[DataCheck | PairCheck], None] | None = (
        None  # sees what was found before training starts
    )
    on_fitted: Callable[[], None] | None = (
        None  # may save: the model answers, and what is left to choose can be ended by Ctrl-C
    )

    def read_as(self) -> dict[str, Plain]:
        """How the files of the training were read, for a model to remember: nothing without files.

        An encoding is remembered only where it was asked for: others are found out file by file.
        """
        if not self.readers:
            return {}
        asked = self.columns
        names = {"source_column": asked.text, "target_column": asked.target}
        if asked.target is None:
            names = {"text_column": asked.text, "label_column": asked.label}
        names |= {"labels_separator": asked.labels_separator, "encoding": asked.encoding}
        return {name: value for name, value in names.items() if value is not None}


@contextmanager
def noting_interrupts(options: FitOptions) -> Iterator[Interrupts]:
    """Note Ctrl-C while fitting, unless whoever asks for the fit does so already."""
    if options.interrupts is not None:
        yield options.interrupts
        return
    with Interrupts() as interrupts:
        yield interrupts


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


@dataclass(frozen=True, slots=True)
class Holdout:
    """How much to hold out, and by which seed."""

    fraction: float
    seed: int

    def __post_init__(self) -> None:
        share = self.fraction
        require(0 <= share < 1, f"validation must be from 0 to below 1, got {share}")


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
