"""What a model wrote about a text, and where in it each piece looked: plain data, no tensors."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from .encoding import decode, encode
from .explanation import Judgement, Piece
from .weights import Span, require_inside

__all__ = [
    "LEAST_DECIDED",
    "Alignment",
    "AlignmentReceipt",
    "WrittenReceipt",
    "belonging",
    "count_effective",
]

LEAST_DECIDED = 0.01
"""Probability that a word must lose without all there is to look at, or that does not decide it.

Words such as "of" follow from the words before. They are as sure whatever is taken away, and what
they lose without what they looked at is rounding.
"""

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class WrittenReceipt:
    """What became of one written piece without the pieces of the source it looked at most.

    Its probability is the one it has where all pieces before it are told.
    """

    probability: float
    without: float  # without what it looked at most
    random: float  # without as many random pieces, on average
    p_value: float  # the share of sets of as many pieces, its own among them, that cost as much
    blind: float | None = None  # without all there is to look at; None, in older files: not asked

    @property
    def decided(self) -> bool:
        """Whether it needs anything that there is to look at; where that was not asked, yes."""
        return self.blind is None or self.probability - self.blind >= LEAST_DECIDED

    @property
    def drop(self) -> float:
        """The probability that is lost without what it looked at."""
        return self.probability - self.without

    @property
    def random_drop(self) -> float:
        """The probability that is lost without as many random pieces, on average."""
        return self.probability - self.random


@dataclass(frozen=True, slots=True)
class AlignmentReceipt:
    """Whether what was looked at matters: the network is asked again without it."""

    judgement: Judgement
    written: tuple[WrittenReceipt, ...] = ()  # one for each row of the weights
    taken: int = 0  # how many pieces of the source were taken away at a time
    random_better: float = 0.0  # the share of random sets that cost more than their mean

    @property
    def verdict(self) -> str:
        """The verdict in one word."""
        return self.judgement.verdict

    @property
    def decided(self) -> tuple[WrittenReceipt, ...]:
        """Those written pieces that need anything there is to look at; the others prove nothing."""
        return tuple(one for one in self.written if one.decided)

    @property
    def mean_drop(self) -> float:
        """What a decided piece loses without what it looked at, on average; 0 for none."""
        return sum(one.drop for one in self.decided) / max(1, len(self.decided))

    @property
    def mean_random_drop(self) -> float:
        """What a decided piece loses without as many random pieces, on average; 0 for none."""
        return sum(one.random_drop for one in self.decided) / max(1, len(self.decided))

    @property
    def better_count(self) -> int:
        """For how many decided pieces what they looked at matters more than random pieces."""
        return sum(one.drop > one.random_drop for one in self.decided)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Alignment:
    """A source, what was written about it, and how much each written piece looked where.

    Row n of ``weights`` belongs to piece n of the target and sums to one over the pieces of the
    source; where the source has no pieces, there are no columns. A piece may be a part of a word,
    and one that stands for white space alone has an empty span.
    """

    source: str  # the text itself, never altered
    target: str
    source_spans: tuple[Span, ...]  # of each piece, in the source
    target_spans: tuple[Span, ...]  # of each piece, in the target
    weights: NDArray[np.float32]  # (target pieces, source pieces)
    score: float = 0.0  # what it was chosen by, among all that could have been written
    ended: bool = True  # False: the limit of its length came before its end
    copied: tuple[int, ...] = ()  # pieces of the target that no vocabulary knew, from the source
    receipt: AlignmentReceipt | None = None  # whether what was looked at matters, where measured

    def __post_init__(self) -> None:
        weights = np.array(self.weights, dtype=np.float32)
        shape = (len(self.target_spans), len(self.source_spans))
        if weights.shape != shape:
            raise DataError(f"weights of shape {weights.shape} do not fit {shape} pieces")
        if not np.isfinite(weights).all():
            raise DataError("some weights are not finite numbers; has the model diverged?")
        require_inside(self.source_spans, self.source)
        require_inside(self.target_spans, self.target)
        if not all(0 <= place < shape[0] for place in self.copied):
            raise DataError(f"the copied pieces {self.copied} are not among {shape[0]} pieces")
        if self.receipt is not None and len(self.receipt.written) not in (0, shape[0]):
            raise DataError(
                f"a receipt of {len(self.receipt.written)} rows does not fit {shape[0]} pieces"
            )
        weights.flags.writeable = False
        object.__setattr__(self, "weights", weights)

    def __repr__(self) -> str:
        targets, sources = self.weights.shape
        return f"Alignment({self.target!r}, {targets} pieces over {sources})"

    @property
    def source_pieces(self) -> tuple[str, ...]:
        """The pieces of the source as they are written."""
        return tuple(self.source[start:end] for start, end in self.source_spans)

    @property
    def target_pieces(self) -> tuple[str, ...]:
        """The pieces of the target as they are written."""
        return tuple(self.target[start:end] for start, end in self.target_spans)

    @property
    def effective_counts(self) -> NDArray[np.float64]:
        """How many pieces of the source each piece of the target looked at, (target pieces,).

        The exponential of the entropy of its weights: 1 where it looked at one alone, and 0 where
        there was nothing to look at.
        """
        return count_effective(self.weights)

    def looked_at(self, place: int, count: int = 3) -> list[Piece]:
        """The pieces of the source that one written piece looked at most, the heaviest first."""
        row = self.weights[place]
        order = np.argsort(-row, kind="stable")[:count].tolist()
        spans = [(self.source_spans[one], float(row[one])) for one in order if row[one] > 0]
        return [Piece(self.source[start:end], (start, end), one) for (start, end), one in spans]

    def by_words(self) -> Alignment:
        """The same with whole words, what stands between white space, in place of pieces.

        A word's column is the sum of those of its pieces, and its row the mean of theirs; a word
        that has no piece at all has zeros. A receipt of pieces is none of words, and left out.
        """
        sources, targets = _words(self.source), _words(self.target)
        columns = belonging(self.source_spans, sources)
        rows = belonging(self.target_spans, targets)
        sums = rows.T @ self.weights @ columns
        counts = np.maximum(rows.sum(0), 1)[:, np.newaxis]
        copied = np.flatnonzero(rows[list(self.copied)].any(0)).tolist()
        return replace(
            self,
            source_spans=sources,
            target_spans=targets,
            weights=sums / counts,
            copied=tuple(copied),
            receipt=None,
        )

    def to_json(self) -> str:
        """Return the alignment as one line of JSON, from which it can be read back unchanged."""
        written = _Written(
            self.source,
            self.target,
            self.source_spans,
            self.target_spans,
            tuple(tuple(row) for row in self.weights.tolist()),
            self.score,
            self.ended,
            self.copied,
            self.receipt,
        )
        return encode(written)

    @classmethod
    def from_json(cls, text: str) -> Alignment:
        """Read what ``to_json`` wrote."""
        found = decode(_Written, text)
        rows, columns = len(found.target_spans), len(found.source_spans)
        if len(found.weights) != rows or any(len(row) != columns for row in found.weights):
            raise DataError(f"the weights of this alignment do not fit {(rows, columns)} pieces")
        return cls(
            found.source,
            found.target,
            found.source_spans,
            found.target_spans,
            np.array(found.weights, dtype=np.float32).reshape(rows, columns),
            found.score,
            found.ended,
            found.copied,
            found.receipt,
        )

    # The rest is for a person at a prompt: the record hands itself to a view, imported late,
    # because views know records and not the other way round.

    def to_html(self, title: str = "Where it looked") -> str:
        """Return a whole HTML page that needs nothing else."""
        from ..views.alignment.page import render

        return render([[self]], title=title)

    def _repr_html_(self) -> str:
        from ..views.alignment.page import notebook

        return notebook([self])

    def to_text(self, width: int = 80) -> str:
        """Return the matrix as plain text without colour, for logs and mails."""
        from ..views.alignment.terminal import Terminal, render

        return render([self], Terminal(width=width, depth="none"))

    def show(self) -> None:
        """Print the matrix, in colour where the terminal can."""
        from ..views.alignment.terminal import Terminal, render

        print(render([self], Terminal.here()))

    def write_image(self, path: str | Path) -> None:
        """Write a picture, PNG or SVG by the name of the file; needs the extra ``plots``."""
        from ..views.alignment.picture import write

        write(self, Path(path))


@dataclass(frozen=True, slots=True)
class _Written:
    """An alignment as JSON holds it."""

    source: str
    target: str
    source_spans: tuple[tuple[int, int], ...]
    target_spans: tuple[tuple[int, int], ...]
    weights: tuple[tuple[float, ...], ...]
    score: float = 0.0
    ended: bool = True
    copied: tuple[int, ...] = ()
    receipt: AlignmentReceipt | None = None


def _words(text: str) -> tuple[Span, ...]:
    return tuple(found.span() for found in _WORD.finditer(text))


def count_effective(weights: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return how many items each row of weights looked at, (rows,), by the entropy of the row.

    1 where it looked at one alone, and 0 where there was nothing to look at.
    """
    shares = weights.astype(np.float64)
    if not shares.shape[1]:
        return np.zeros(len(shares))
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    counts: NDArray[np.float64] = np.exp(-(shares * logs).sum(1))
    return counts


def belonging(pieces: Sequence[Span], words: Sequence[Span]) -> NDArray[np.float64]:
    """Say which word each piece belongs to: the one it begins in, or begins before.

    Ones in a matrix of zeros, (pieces, words).
    """
    found = np.zeros((len(pieces), len(words)))
    ends = [end for _, end in words]
    for place, (start, _) in enumerate(pieces):
        if words:
            found[place, min(bisect_right(ends, start), len(words) - 1)] = 1.0
    return found
