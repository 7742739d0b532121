"""Documents as one array of fixed size, for programs that want it; nothing here computes so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..config import require
from ..records.data import TruncationReport
from ..text.vocab import PADDING
from .batch import Batch
from .caps import Caps, CutTally, count_cuts, cut
from .runs import places_in_row

__all__ = ["FixedArray", "to_fixed_array"]


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
