"""How long the documents of a corpus are, and what caps would cut from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...records.data import TruncationReport
from ..caps import Caps, CutTally, count_cuts, cut, length_at
from .mapped import Corpus

__all__ = ["percentile_caps", "sentence_histogram", "truncation_report", "word_histogram"]


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
