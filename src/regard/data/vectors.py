"""Pretrained word vectors: of a large file only what the vocabulary needs.

Files are read row by row, in the text form or in the binary form of word2vec.
"""

from __future__ import annotations

import gzip
import io
import itertools
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..text.characters import lower_case, lower_words
from ..text.vocab import Vocab
from .formats.lines import open_bytes

__all__ = [
    "BinaryVectors",
    "Coverage",
    "TextVectors",
    "WordVectors",
    "open_vectors",
    "read_vectors",
]

_SPECIAL = 2  # padding and out-of-vocabulary, which no file knows
_MISSING, _LOWER_CASE, _AS_WRITTEN = 0, 1, 2
_HEADER = re.compile(rb"\s*(\d+)[ \t]+(\d+)\s*")
_MOST_DIGITS = 18  # of a number in a header
_UNWRITTEN = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]| [^ ]*[^ 0-9.eE+naif\t\r-][^ ]*$")
_FASTTEXT_MODEL = b"\xba\x16\x4f\x2f"
_LOOKED_AT = 100  # lines, to find the size where no header says it
_LONGEST_WORD = 1 << 16
_LARGEST_SIZE = 1 << 16
_LONGEST_LINE = 1 << 21  # bytes: the largest size with all the digits that a number can need


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
                f"  these words are {100 * self.token_share:.1f} % of the text; "
                f"{100 * (1 - self.token_share):.1f} % of it has no vectors"
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
            matrix, found = _collect(file, vocab)
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


def _collect(
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


class TextVectors:
    """Rows of a word and its numbers, parted by spaces; the word itself may hold spaces."""

    def __init__(self, stream: io.BufferedReader, name: str, *, headed: bool) -> None:
        lines = _lines(stream, name)
        first = list(itertools.islice(lines, _LOOKED_AT + headed))[headed:]
        if not first:
            raise DataError(f"{name} holds no vectors")
        # Most words are one piece, so the most frequent count of pieces is that of the numbers.
        self.size = Counter(_pieces(line).count(b" ") for line in first).most_common(1)[0][0]
        if self.size < 1 or self.parse(_pieces(first[0]).split(b" ", 1)[-1]) is None:
            raise DataError(f"{name} is no file of word vectors: a row is a word and its numbers")
        _require_size(self.size, name)
        self.damaged = 0
        self._lines = itertools.chain(first, lines)

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        """Give each word with its numbers as they are written."""
        for line in self._lines:
            row = _pieces(line)
            spaces = row.count(b" ")
            if spaces < self.size:
                self.damaged += bool(row)
                continue
            # Counted from the right: GloVe's largest file has words like ". . .".
            at = row.index(b" ") if spaces == self.size else _nth_from_right(row, self.size)
            yield row[:at].decode("utf-8", "replace"), row[at + 1 :]

    def parse(self, written: bytes) -> NDArray[np.float32] | None:
        """Return the numbers of a row, or ``None`` if they are no finite numbers."""
        try:
            values = np.array(written.split(b" "), dtype=np.float32)
        except ValueError:
            return None
        return values if len(values) == self.size and np.isfinite(values).all() else None


class BinaryVectors:
    """Rows of a word, a space and its numbers as they lie in memory."""

    def __init__(self, stream: io.BufferedReader, *, count: int, size: int) -> None:
        self.size = size
        self.damaged = 0
        self._stream = stream
        self._count = count

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        """Give each word with its numbers as they lie in the file."""
        self._stream.readline()
        width = 4 * self.size
        buffer = b""
        place = 0
        for done in range(self._count):
            space = buffer.find(b" ", place)
            if space < 0 or len(buffer) - space <= width:
                buffer = buffer[place:] + self._stream.read(_LONGEST_WORD + width)
                place = 0
                space = buffer.find(b" ")
            if space < 0 or len(buffer) - space <= width:
                self.damaged += self._count - done  # the file ends too early
                return
            word = buffer[place:space].lstrip(b"\r\n").decode("utf-8", "replace")
            place = space + 1 + width
            yield word, buffer[space + 1 : place]

    def parse(self, written: bytes) -> NDArray[np.float32] | None:
        """Return the numbers of a row, or ``None`` if they are no finite numbers."""
        values = np.frombuffer(written, dtype="<f4")
        return values if np.isfinite(values).all() else None


def open_vectors(stream: io.BufferedReader, name: str) -> TextVectors | BinaryVectors:
    """Tell from its beginning which form a file has."""
    head = stream.peek(1 << 16)
    if head.startswith(_FASTTEXT_MODEL):
        raise DataError(f"{name} is a whole fastText model; use the .vec file that belongs to it")
    header, _, rest = head.partition(b"\n")
    said = _HEADER.fullmatch(header)
    if said is None:
        return TextVectors(stream, name, headed=False)
    if max(map(len, said.groups())) > _MOST_DIGITS:
        raise DataError(
            f"{name} begins with a number of more than {_MOST_DIGITS} digits; is it damaged?"
        )
    if _is_text(rest):
        return TextVectors(stream, name, headed=True)
    count, size = int(said[1]), int(said[2])
    _require_size(size, name)
    return BinaryVectors(stream, count=count, size=size)


def _require_size(size: int, name: str) -> None:
    if not 1 <= size <= _LARGEST_SIZE:
        raise DataError(f"{name} says that its vectors have size {size}; is it damaged?")


def _lines(stream: io.BufferedReader, name: str) -> Iterator[bytes]:
    """The lines of a file, each bounded: what is packed into a megabyte may be gigabytes long."""
    for number, line in enumerate(iter(lambda: stream.readline(_LONGEST_LINE), b""), 1):
        if len(line) == _LONGEST_LINE:
            raise DataError(
                f"{name}:{number}: the line is longer than {_LONGEST_LINE >> 20} MiB, so this is "
                "no file of word vectors, or a damaged one"
            )
        yield line


def _is_text(rest: bytes) -> bool:
    """Whether the first row is written out; numbers in memory hold bytes that no text does."""
    return _UNWRITTEN.search(rest.split(b"\n", 1)[0]) is None


def _pieces(line: bytes) -> bytes:
    """The row without what stands at its ends, its parts separated by single spaces."""
    row = line.rstrip(b" \t\r\n")
    return row.replace(b"\t", b" ") if b"\t" in row else row


def _nth_from_right(row: bytes, count: int) -> int:
    return len(row.rsplit(b" ", count)[0])
