"""A vocabulary of words that are known by their pieces, for networks that read through BERT.

A word of the training texts is one token, however many pieces it has. A word that is none of them
is read, and marked, in its pieces, each a token with its own place in the text: so no word is
unknown that BERT has pieces for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, ModelError
from .encode import Encoded
from .pieces import SPECIAL, WordPieces
from .tokenize import TextConfig
from .vocab import PADDING, UNKNOWN, Vocab

__all__ = ["PiecedVocab", "PiecesOfWords", "load_pieces", "save_pieces"]

MOST_WORDS = 1 << 20
"""Words that are one token; with more, the rarest are read in their pieces."""


@dataclass(frozen=True, slots=True, eq=False)
class PiecesOfWords:
    """The pieces of each word, and the two marks that stand around what BERT reads."""

    pieces: NDArray[np.int64]  # of all words, one after the other
    lengths: NDArray[np.int64]  # (words,), at least 1 each
    start: int
    end: int

    @classmethod
    def one_each(cls, count: int) -> PiecesOfWords:
        """Words that are one piece each; the marks come after them."""
        return cls(np.arange(count), np.ones(count, np.int64), start=count, end=count + 1)


class PiecedVocab(Vocab):
    """The words of the training texts and all pieces; each has an id, and each id its pieces."""

    def __init__(
        self,
        words: Iterable[str],
        *,
        pieces: WordPieces,
        cjk: Literal["characters", "icu"] = "characters",
    ) -> None:
        super().__init__(words, TextConfig(lowercase=pieces.lowercase, cjk=cjk))
        self.pieces = pieces
        missing = [piece for piece in _plain(pieces) if piece not in self._ids]
        if missing:
            raise ModelError(f"the vocabulary lacks the piece {missing[0]!r} that BERT reads")

    @classmethod
    def of(cls, counts: Mapping[str, int], config: TextConfig, pieces: WordPieces) -> PiecedVocab:
        """Make the vocabulary of the words that were counted."""
        every = replace(config, lowercase=pieces.lowercase, min_count=1, max_size=MOST_WORDS)
        words = Vocab.from_counts(counts, every).words[2:]
        known = set(words)
        rest = [piece for piece in _plain(pieces) if piece not in known]
        return cls([*words, *rest], pieces=pieces, cjk=config.cjk)

    @cached_property
    def table(self) -> PiecesOfWords:
        """The pieces of each word."""
        special = {PADDING: self.pieces.padding, UNKNOWN: self.pieces.unknown}
        single = {id: piece for piece, id in enumerate(self._of_piece.tolist()) if id != UNKNOWN}
        cut = self.pieces.ids(self.words)
        for id, piece in (single | special).items():
            cut[id] = np.array([piece], np.int32)
        nothing = np.array([self.pieces.unknown], np.int32)
        rows = [row if len(row) else nothing for row in cut]
        lengths = np.array([len(row) for row in rows], np.int64)
        every = np.concatenate(rows).astype(np.int64)
        return PiecesOfWords(every, lengths, start=self.pieces.start, end=self.pieces.end)

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Find the words of each text, and of words that are not here the pieces."""
        found = super().encode(texts)
        places = np.flatnonzero(found.ids == UNKNOWN)
        if not len(places):
            return found
        homes = np.repeat(np.arange(len(texts)), found.lengths)[places].tolist()
        spans = found.spans[places].tolist()
        words = [texts[home][start:end] for home, (start, end) in zip(homes, spans, strict=True)]
        return self._in_pieces(found, places, words)

    def _in_pieces(
        self, found: Encoded, places: NDArray[np.int64], words: Sequence[str]
    ) -> Encoded:
        """The same texts with the words at ``places`` in their pieces."""
        numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
        cut = self.pieces.encode(list(numbers))
        starts = np.cumsum(cut.lengths) - cut.lengths
        ids = self._of_piece[cut.ids]
        counts = np.ones(len(found.ids), np.int64)
        chosen = np.array([numbers[word] for word in words])
        # A letter that is several pieces has no place for each: its word stays whole and unknown.
        lost = cut.spans[:, 1] <= cut.spans[:, 0]
        words_of_pieces = np.repeat(np.arange(len(numbers)), cut.lengths)
        split = (cut.lengths > 0) & (np.bincount(words_of_pieces, lost, len(numbers)) == 0)
        at, chosen = places[split[chosen]], chosen[split[chosen]]
        counts[at] = cut.lengths[chosen]
        owners = np.repeat(np.arange(len(counts)), counts)
        first = np.cumsum(counts) - counts
        new_ids, new_spans = found.ids[owners], found.spans[owners].copy()
        within = np.arange(len(owners)) - first[owners]
        source = np.full(len(counts), -1, np.int64)
        source[at] = starts[chosen]
        inside = np.flatnonzero(source[owners] >= 0)
        piece = source[owners[inside]] + within[inside]
        new_ids[inside] = ids[piece]
        new_spans[inside] = new_spans[inside, :1] + cut.spans[piece]
        return Encoded(
            ids=new_ids,
            spans=new_spans,
            lengths=_sums(counts, found.lengths),
            sentence_lengths=_sums(counts, found.sentence_lengths).astype(np.int32),
            sentences=found.sentences,
        )

    @cached_property
    def _of_piece(self) -> NDArray[np.int32]:
        """The id of each piece, (pieces,); the special ones are unknown words."""
        ids = np.full(len(self.pieces), UNKNOWN, np.int32)
        for number, piece in enumerate(self.pieces.pieces):
            if piece not in SPECIAL:
                ids[number] = self._ids[piece]
        return ids


def _plain(pieces: WordPieces) -> list[str]:
    return [piece for piece in pieces.pieces if piece not in SPECIAL]


def _sums(counts: NDArray[np.int64], lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """Add up the counts of runs of so many."""
    ends = np.concatenate([[0], np.cumsum(counts)])[np.cumsum(lengths, dtype=np.int64)]
    return np.diff(ends, prepend=0)


def save_pieces(pieces: WordPieces, path: Path) -> None:
    """Write the pieces with how texts are prepared for them."""
    about = {
        "lowercase": pieces.lowercase,
        "strip_accents": pieces.strip_accents,
        "pieces": pieces.pieces,
    }
    path.write_text(json.dumps(about, ensure_ascii=False) + "\n", encoding="utf-8")


def load_pieces(path: Path) -> WordPieces:
    """Read what ``save_pieces`` wrote."""
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        pieces, accents = about["pieces"], about["strip_accents"]
        if not all(isinstance(piece, str) for piece in pieces):
            raise ValueError("a piece is no text")
        return WordPieces(
            pieces,
            lowercase=about["lowercase"] is True,
            strip_accents=accents if isinstance(accents, bool) else None,
        )
    except (DataError, ValueError, KeyError, TypeError, RecursionError) as problem:
        raise ModelError(f"{path} holds no word pieces of BERT: {problem}") from problem
