"""Documents into a corpus, tokenised once and written as they come."""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Iterable
from io import BufferedWriter
from pathlib import Path
from types import TracebackType

import numpy as np

from ..errors import DataError
from ..text.document import Document, Label
from ..text.tokenize import TextConfig, tokenize
from .caps import Caps, CutTally, count_cuts, cut
from .cells import time_number
from .columns import Columns
from .corpus import Corpus
from .fingerprints import fingerprint
from .store import DTYPES, Header, array_path, save_header

__all__ = ["CorpusWriter", "build_corpus"]

_BUFFERED = 1 << 16
_TYPE_CODES = {"int32": "i", "int64": "q", "uint64": "Q", "float64": "d"}


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


class _Numbering(dict[str, int]):
    """Numbers words in the order they are first asked for."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


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
        self._words = _Numbering()
        self._labels: dict[str | int, int] = {}
        self._kind: type[object] | None = None  # of the labels: single, tuple or none at all
        self._parts: list[int] = []
        self._totals = {"documents": 0, "tokens": 0, "sentences": 0, "labels": 0}
        self._buffers: dict[str, array[float]] = {
            name: array(_TYPE_CODES[kind]) for name, kind in DTYPES.items()
        }
        self._files: dict[str, BufferedWriter] = {}
        self._closing = contextlib.ExitStack()

    def __enter__(self) -> CorpusWriter:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for old in self._folder.glob("corpus.json"):
                old.unlink()
            for name in DTYPES:
                path = array_path(self._folder, name)
                self._files[name] = self._closing.enter_context(path.open("wb"))
        except OSError as problem:
            raise DataError(f"cannot write a corpus to {self._folder}: {problem}") from problem
        self._begin_document()
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
        for document in documents:
            self._add(document)
        self._parts.append(self._totals["documents"] - first)
        return range(first, self._totals["documents"])

    def finish(self) -> Corpus:
        """Close the files and open them as a corpus."""
        self._flush()
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
        save_header(self._folder, header, list(self._words))
        return Corpus.open(self._folder)

    def _add(self, document: Document) -> None:
        numbers = self._label_numbers(document.label)
        tokens = tokenize(document.text, self._config)
        if self._caps:
            lengths = tokens.per_sentence.astype(np.int64)
            sentences = np.array([len(lengths)])
            kept = cut(lengths, sentences, self._caps)
            self._tally.add(count_cuts(lengths, sentences, kept), _names(document.label))
            tokens = tokens.truncated(
                sentences=self._caps.max_sentences, tokens=self._caps.max_words
            )
        words = tokens.words()
        buffers = self._buffers
        buffers["ids"].extend(map(self._words.__getitem__, words))
        buffers["sentence_lengths"].extend(tokens.per_sentence.tolist())
        buffers["labels"].extend(numbers)
        buffers["fingerprints"].append(fingerprint(document.text))
        if self._columns.group is not None:
            buffers["groups"].append(fingerprint(str(document.fields[self._columns.group])))
        if self._columns.time is not None:
            buffers["times"].append(time_number(document.fields[self._columns.time]))
        self._totals["documents"] += 1
        self._totals["tokens"] += len(words)
        self._totals["sentences"] += len(tokens.per_sentence)
        self._totals["labels"] += len(numbers)
        self._begin_document()

    def _begin_document(self) -> None:
        self._buffers["token_starts"].append(self._totals["tokens"])
        self._buffers["sentence_starts"].append(self._totals["sentences"])
        self._buffers["label_starts"].append(self._totals["labels"])
        if any(len(buffer) >= _BUFFERED for buffer in self._buffers.values()):
            self._flush()

    def _flush(self) -> None:
        for name, buffer in self._buffers.items():
            buffer.tofile(self._files[name])
            del buffer[:]

    def _label_numbers(self, label: Label | None) -> list[int]:
        kind = type(label) if label is None or isinstance(label, tuple) else str
        if self._kind is None:
            self._kind = kind
        if kind is not self._kind:
            names = {type(None): "no label", tuple: "a list of labels", str: "a single label"}
            place = self._totals["documents"] + 1
            raise DataError(
                f"document {place} has {names[kind]}, those before it {names[self._kind]}"
            )
        singles = () if label is None else label if isinstance(label, tuple) else (label,)
        return [self._labels.setdefault(single, len(self._labels)) for single in singles]


def _names(label: Label | None) -> tuple[str, ...]:
    if label is None:
        return ()
    return label if isinstance(label, tuple) else (str(label),)
