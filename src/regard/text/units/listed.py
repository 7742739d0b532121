"""Words or characters as the pieces of a text: a list of them is the whole vocabulary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ...config import to_dict
from ...errors import DataError
from ..characters import lower_words
from ..tokenize import tokenize_many
from ..vocab import PADDING, UNKNOWN
from .pieces import END, RESERVED, START, CutText, UnitsConfig, one_sentence

__all__ = ["ListedUnits"]

Spans = NDArray[np.int32]
_TEXTS_AT_ONCE = 1 << 12  # so that the scanner has work and memory does not grow with the texts


class ListedUnits:
    """Words or characters by their ids; a word after white space begins with a space."""

    def __init__(self, pieces: Iterable[str], config: UnitsConfig) -> None:
        self.config = config
        self.pieces = [*RESERVED, *pieces]
        self._ids = {piece: id for id, piece in enumerate(self.pieces) if id >= len(RESERVED)}

    @classmethod
    def from_texts(cls, texts: Iterable[str], config: UnitsConfig) -> ListedUnits:
        """Take the pieces that occur often enough, falling by frequency, then by alphabet."""
        units = cls((), config)
        counts: Counter[str] = Counter()
        stream = iter(texts)
        while some := list(islice(stream, _TEXTS_AT_ONCE)):
            for pieces, _ in units._cut(some):
                counts.update(pieces)
        frequent = sorted(item for item in counts.items() if item[1] >= config.min_count)
        frequent.sort(key=lambda item: item[1], reverse=True)
        room = config.size - len(RESERVED)
        return cls((piece for piece, _ in frequent[:room]), config)

    @classmethod
    def from_pieces(cls, pieces: object, config: UnitsConfig) -> ListedUnits:
        """Take the pieces that ``to_dict`` wrote; what cannot be such a list is an error."""
        if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
            raise DataError("its pieces are no list of texts")
        if len(set(pieces)) < len(pieces):
            raise DataError(f"it holds {Counter(pieces).most_common(1)[0][0]!r} twice")
        return cls(pieces, config)

    def __len__(self) -> int:
        """How many ids there are, the reserved ones counted."""
        return len(self.pieces)

    def encode(self, texts: Sequence[str]) -> list[CutText]:
        """Cut each text into pieces."""
        return [
            self._encoded(text, pieces, spans)
            for text, (pieces, spans) in zip(texts, self._cut(texts), strict=True)
        ]

    def decode(self, ids: Iterable[int]) -> str:
        """Write the text that pieces make; an unknown piece becomes the replacement character."""
        shown = [id for id in ids if id not in (PADDING, START, END)]
        gap = " " if self.config.kind == "words" else ""
        unknown = f"{gap}\N{REPLACEMENT CHARACTER}"
        text = "".join(unknown if id == UNKNOWN else self.pieces[id] for id in shown)
        return text.removeprefix(gap)

    def to_dict(self) -> Mapping[str, object]:
        """Return what the units are made of, as values that JSON can hold."""
        return {"config": to_dict(self.config), "pieces": self.pieces[len(RESERVED) :]}

    def _encoded(self, text: str, pieces: Sequence[str], spans: Spans) -> CutText:
        ids = np.fromiter((self._ids.get(piece, UNKNOWN) for piece in pieces), np.int32)
        return CutText(one_sentence(text, spans), ids)

    def _cut(self, texts: Sequence[str]) -> Iterator[tuple[list[str], Spans]]:
        for pieces, spans in _CUTS[self.config.kind](texts):
            yield (lower_words(pieces) if self.config.lowercase else pieces), spans


def _words(texts: Sequence[str]) -> Iterator[tuple[list[str], Spans]]:
    for tokens in tokenize_many(texts):
        starts, ends = tokens.spans[:, 0], tokens.spans[:, 1]
        # The first word counts as one after white space, so that it is the same anywhere.
        apart = np.ones(len(starts), dtype=bool)
        apart[1:] = starts[1:] > ends[:-1]
        words = zip(apart.tolist(), tokens.words(), strict=True)
        yield [f" {word}" if gap else word for gap, word in words], tokens.spans


def _characters(texts: Sequence[str]) -> Iterator[tuple[list[str], Spans]]:
    for text in texts:
        starts = np.arange(len(text), dtype=np.int32)
        yield list(text), np.stack([starts, starts + 1], 1)


_CUTS: dict[str, Callable[[Sequence[str]], Iterator[tuple[list[str], Spans]]]] = {
    "words": _words,
    "characters": _characters,
}
