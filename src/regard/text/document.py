"""A text with its label, where its tokens lie, and streams of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..kernels.scan import Encoded

__all__ = [
    "Document",
    "Label",
    "Tokens",
    "cut_stream",
    "cut_tokens",
    "documents_of",
    "single_labels",
]

T = TypeVar("T")

Label = str | int | tuple[str, ...]
"""One label, or for multi-label data the tuple of all labels that hold (possibly none)."""


def single_labels(label: Label | None) -> tuple[str | int, ...]:
    """Return every label that holds, one by one; none of what has no label."""
    if label is None:
        return ()
    return label if isinstance(label, tuple) else (label,)


@dataclass(frozen=True, slots=True)
class Document:
    """One text as it was read, never altered, with its label if it has one.

    ``fields`` are the other columns of its row, carried through to the output, and
    ``text_place`` says before which of them the text stood; ``None`` is behind all.
    """

    text: str
    label: Label | None = None
    fields: Mapping[str, object] = field(default_factory=dict)
    text_place: int | None = field(default=None, compare=False, repr=False)

    def row(self, text_column: str) -> dict[str, object]:
        """The fields and, under this name and in its old place, the text."""
        cells = list(self.fields.items())
        place = len(cells) if self.text_place is None else self.text_place
        return dict([*cells[:place], (text_column, self.text), *cells[place:]])


def documents_of(given: Iterable[object]) -> Iterator[Document]:
    """Pass on documents as they come; what is none is an error."""
    for number, one in enumerate(given, 1):
        if not isinstance(one, Document):
            raise DataError(
                f"number {number:,} of the documents is a {type(one).__name__}, not a Document; "
                "texts are given with their labels beside them"
            )
        yield one


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Where the tokens of a text begin and end, sentence by sentence.

    ``text[start:end]`` for each row of ``spans`` is the token exactly as written;
    ``per_sentence`` says how many tokens each sentence has, and none has zero. A token is what a
    model reads, a word what people see. Where a model reads Chinese by characters, a word is
    several tokens; ``per_word`` then says how many, and none has zero.
    """

    text: str
    spans: NDArray[np.int32]  # (tokens, 2)
    per_sentence: NDArray[np.int32]  # (sentences,)
    per_word: NDArray[np.int32] | None = None  # (words,); None: every token is a word
    spelt: bool = False  # whether the tokens are the letters of one word, and seen as words are

    def __len__(self) -> int:
        return len(self.spans)

    def words(self) -> list[str]:
        """The tokens exactly as written."""
        text = self.text
        return [text[start:end] for start, end in self.spans.tolist()]

    def sentence_spans(self) -> list[tuple[int, int]]:
        """From the first token of each sentence to the end of its last."""
        ends = np.cumsum(self.per_sentence)
        starts = ends - self.per_sentence
        first, last = self.spans[starts, 0], self.spans[ends - 1, 1]
        return list(zip(first.tolist(), last.tolist(), strict=True))

    def word_spans(self) -> list[tuple[int, int]]:
        """From the first token of each word to the end of its last."""
        if self.per_word is None:
            return list(zip(self.spans[:, 0].tolist(), self.spans[:, 1].tolist(), strict=True))
        ends = np.cumsum(self.per_word)
        first, last = self.spans[ends - self.per_word, 0], self.spans[ends - 1, 1]
        return list(zip(first.tolist(), last.tolist(), strict=True))

    def words_outside(self, spans: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
        """Whether each word lies outside of all these spans of the text, (words,)."""
        edges = np.zeros(len(self.text) + 1, dtype=np.int64)
        for place, step in zip(np.reshape(spans, (-1, 2)).astype(np.int64).T, (1, -1), strict=True):
            np.add.at(edges, place, step)
        inside = np.concatenate([[0], np.cumsum(np.cumsum(edges)[:-1] > 0)])  # before each letter
        starts, ends = np.reshape(self.word_spans(), (-1, 2)).astype(np.int64).T
        outside: NDArray[np.bool_] = inside[starts] == inside[ends]
        return outside

    def sum_by_word(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up what the tokens of each word have, (tokens, ...) to (words, ...)."""
        if self.per_word is None or not len(values):
            return values
        starts = np.cumsum(self.per_word) - self.per_word
        summed: NDArray[np.float64] = np.add.reduceat(values, starts, axis=0)
        return summed

    def truncated(self, *, sentences: int | None = None, tokens: int | None = None) -> Tokens:
        """Keep the first ``sentences`` sentences and the first ``tokens`` tokens of each."""
        kept = self.per_sentence[:sentences]
        if tokens is not None:
            starts = np.cumsum(kept) - kept
            inside = np.arange(int(kept.sum())) - np.repeat(starts, kept) < tokens
            spans = self.spans[: len(inside)][inside]
            return Tokens(self.text, spans, np.minimum(kept, tokens).astype(np.int32))
        return Tokens(self.text, self.spans[: int(kept.sum())], kept)


def cut_tokens(texts: Sequence[str], encoded: Encoded) -> list[Tokens]:
    """Cut what was found in many texts, laid end to end, into what was found in each."""
    token_ends = np.cumsum(encoded.lengths).tolist()
    sentence_ends = np.cumsum(encoded.sentences).tolist()
    bounds = zip([0, *token_ends], token_ends, [0, *sentence_ends], sentence_ends, strict=False)
    spans, lengths = encoded.spans, encoded.sentence_lengths
    return [
        Tokens(text, spans[first:end], lengths[first_sentence:sentence_end])
        for text, (first, end, first_sentence, sentence_end) in zip(texts, bounds, strict=True)
    ]


def cut_stream(
    texts: Iterable[T],
    size: Callable[[T], int],
    *,
    most_texts: int = 1 << 10,
    most_characters: int = 1 << 17,
) -> Iterator[list[T]]:
    """Cut a stream into lists that end where either limit is reached; none is empty.

    ``size`` says how many characters one of them has.
    """
    block: list[T] = []
    characters = 0
    for text in texts:
        block.append(text)
        characters += size(text)
        if len(block) == most_texts or characters >= most_characters:
            yield block
            block, characters = [], 0
    if block:
        yield block
