"""Pretrained word vectors: of a large file only what the vocabulary needs."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..text.characters import lower_case, lower_words
from ..text.vocab import Vocab
from .formats.lines import open_bytes
from .formats.vectors import BinaryVectors, TextVectors, open_vectors

__all__ = ["Coverage", "WordVectors", "read_vectors"]

_SPECIAL = 2  # padding and out-of-vocabulary, which no file knows
_MISSING, _LOWER_CASE, _AS_WRITTEN = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a vocabulary a file of vectors knows."""

    file: str
    size: int  # of a vector
    words: int  # of the vocabulary, padding and out-of-vocabulary left out
    found: int  # of these, as written
    found_in_lower_case: int  # and these only with capitals and small letters set aside
    token_share: float | None  # of all words of the texts, where their counts are known
    damaged: int  # rows of the file that could not be read

    @property
    def word_share(self) -> float:
        """The share of the vocabulary's words that have a vector."""
        return (self.found + self.found_in_lower_case) / self.words if self.words else 0.0

    def describe(self) -> list[str]:
        """Return the coverage as lines for a terminal."""
        known = self.found + self.found_in_lower_case
        lines = [
            f"{self.file}: vectors of size {self.size} for {known:,} of {self.words:,} words "
            f"({100 * self.word_share:.1f} %)"
        ]
        if self.token_share is not None:
            lines.append(
                f"  they are {100 * self.token_share:.1f} % of the running text; "
                f"{100 * (1 - self.token_share):.1f} % have none"
            )
        if self.damaged:
            lines.append(f"  ! {self.damaged:,} damaged rows were left out")
        return lines


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """A row for each word of a vocabulary, zero where the file has none."""

    matrix: NDArray[np.float32]  # (words, size)
    known: NDArray[np.bool_]  # (words,)
    coverage: Coverage


def read_vectors(
    path: Path | str,
    vocab: Vocab,
    *,
    size: int | None = None,
    counts: Mapping[str, int] | None = None,
) -> WordVectors:
    """Read the vectors of the vocabulary's words from a GloVe, word2vec or fastText file.

    The text form, with or without a header, and word2vec's binary form are told apart by their
    content, and either may be compressed with gzip. A word is looked up as written, then in
    lower case. ``size`` is the size that the vectors must have; ``counts`` says how often each
    word occurs in the texts.
    """
    try:
        with open_bytes(path) as stream:
            file = open_vectors(stream, str(path))
            if size is not None and file.size != size:
                raise DataError(
                    f"{path} has vectors of size {file.size}, the network wants {size}; "
                    f"use --set network.embedding_size={file.size}"
                )
            matrix, found = _collected(file, vocab)
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise DataError(f"{path} is damaged: {problem}") from problem
    known = found > _MISSING
    coverage = Coverage(
        file=str(path),
        size=file.size,
        words=len(vocab) - _SPECIAL,
        found=int((found == _AS_WRITTEN).sum()),
        found_in_lower_case=int((found == _LOWER_CASE).sum()),
        token_share=_token_share(known, vocab, counts),
        damaged=file.damaged,
    )
    return WordVectors(matrix, known, coverage)


def _collected(
    file: TextVectors | BinaryVectors, vocab: Vocab
) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Fill a matrix with the vectors of the vocabulary; say of each word how it was found."""
    matrix = np.zeros((len(vocab), file.size), dtype=np.float32)
    found = np.full(len(vocab), _MISSING, dtype=np.int8)
    words = vocab.words[_SPECIAL:]
    exact = {word: place for place, word in enumerate(words, _SPECIAL)}
    folded: dict[str, list[int]] = {}
    for place, word in enumerate(lower_words(words), _SPECIAL):
        folded.setdefault(word, []).append(place)
    for word, written in file:
        place = exact.get(word, 0)
        wanted = [place] if place and found[place] < _AS_WRITTEN else []
        # The first of several spellings is taken: files have the most frequent first.
        wanted += [
            other
            for other in folded.get(lower_case(word), ())
            if not found[other] and other != place
        ]
        if not wanted:
            continue
        values = file.parse(written)
        if values is None:
            file.damaged += 1
            continue
        matrix[wanted] = values
        found[wanted] = _LOWER_CASE
        if place:
            found[place] = _AS_WRITTEN
    return matrix, found


def _token_share(
    known: NDArray[np.bool_], vocab: Vocab, counts: Mapping[str, int] | None
) -> float | None:
    if not counts:
        return None
    times = np.array(list(counts.values()), dtype=np.int64)
    return float(times[known[vocab.ids(list(counts))]].sum() / times.sum())
