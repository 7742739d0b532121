"""Texts with what is to be written about each: a source to read and a target to write.

People may have drawn which words of both belong together: a file of links has a line for each pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from ..errors import DataError
from ..ragged import Ragged
from ..records.translation import GoldLinks, Link
from ..text.units import END, START, CutText
from .batch import Batch
from .batches import places_of_rows
from .columns import shown_value
from .formats.lines import Lines
from .readers import Reader, one_column

__all__ = [
    "EncodedPairs",
    "Pair",
    "PairBatch",
    "collate_sources",
    "pair_texts",
    "parse_links",
    "read_links",
    "read_pairs",
]

_LINK = re.compile(r"(\d+)([-?])(\d+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Pair:
    """A text, and what is to be written about it."""

    source: str
    target: str


@dataclass(frozen=True, slots=True, eq=False)
class PairBatch:
    """Sources, and for each the ids to be written about it, the end counted.

    A target of no words is a row that holds the end alone.
    """

    source: Batch
    target: Ragged  # int64, one row a source

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self.source)

    @property
    def token_count(self) -> int:
        """How many ids both sides have together, the ends counted."""
        return self.source.token_count + self.target.values.shape[0]

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The numbers the batch is made of, from which it can be known again."""
        return (*self.source.tensors, self.target.values, self.target.lengths)

    @property
    def previous(self) -> Ragged:
        """The id before each id of the target: the start, then the target without its end."""
        values = torch.empty_like(self.target.values)
        values[1:] = self.target.values[:-1]
        values[self.target.offsets[:-1]] = START
        return self.target.with_values(values)

    def to(self, device: torch.device | str) -> PairBatch:
        """The same batch on ``device``; the texts stay where they are."""
        return replace(self, source=self.source.to(device), target=self.target.to(device))


class EncodedPairs:
    """Pairs as ids in memory, from which batches are gathered."""

    def __init__(self, sources: Sequence[ArrayLike], targets: Sequence[ArrayLike]) -> None:
        if len(sources) != len(targets):
            raise DataError(f"{len(sources)} sources cannot be paired with {len(targets)} targets")
        self._sources = _Rows.of(sources)
        self._targets = _Rows.of([np.append(target, END) for target in targets])

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self._sources.lengths)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many ids each pair has on both sides together, the end counted, (pairs,)."""
        return self._sources.lengths + self._targets.lengths

    def batch(self, indices: ArrayLike) -> PairBatch:
        """Gather the chosen pairs, in the order given, as one batch."""
        chosen = np.asarray(indices, dtype=np.int64)
        source = _as_sentences(self._sources.taken(chosen))
        return PairBatch(source, self._targets.taken(chosen))


def read_pairs(documents: Reader) -> Iterator[Pair]:
    """Read pairs from a file whose columns name a target."""
    column = documents.columns.target
    assert column is not None  # whoever asks for pairs names it
    for document in documents:
        yield Pair(document.text, str(document.fields[column]))


def pair_texts(sources: Iterable[object], targets: Iterable[object]) -> list[Pair]:
    """Pair Python strings with as many others."""
    sides = {"sources": _texts(sources, "sources"), "targets": _texts(targets, "targets")}
    counts = {name: len(side) for name, side in sides.items()}
    if counts["sources"] != counts["targets"]:
        raise DataError(
            f"{counts['sources']:,} sources cannot be paired with {counts['targets']:,} targets"
        )
    return [Pair(*both) for both in zip(sides["sources"], sides["targets"], strict=True)]


def _texts(texts: Iterable[object], name: str) -> list[str]:
    found: list[str] = []
    for number, text in enumerate(one_column(texts, name), 1):
        if not isinstance(text, str):
            raise DataError(f"number {number} of the {name} is {shown_value(text)}, not a string")
        found.append(str(text))
    return found


def parse_links(line: str) -> GoldLinks:
    """Read the links of one pair: ``i-j`` is sure, ``i?j`` is possible, words counted from 0.

    An empty line is a pair without links.
    """
    found: dict[str, set[Link]] = {"-": set(), "?": set()}
    for part in line.split():
        match = _LINK.fullmatch(part)
        if match is None:
            raise DataError(
                f"{part!r} is no link; write 3-2 for a sure one, 3?2 for a possible one"
            )
        source, kind, target = match.groups()
        found[kind].add((int(source), int(target)))
    return GoldLinks(frozenset(found["-"]), frozenset(found["?"]))


def read_links(path: Path | str) -> Iterator[GoldLinks]:
    """Read the links of one pair from each line of a file, in the format of Pharaoh."""
    lines = Lines(path, "utf-8")
    for number, (line, problem) in enumerate(lines, 1):
        try:
            if problem:
                raise DataError(problem)
            yield parse_links(line)
        except DataError as wrong:
            raise DataError(f"{lines.name}:{number}: {wrong}") from wrong


def collate_sources(sources: Sequence[CutText]) -> Batch:
    """Put texts that are to be written about into one batch, each as one sentence."""
    batch = _as_sentences(_Rows.of([pieces.ids for pieces in sources]).taken())
    return replace(batch, texts=tuple(pieces.tokens for pieces in sources))


def _as_sentences(rows: Ragged) -> Batch:
    """Make every row a document of one sentence, and an empty row one of none."""
    written = rows.lengths > 0
    return Batch(ids=Ragged(rows.values, rows.lengths[written]), sentences=written.long())


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Rows of ids end to end."""

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]  # (rows + 1,)

    @classmethod
    def of(cls, rows: Sequence[ArrayLike]) -> _Rows:
        arrays = [np.asarray(row, dtype=np.int32) for row in rows]
        starts = np.zeros(len(arrays) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in arrays], out=starts[1:])
        return cls(np.concatenate(arrays) if arrays else np.zeros(0, np.int32), starts)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.starts)

    def taken(self, indices: NDArray[np.int64] | slice = slice(None)) -> Ragged:
        starts, lengths = self.starts[:-1][indices], self.lengths[indices]
        ids = self.ids[places_of_rows(starts, lengths)].astype(np.int64)
        return Ragged(torch.from_numpy(ids), torch.from_numpy(lengths))
