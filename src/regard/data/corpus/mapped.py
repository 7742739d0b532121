"""A corpus: documents as ids in mapped files, from which batches are gathered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError, suggestion
from ...ragged import Ragged
from ...records.data import TruncationReport
from ...text.vocab import Vocab
from ..batch import Batch
from ..batches import cut_runs, places_of_rows, row_sums
from ..caps import Caps, cut
from ..labels import LabelIndex
from .store import DTYPES, Arrays, load_store, load_words

__all__ = ["ClassPlaces", "Corpus", "SentenceRows"]

_BLOCK_DOCUMENTS = 1 << 14
_BLOCK_TOKENS = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class SentenceRows:
    """The sentences of some documents, end to end."""

    sentences: NDArray[np.int64]  # (documents,)
    sentence_lengths: NDArray[np.int64]  # (sentences,)


@dataclass(frozen=True, slots=True, eq=False)
class ClassPlaces:
    """The classes of some documents, a pair for each label that holds."""

    documents: NDArray[np.int64]  # (pairs,)
    classes: NDArray[np.int64]  # (pairs,)


@dataclass(frozen=True, slots=True, eq=False)
class _Gathered:
    numbers: NDArray[np.int32]  # (tokens,)
    sentence_lengths: NDArray[np.int64]
    sentences: NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Documents as ids in files that are mapped into memory, so they may be larger than it.

    The files hold words as numbers in the order they were first met; ``remapped`` gives them
    the ids of a vocabulary on the way out, so the files serve any number of vocabularies. Or they
    hold the ids of one vocabulary, of words or of other pieces, that was there before them.
    """

    arrays: Arrays
    words: Sequence[str]  # by their number in the files
    labels: LabelIndex | None  # None: the documents have no labels
    parts: tuple[range, ...]  # the documents of each source: training, then validation
    truncation: TruncationReport  # what was cut while writing
    class_numbers: NDArray[np.int64]  # for each label number in the files, its class
    word_ids: NDArray[np.int32] | None = None  # for each word number in the files, its id
    caps: Caps | None = None  # what is cut on the way out

    @classmethod
    def open(cls, folder: Path | str) -> Corpus:
        """Open the corpus that a ``CorpusWriter`` wrote."""
        header, arrays = load_store(Path(folder))
        ends = np.cumsum(header.parts, dtype=np.int64).tolist()
        parts = tuple(range(end - size, end) for end, size in zip(ends, header.parts, strict=True))
        found = LabelIndex.from_labels(header.labels)
        numbers = [found.number(label) for label in header.labels]
        words = load_words(Path(folder))
        return cls(
            arrays=arrays,
            words=words,
            labels=replace(found, multilabel=header.multilabel) if header.labelled else None,
            parts=parts,
            truncation=header.truncation,
            class_numbers=np.array(numbers, dtype=np.int64),
            word_ids=np.arange(len(words), dtype=np.int32) if header.encoded else None,
        )

    def __len__(self) -> int:
        """How many documents there are, in all parts."""
        return len(self.arrays.fingerprints)

    def __repr__(self) -> str:
        return f"Corpus({len(self):,} documents, {len(self.arrays.ids):,} tokens)"

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """How many tokens each document has under the caps, (documents,)."""
        if not self.caps:
            return np.diff(self.arrays.token_starts)
        blocks = []
        for block in self.blocks():
            rows = self.sentence_rows(block)
            kept = cut(rows.sentence_lengths, rows.sentences, self.caps)
            blocks.append(row_sums(kept.sentence_lengths, kept.sentences))
        return np.concatenate(blocks) if blocks else np.zeros(0, np.int64)

    @property
    def size_on_disk(self) -> int:
        """How many bytes the mapped files have."""
        return sum(getattr(self.arrays, name).nbytes for name in DTYPES)

    @property
    def sentence_counts(self) -> NDArray[np.int64]:
        """How many sentences each document has before the caps, (documents,)."""
        return np.diff(self.arrays.sentence_starts)

    @cached_property
    def targets(self) -> NDArray[np.int64]:
        """The class number of each document, (documents,); for data with one label each."""
        if self.labels is None or self.labels.multilabel:
            raise DataError("these documents do not have exactly one label each")
        return self.class_numbers[self.arrays.labels]

    def remapped(self, vocab: Vocab) -> Corpus:
        """The same documents with the ids of a vocabulary."""
        return replace(self, word_ids=vocab.ids(self.words))

    def relabelled(self, labels: LabelIndex) -> Corpus:
        """The same documents with the class numbers of a model; a label it lacks is an error."""
        if self.labels is None:
            raise DataError("these documents have no labels")
        if self.labels.multilabel != labels.multilabel:
            raise DataError("these documents and the model differ in having one label or several")
        numbers = [labels.number(label) for label in self.labels.classes]
        missing = [
            str(label)
            for label, number in zip(self.labels.classes, numbers, strict=True)
            if number is None
        ]
        if missing:
            known = suggestion(missing[0], [str(label) for label in labels.classes])
            raise DataError(f"the model does not know the label {missing[0]!r}; {known}")
        translated = np.array(numbers, dtype=np.int64)
        return replace(self, labels=labels, class_numbers=translated[self.class_numbers])

    def capped(self, caps: Caps) -> Corpus:
        """The same documents, cut on the way out."""
        return replace(self, caps=caps)

    def word_counts(self, indices: ArrayLike | None = None) -> dict[str, int]:
        """Count the words, as written, of the chosen documents or of all."""
        counts = np.zeros(len(self.words), dtype=np.int64)
        for block in self.blocks(indices):
            counts += np.bincount(self._gather(block).numbers, minlength=len(counts))
        totals: dict[str, int] = {}
        for place in np.flatnonzero(counts).tolist():
            # Pieces may be told apart by the space before them alone.
            totals[self.words[place]] = totals.get(self.words[place], 0) + int(counts[place])
        return totals

    def class_counts(self, indices: ArrayLike | None = None) -> NDArray[np.int64]:
        """Count the chosen documents, or all, that have each class, (classes,)."""
        if self.labels is None:
            return np.zeros(0, dtype=np.int64)
        counts = np.zeros(len(self.labels), dtype=np.int64)
        for block in self.blocks(indices):
            counts += np.bincount(self.class_places(block).classes, minlength=len(counts))
        return counts

    def batch(self, indices: ArrayLike) -> Batch:
        """Gather the chosen documents, in the order given, as one batch with their labels."""
        if self.word_ids is None:
            raise DataError("the corpus has no ids yet; call remapped(vocab) first")
        chosen = np.asarray(indices, dtype=np.int64)
        found = self._gather(chosen)
        ids = self.word_ids[found.numbers].astype(np.int64)
        return Batch(
            ids=Ragged(torch.from_numpy(ids), torch.from_numpy(found.sentence_lengths)),
            sentences=torch.from_numpy(found.sentences),
            labels=self.label_tensor(chosen),
        )

    def blocks(self, indices: ArrayLike | None = None) -> Iterator[NDArray[np.int64]]:
        """Go through the chosen documents, or all, in blocks that take little memory."""
        chosen = np.arange(len(self)) if indices is None else np.asarray(indices, dtype=np.int64)
        starts = self.arrays.token_starts
        sizes = starts[chosen + 1] - starts[chosen]
        for run in cut_runs(sizes, most_items=_BLOCK_DOCUMENTS, most_total=_BLOCK_TOKENS):
            yield chosen[run]

    def kept_rows(self, chosen: NDArray[np.int64]) -> SentenceRows:
        """Gather how many sentences the documents have and how long these are, under the caps."""
        rows = self.sentence_rows(chosen)
        if not self.caps:
            return rows
        kept = cut(rows.sentence_lengths, rows.sentences, self.caps)
        return SentenceRows(kept.sentences, kept.sentence_lengths)

    def sentence_rows(self, chosen: NDArray[np.int64]) -> SentenceRows:
        """Gather how many sentences the documents have and how long these are, before the caps."""
        starts = self.arrays.sentence_starts[chosen]
        sentences = self.arrays.sentence_starts[chosen + 1] - starts
        lengths = self.arrays.sentence_lengths[places_of_rows(starts, sentences)]
        return SentenceRows(sentences, lengths.astype(np.int64))

    def class_places(self, chosen: NDArray[np.int64]) -> ClassPlaces:
        """Gather the classes of the documents: a pair for each label that holds."""
        starts = self.arrays.label_starts[chosen]
        counts = self.arrays.label_starts[chosen + 1] - starts
        numbers = self.arrays.labels[places_of_rows(starts, counts)]
        return ClassPlaces(np.repeat(np.arange(len(chosen)), counts), self.class_numbers[numbers])

    def _gather(self, chosen: NDArray[np.int64]) -> _Gathered:
        rows = self.sentence_rows(chosen)
        starts = self.arrays.token_starts[chosen]
        counts = self.arrays.token_starts[chosen + 1] - starts
        numbers = self.arrays.ids[places_of_rows(starts, counts)]
        if not self.caps:
            return _Gathered(numbers, rows.sentence_lengths, rows.sentences)
        kept = cut(rows.sentence_lengths, rows.sentences, self.caps)
        return _Gathered(numbers[kept.tokens], kept.sentence_lengths, kept.sentences)

    def label_tensor(self, chosen: NDArray[np.int64]) -> torch.Tensor | None:
        """The labels of the documents as a ``Batch`` has them; None where there are none."""
        if self.labels is None:
            return None
        if not self.labels.multilabel:
            return torch.from_numpy(self.targets[chosen])
        found = self.class_places(chosen)
        holds = np.zeros((len(chosen), len(self.labels)), dtype=np.float32)
        holds[found.documents, found.classes] = 1
        return torch.from_numpy(holds)
