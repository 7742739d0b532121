"""The pieces that a text is read or written in: words, characters or parts of words.

A piece has an id and a span in the text, and from the ids the text can be written again. So
that this works for words too, a word with white space before it is another piece than one without.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ...config import checked_settings, require, require_one_of
from ..document import Tokens

__all__ = ["END", "KINDS", "RESERVED", "START", "CutText", "Units", "UnitsConfig", "spelled"]

START = 2
"""The id that stands before the first piece of a written text."""
END = 3
"""The id that stands after the last piece of a written text."""
RESERVED = ("<pad>", "<oov>", "<start>", "<end>")
"""The names of the first ids: padding and unknown as in every vocabulary, then start and end."""

MOST = 1_000_000
"""How many different pieces there can be; memory for all of them is taken before the first."""

UnitKind = Literal["words", "characters", "subwords"]
KINDS: tuple[UnitKind, ...] = ("words", "characters", "subwords")


@dataclass(frozen=True)
@checked_settings
class UnitsConfig:
    """Which pieces texts are made of, and how many different ones there are at most."""

    kind: UnitKind = "subwords"
    size: int = 8000  # different pieces at most, the reserved ones counted
    min_count: int = 2  # a piece that the training texts hold fewer times is unknown
    lowercase: bool = False  # read and write in lower case; the text itself is never altered
    shared: bool = False  # one vocabulary for sources and targets
    longest: int = 200  # pieces of a text at most; training leaves longer ones out

    def __post_init__(self) -> None:
        require_one_of("kind", self.kind, KINDS)
        require(5 <= self.size <= MOST, f"size must be from 5 to {MOST:,}, got {self.size}")
        require(self.min_count >= 1, f"min_count must be at least 1, got {self.min_count}")
        require(self.longest >= 1, f"longest must be at least 1, got {self.longest}")


@dataclass(frozen=True, slots=True, eq=False)
class CutText:
    """A text in pieces: where they lie in it, and their ids."""

    tokens: Tokens
    ids: NDArray[np.int32]  # (tokens,)


class Units(Protocol):
    """Cuts texts into pieces, and puts pieces together to texts."""

    @property
    def config(self) -> UnitsConfig:
        """How the pieces were made."""
        ...

    def __len__(self) -> int:
        """How many ids there are, the reserved ones counted."""
        ...

    def encode(self, texts: Sequence[str]) -> list[CutText]:
        """Cut each text into pieces."""
        ...

    def decode(self, ids: Iterable[int]) -> str:
        """Write the text that pieces make; start, end and padding are passed over."""
        ...

    def to_dict(self) -> Mapping[str, object]:
        """Return what the units are made of, as values that JSON can hold."""
        ...


def one_sentence(text: str, spans: NDArray[np.int32]) -> Tokens:
    """Make the tokens of a text one sentence; a text without tokens has none."""
    counts = [len(spans)] if len(spans) else []
    return Tokens(text, spans.reshape(-1, 2), np.array(counts, dtype=np.int32))


def spelled(units: Units, ids: Sequence[int], instead: Mapping[int, str] | None = None) -> Tokens:
    """Write the text that pieces make, and say where in it each of them stands.

    White space before a piece is left out of its span, as where a text is cut; start, end and
    padding have an empty span. ``instead`` gives what to write at some places, such as those of
    unknown pieces.
    """
    text = units.decode(ids)
    ends = [len(units.decode(ids[:count])) for count in range(len(ids) + 1)]
    spans = np.zeros((len(ids), 2), dtype=np.int32)
    for place, (start, end) in enumerate(itertools.pairwise(ends)):
        # Written together, pieces may make less than one by one, such as a space at an end.
        begin, stop = min(start, len(text)), min(end, len(text))
        while begin < stop and text[begin].isspace():
            begin += 1
        spans[place] = (begin, max(begin, stop))
    for place, written in sorted((instead or {}).items(), reverse=True):
        begin, stop = spans[place].tolist()
        text = text[:begin] + written + text[stop:]
        spans[place, 1] = begin + len(written)
        spans[place + 1 :] += len(written) - (stop - begin)
    return one_sentence(text, spans)
