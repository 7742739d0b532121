"""Documents into a corpus, tokenised once and written as they come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from ...text.document import Document, Label, cut_stream, single_labels
from ...text.encode import Encoded
from ...text.tokenize import TextConfig
from ...text.vocab import Numbering, Vocabulary
from ..caps import Caps, CutTally, count_cuts, cut, left_of
from ..columns import Columns, time_number
from ..fingerprints import fingerprint
from .mapped import Corpus
from .store import DTYPES, ArrayFiles, Header, save_header

__all__ = ["CorpusWriter", "build_corpus"]


def build_corpus(
    documents: Iterable[Document],
    folder: Path | str,
    config: TextConfig | None = None,
    *,
    columns: Columns | None = None,
    validation: Iterable[Document] | None = None,
    vocabulary: Vocabulary | None = None,
) -> Corpus:
    """Write documents into a corpus in ``folder``; those of a second source are its second part.

    With a ``vocabulary``, of words or of any other pieces, the corpus has its ids from the start.
    """
    with CorpusWriter(folder, config, columns=columns, vocabulary=vocabulary) as writer:
        writer.extend(documents)
        if validation is not None:
            writer.extend(validation)
        return writer.finish()


class CorpusWriter:
    """Writes documents into a corpus, in memory that does not grow with their number.

    Only the distinct words are held; a word's number is final when it is first met, and becomes
    its vocabulary id on the way out (``Corpus.remapped``), so each text is tokenised once. Where
    there is a vocabulary already, its ids are written.
    """

    def __init__(
        self,
        folder: Path | str,
        config: TextConfig | None = None,
        *,
        columns: Columns | None = None,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self._folder = Path(folder)
        self._config = config or TextConfig()
        self._columns = columns or Columns()
        self._caps = Caps(self._config.max_sentences, self._config.max_words)
        self._tally = CutTally(self._caps)
        self._known = vocabulary
        self._numbering = Numbering(self._config)
        self._labels: dict[str | int, int] = {}
        self._kind: type[object] | None = None  # of the labels: single, tuple or none at all
        self._parts: list[int] = []
        self._totals = {"documents": 0, "tokens": 0, "sentences": 0, "labels": 0}
        self._files = ArrayFiles(self._folder, DTYPES)

    def __enter__(self) -> Self:
        self._files.__enter__()
        for name in ("token_starts", "sentence_starts", "label_starts"):
            self._files.write(name, [0])
        return self

    def __exit__(self, *problem: object) -> None:
        self._files.close()

    def extend(self, documents: Iterable[Document]) -> range:
        """Write the documents of one source; return the places they have in the corpus."""
        first = self._totals["documents"]
        for block in cut_stream(documents, lambda document: len(document.text)):
            self._add(block)
        self._parts.append(self._totals["documents"] - first)
        return range(first, self._totals["documents"])

    def finish(self) -> Corpus:
        """Close the files and open them as a corpus."""
        self._files.close()
        totals = self._totals
        header = Header(
            documents=totals["documents"],
            tokens=totals["tokens"],
            sentences=totals["sentences"],
            parts=tuple(self._parts),
            labels=tuple(self._labels),
            labelled=self._kind is not type(None),
            multilabel=self._kind is tuple,
            truncation=self._tally.report(),
            encoded=self._known is not None,
        )
        save_header(self._folder, header, self._words())
        return Corpus.open(self._folder)

    def _add(self, documents: Sequence[Document]) -> None:
        place = self._totals["documents"] + 1
        labels = [
            self._label_numbers(document.label, place + n) for n, document in enumerate(documents)
        ]
        vocabulary: Vocabulary = self._numbering if self._known is None else self._known
        found = vocabulary.encode([document.text for document in documents])
        if self._caps:
            found = self._cut(found, documents)
        self._files.write("ids", found.ids)
        self._files.write("sentence_lengths", found.sentence_lengths)
        self._files.write("labels", [number for numbers in labels for number in numbers])
        self._files.write("fingerprints", [fingerprint(document.text) for document in documents])
        group, time = self._columns.group, self._columns.time
        if group is not None:
            groups = [fingerprint(str(document.fields[group])) for document in documents]
            self._files.write("groups", groups)
        if time is not None:
            self._files.write(
                "times", [time_number(document.fields[time]) for document in documents]
            )
        self._write_starts("token", found.lengths)
        self._write_starts("sentence", found.sentences)
        self._write_starts("label", np.array([len(numbers) for numbers in labels]))
        self._totals["documents"] += len(documents)

    def _words(self) -> list[str]:
        """The words, or the pieces of the vocabulary, by their numbers in the files."""
        if self._known is None:
            return self._numbering.words
        return [self._known.decode([id]) for id in range(len(self._known))]

    def _cut(self, found: Encoded, documents: Sequence[Document]) -> Encoded:
        """Apply the caps, and count for each class what they cut."""
        lengths = found.sentence_lengths.astype(np.int64)
        kept = cut(lengths, found.sentences, self._caps)
        counts = count_cuts(lengths, found.sentences, kept)
        for place, document in enumerate(documents):
            names = tuple(map(str, single_labels(document.label)))
            self._tally.add(counts[place : place + 1], names)
        return left_of(found, kept)

    def _write_starts(self, of: str, counts: NDArray[np.int64]) -> None:
        """Write where the documents end, which is where those after them start."""
        ends = self._totals[f"{of}s"] + np.cumsum(counts)
        self._files.write(f"{of}_starts", ends)
        self._totals[f"{of}s"] = int(ends[-1])

    def _label_numbers(self, label: Label | None, place: int) -> list[int]:
        kind = type(label) if label is None or isinstance(label, tuple) else str
        if self._kind is None:
            self._kind = kind
        if kind is not self._kind:
            names = {type(None): "no label", tuple: "a list of labels", str: "a single label"}
            raise DataError(
                f"document {place} has {names[kind]}, those before it {names[self._kind]}"
            )
        return [self._labels.setdefault(one, len(self._labels)) for one in single_labels(label)]
