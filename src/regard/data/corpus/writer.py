"""Documents into a corpus, tokenised once and written as they come."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError
from ...files import open_named
from ...text.document import Document, Label, single_labels
from ...text.encode import Encoded, encode
from ...text.tokenize import TextConfig
from ...text.vocab import Numbering
from ..caps import Caps, CutTally, count_cuts, cut, left_of
from ..columns import Columns, time_number
from ..fingerprints import fingerprint
from .mapped import Corpus
from .store import DTYPES, Header, array_path, save_header

__all__ = ["CorpusWriter", "build_corpus"]

# What is tokenised and written together.
_BLOCK_DOCUMENTS = 1 << 10
_BLOCK_CHARACTERS = 1 << 17


def build_corpus(
    documents: Iterable[Document],
    folder: Path | str,
    config: TextConfig | None = None,
    *,
    columns: Columns | None = None,
    validation: Iterable[Document] | None = None,
) -> Corpus:
    """Write documents into a corpus in ``folder``; those of a second source are its second part."""
    with CorpusWriter(folder, config, columns=columns) as writer:
        writer.extend(documents)
        if validation is not None:
            writer.extend(validation)
        return writer.finish()


class CorpusWriter:
    """Writes documents into a corpus, in memory that does not grow with their number.

    Only the distinct words are held; a word's number is final when it is first met, and becomes
    its vocabulary id on the way out (``Corpus.remapped``), so each text is tokenised once.
    """

    def __init__(
        self,
        folder: Path | str,
        config: TextConfig | None = None,
        *,
        columns: Columns | None = None,
    ) -> None:
        self._folder = Path(folder)
        self._config = config or TextConfig()
        self._columns = columns or Columns()
        self._caps = Caps(self._config.max_sentences, self._config.max_words)
        self._tally = CutTally(self._caps)
        self._words = Numbering()
        self._labels: dict[str | int, int] = {}
        self._kind: type[object] | None = None  # of the labels: single, tuple or none at all
        self._parts: list[int] = []
        self._totals = {"documents": 0, "tokens": 0, "sentences": 0, "labels": 0}
        self._files: dict[str, BinaryIO] = {}
        self._closing = contextlib.ExitStack()

    def __enter__(self) -> CorpusWriter:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for old in self._folder.glob("corpus.json"):
                old.unlink()
            for name in DTYPES:
                path = array_path(self._folder, name)
                self._files[name] = self._closing.enter_context(open_named(path, "wb"))
        except OSError as problem:
            raise DataError(f"cannot write a corpus to {self._folder}: {problem}") from problem
        for name in ("token_starts", "sentence_starts", "label_starts"):
            self._write(name, [0])
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.close()

    def extend(self, documents: Iterable[Document]) -> range:
        """Write the documents of one source; return the places they have in the corpus."""
        first = self._totals["documents"]
        for block in _blocks(documents):
            self._add(block)
        self._parts.append(self._totals["documents"] - first)
        return range(first, self._totals["documents"])

    def finish(self) -> Corpus:
        """Close the files and open them as a corpus."""
        self._closing.close()
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
        )
        save_header(self._folder, header, self._words.words)
        return Corpus.open(self._folder)

    def _add(self, documents: Sequence[Document]) -> None:
        place = self._totals["documents"] + 1
        labels = [
            self._label_numbers(document.label, place + n) for n, document in enumerate(documents)
        ]
        found = encode([document.text for document in documents], self._words, self._config)
        if self._caps:
            found = self._cut(found, documents)
        self._write("ids", found.ids)
        self._write("sentence_lengths", found.sentence_lengths)
        self._write("labels", [number for numbers in labels for number in numbers])
        self._write("fingerprints", [fingerprint(document.text) for document in documents])
        group, time = self._columns.group, self._columns.time
        if group is not None:
            groups = [fingerprint(str(document.fields[group])) for document in documents]
            self._write("groups", groups)
        if time is not None:
            self._write("times", [time_number(document.fields[time]) for document in documents])
        self._write_starts("token", found.lengths)
        self._write_starts("sentence", found.sentences)
        self._write_starts("label", np.array([len(numbers) for numbers in labels]))
        self._totals["documents"] += len(documents)

    def _cut(self, found: Encoded, documents: Sequence[Document]) -> Encoded:
        """Apply the caps, and count for each class what they cut."""
        lengths = found.sentence_lengths.astype(np.int64)
        kept = cut(lengths, found.sentences, self._caps)
        counts = count_cuts(lengths, found.sentences, kept)
        for place, document in enumerate(documents):
            names = tuple(map(str, single_labels(document.label)))
            self._tally.add(counts[place : place + 1], names)
        return left_of(found, kept)

    def _write(self, name: str, values: ArrayLike) -> None:
        self._files[name].write(np.asarray(values, DTYPES[name]).tobytes())

    def _write_starts(self, of: str, counts: NDArray[np.int64]) -> None:
        """Write where the documents end, which is where those after them start."""
        ends = self._totals[f"{of}s"] + np.cumsum(counts)
        self._write(f"{of}_starts", ends)
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


def _blocks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Cut a stream into lists of bounded size, none of them empty."""
    block: list[Document] = []
    characters = 0
    for document in documents:
        block.append(document)
        characters += len(document.text)
        if len(block) == _BLOCK_DOCUMENTS or characters >= _BLOCK_CHARACTERS:
            yield block
            block, characters = [], 0
    if block:
        yield block
