"""Caps on length: what they leave of documents, what they cut, and how to choose them.

Other programs want arrays of fixed size: what caps leave, padded. Nothing here computes so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..config import checked_settings, require, require_counts
from ..records.data import ClassCut, TruncationReport
from ..text.encode import Encoded
from ..text.vocab import PADDING
from .batch import Batch
from .batches import places_in_row, row_sums

__all__ = [
    "CappedRows",
    "Caps",
    "CutTally",
    "FixedArray",
    "count_cuts",
    "cut",
    "left_of",
    "length_at",
    "to_fixed_array",
]


@dataclass(frozen=True, slots=True)
@checked_settings
class Caps:
    """The most sentences of a document and words of a sentence; ``None`` sets no limit."""

    max_sentences: int | None = None
    max_words: int | None = None

    def __post_init__(self) -> None:
        require_counts(self, "max_sentences", "max_words")

    def __bool__(self) -> bool:
        """Whether anything is limited at all."""
        return self.max_sentences is not None or self.max_words is not None


@dataclass(frozen=True, slots=True, eq=False)
class CappedRows:
    """What caps leave of some documents."""

    sentences: NDArray[np.int64]  # (documents,)
    sentence_lengths: NDArray[np.int64]  # of the sentences that are left
    tokens: NDArray[np.bool_]  # for each token of the whole documents, whether it is left


def cut(
    sentence_lengths: NDArray[np.int64], sentences: NDArray[np.int64], caps: Caps
) -> CappedRows:
    """Keep the first sentences of each document and the first words of each sentence."""
    left = np.ones(len(sentence_lengths), dtype=np.bool_)
    if caps.max_sentences is not None:
        left = places_in_row(sentences) < caps.max_sentences
        sentences = np.minimum(sentences, caps.max_sentences)
    lengths = np.where(left, sentence_lengths, 0)
    if caps.max_words is not None:
        lengths = np.minimum(lengths, caps.max_words)
    tokens = places_in_row(sentence_lengths) < np.repeat(lengths, sentence_lengths)
    return CappedRows(sentences, lengths[left], tokens)


def left_of(encoded: Encoded, kept: CappedRows) -> Encoded:
    """What caps leave of encoded texts."""
    return Encoded(
        ids=encoded.ids[kept.tokens],
        spans=encoded.spans[kept.tokens],
        lengths=row_sums(kept.sentence_lengths, kept.sentences),
        sentence_lengths=kept.sentence_lengths.astype(np.int32),
        sentences=kept.sentences,
    )


def count_cuts(
    sentence_lengths: NDArray[np.int64], sentences: NDArray[np.int64], kept: CappedRows
) -> NDArray[np.int64]:
    """Count for each document what ``ClassCut`` has, in its order, (documents, 6)."""
    words = row_sums(sentence_lengths, sentences)
    words_dropped = words - row_sums(kept.sentence_lengths, kept.sentences)
    columns = (
        np.ones_like(words),
        words_dropped > 0,
        sentences,
        sentences - kept.sentences,
        words,
        words_dropped,
    )
    return np.stack(columns, axis=1).astype(np.int64)


class CutTally:
    """Adds up, document by document or many at once, what caps take from each class."""

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        self._total = np.zeros(6, dtype=np.int64)
        self._classes: dict[str, NDArray[np.int64]] = {}

    def add(self, counts: NDArray[np.int64], labels: Iterable[str] = ()) -> None:
        """Add what ``count_cuts`` gave for documents that have all of these labels."""
        added = counts.sum(axis=0)
        self._total += added
        for label in labels:
            self.add_to_class(added, label)

    def add_to_class(self, added: NDArray[np.int64], label: str) -> None:
        """Add sums to one class alone, the total being added elsewhere."""
        self._classes[label] = self._classes.get(label, 0) + added

    def report(self) -> TruncationReport:
        """Return what was added up, the classes in the order of their names."""
        return TruncationReport(
            total=ClassCut("", *self._total.tolist()),
            classes=tuple(
                ClassCut(label, *counts.tolist()) for label, counts in sorted(self._classes.items())
            ),
            max_sentences=self._caps.max_sentences,
            max_words=self._caps.max_words,
        )


def length_at(histogram: NDArray[np.int64], fraction: float) -> int:
    """Return the smallest length that ``fraction`` of all do not exceed; of nothing it is 0.

    ``histogram[length]`` says how many there are of each length.
    """
    require(0 < fraction <= 1, f"fraction must be above 0 and at most 1, got {fraction}")
    up_to = np.cumsum(histogram)
    if not len(up_to) or not up_to[-1]:
        return 0
    # A hair is taken off, since 0.8 x 10 may come out above 8.
    return int(np.searchsorted(up_to, fraction * up_to[-1] * (1 - 1e-12)))


@dataclass(frozen=True, slots=True, eq=False)
class FixedArray:
    """Ids, (documents, sentences, words), zero where there is none, and what was cut."""

    ids: NDArray[np.int64]
    report: TruncationReport


def to_fixed_array(
    batch: Batch, *, document_size: int, sentence_size: int, labels: Sequence[str] | None = None
) -> FixedArray:
    """Pad short sentences and documents with 0 and cut long ones.

    With ``labels``, one a document, what was cut is counted for each of them.
    """
    require(document_size >= 1, f"document_size must be at least 1, got {document_size}")
    require(sentence_size >= 1, f"sentence_size must be at least 1, got {sentence_size}")
    sentences = batch.sentences.cpu().numpy()
    lengths = batch.ids.lengths.cpu().numpy()
    caps = Caps(max_sentences=document_size, max_words=sentence_size)
    kept = cut(lengths, sentences, caps)
    array = np.full((len(batch), document_size, sentence_size), PADDING, dtype=np.int64)
    document = np.repeat(np.arange(len(batch)), kept.sentences)
    in_document = places_in_row(kept.sentences)
    array[
        np.repeat(document, kept.sentence_lengths),
        np.repeat(in_document, kept.sentence_lengths),
        places_in_row(kept.sentence_lengths),
    ] = batch.ids.values.cpu().numpy()[kept.tokens]
    tally = CutTally(caps)
    counts = count_cuts(lengths, sentences, kept)
    tally.add(counts)
    for row, label in zip(counts, labels or (), strict=False):
        tally.add_to_class(row, label)
    return FixedArray(array, tally.report())
