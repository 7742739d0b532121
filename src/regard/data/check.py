"""The check before training: what is in the data, how long it is, and what is doubtful."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..records.data import ClassSize, DataCheck, Lengths, Overlap, ReadCounts, TruncationReport
from .caps import Caps, CutTally, count_cuts, cut, length_at
from .corpus.mapped import Corpus
from .fingerprints import repeated, shared

__all__ = [
    "check_corpus",
    "estimate_memory",
    "percentile_caps",
    "sentence_histogram",
    "truncation_report",
    "word_histogram",
]

_WITHOUT_DATA = 300 << 20  # Python and torch with nothing to do


def check_corpus(
    corpus: Corpus,
    *,
    training: ArrayLike | None = None,
    validation: ArrayLike | None = None,
    others: Mapping[str, NDArray[np.uint64]] | None = None,
    readings: Sequence[ReadCounts] = (),
    token: str = "word",
) -> DataCheck:
    """Look at the training documents, by default those of the first part, beside the others.

    ``others`` are fingerprints of texts from elsewhere, such as a test file, by name; ``token``
    says what the corpus holds.
    """
    chosen = _choose(corpus, training, 0)
    held_out = _choose(corpus, validation, 1)
    prints = corpus.arrays.fingerprints
    compared = {"validation": prints[held_out], **(others or {})}
    lengths = corpus.lengths[chosen]
    return DataCheck(
        documents=len(chosen),
        validation_documents=len(held_out),
        multilabel=corpus.labels is not None and corpus.labels.multilabel,
        classes=_class_sizes(corpus, chosen, held_out),
        tokens=int(lengths.sum()),
        distinct_words=len(corpus.words),
        tokens_per_document=_lengths(np.bincount(lengths)),
        sentences_per_document=_lengths(sentence_histogram(corpus, chosen)),
        words_per_sentence=_lengths(word_histogram(corpus, chosen)),
        empty_documents=int((lengths == 0).sum()),
        duplicates=repeated(prints[chosen]),
        contradictions=_contradictions(corpus, chosen),
        overlaps=tuple(
            Overlap(name, len(texts), shared(texts, prints[chosen]))
            for name, texts in compared.items()
            if len(texts)
        ),
        readings=tuple(readings),
        truncation=corpus.truncation,
        corpus_bytes=corpus.size_on_disk,
        token=token,
    )


def estimate_memory(*, parameter_count: int, batch_tokens: int, token_size: int) -> int:
    """Estimate the bytes that training takes, roughly; the corpus stays on disk.

    Every parameter has a gradient and two moments beside it; ``token_size`` says how many
    numbers the model keeps for each token of a batch, and each of them gets a gradient too.
    """
    return _WITHOUT_DATA + 16 * parameter_count + 8 * batch_tokens * token_size


def percentile_caps(
    corpus: Corpus, fraction: float = 0.8, indices: ArrayLike | None = None
) -> Caps:
    """Return the caps that leave ``fraction`` of the documents and of the sentences whole.

    With ``indices`` only these documents are looked at: the training documents, for instance.
    """
    return Caps(
        max_sentences=max(1, length_at(sentence_histogram(corpus, indices), fraction)),
        max_words=max(1, length_at(word_histogram(corpus, indices), fraction)),
    )


def truncation_report(
    corpus: Corpus, caps: Caps, indices: ArrayLike | None = None
) -> TruncationReport:
    """Count what caps take from the documents of each class."""
    tally = CutTally(caps)
    for block in corpus.blocks(indices):
        rows = corpus.sentence_rows(block)
        kept = cut(rows.sentence_lengths, rows.sentences, caps)
        counts = count_cuts(rows.sentence_lengths, rows.sentences, kept)
        tally.add(counts)
        if corpus.labels is None:
            continue
        found = corpus.class_places(block)
        for number in np.unique(found.classes).tolist():
            members = found.documents[found.classes == number]
            tally.add_to_class(counts[members].sum(axis=0), str(corpus.labels.classes[number]))
    return tally.report()


def sentence_histogram(corpus: Corpus, indices: ArrayLike | None = None) -> NDArray[np.int64]:
    """Count the documents that have 0, 1, 2, ... sentences."""
    counts = corpus.sentence_counts
    return np.bincount(counts if indices is None else counts[np.asarray(indices, np.int64)])


def word_histogram(corpus: Corpus, indices: ArrayLike | None = None) -> NDArray[np.int64]:
    """Count the sentences that have 0, 1, 2, ... words."""
    total = np.zeros(1, dtype=np.int64)
    for block in corpus.blocks(indices):
        added = np.bincount(corpus.sentence_rows(block).sentence_lengths, minlength=len(total))
        added[: len(total)] += total
        total = added
    return total


def _choose(corpus: Corpus, given: ArrayLike | None, part: int) -> NDArray[np.int64]:
    if given is not None:
        return np.asarray(given, dtype=np.int64)
    return np.array(corpus.parts[part] if part < len(corpus.parts) else (), dtype=np.int64)


def _class_sizes(
    corpus: Corpus, training: NDArray[np.int64], validation: NDArray[np.int64]
) -> tuple[ClassSize, ...]:
    if corpus.labels is None:
        return ()
    counts = zip(
        corpus.class_counts(training).tolist(),
        corpus.class_counts(validation).tolist(),
        strict=True,
    )
    return tuple(
        ClassSize(str(label), *pair)
        for label, pair in zip(corpus.labels.classes, counts, strict=True)
    )


def _lengths(histogram: NDArray[np.int64]) -> Lengths:
    return Lengths(*(length_at(histogram, fraction) for fraction in (0.5, 0.8, 0.95, 0.99, 1)))


def _contradictions(corpus: Corpus, chosen: NDArray[np.int64]) -> int:
    """Count the texts that occur with more than one label, or set of labels."""
    if corpus.labels is None:
        return 0
    # A sum of scattered numbers stands for a set of classes, whatever their order.
    scattered = np.random.default_rng(0).integers(2**63, size=len(corpus.labels), dtype=np.uint64)
    answers = np.zeros(len(chosen), dtype=np.uint64)
    first = 0
    for block in corpus.blocks(chosen):
        found = corpus.class_places(block)
        np.add.at(answers, first + found.documents, scattered[found.classes])
        first += len(block)
    prints = corpus.arrays.fingerprints[chosen]
    order = np.lexsort((answers, prints))
    prints, answers = prints[order], answers[order]
    differ = (prints[1:] == prints[:-1]) & (answers[1:] != answers[:-1])
    return len(np.unique(prints[1:][differ]))
