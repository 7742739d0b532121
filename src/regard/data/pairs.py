"""Texts with what is to be written about each: a source to read and a target to write.

People may have drawn which words of both belong together: a file of links has a line for each pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import DataError
from ..ragged import Ragged
from ..records.translation import GoldLinks, Link
from ..text.document import cut_stream
from ..text.encode import Encoded
from ..text.units import END
from ..text.vocab import CutText, Vocabulary
from .batch import Batch
from .columns import shown_value
from .formats.lines import Lines
from .readers import Reader, one_column
from .rows import RowFiles, Rows
from .targets import TargetBatch

__all__ = [
    "EncodedPairs",
    "Pair",
    "PairBatch",
    "StoredPairs",
    "collate_sources",
    "encode_pairs",
    "pair_texts",
    "parse_links",
    "read_links",
    "read_pairs",
    "store_pairs",
]

_SIDES = ("source", "target")
_LINK = re.compile(r"(\d+)([-?])(\d+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Pair:
    """A text, and what is to be written about it."""

    source: str
    target: str


PairBatch = TargetBatch[Batch]
"""Texts, and for each the ids to be written about it, the end counted."""


class EncodedPairs:
    """Pairs as ids, in memory or in mapped files, from which batches are gathered."""

    def __init__(self, sources: Sequence[ArrayLike], targets: Sequence[ArrayLike]) -> None:
        if len(sources) != len(targets):
            raise DataError(f"{len(sources)} sources cannot be paired with {len(targets)} targets")
        self._sources = Rows.of(sources)
        self._targets = Rows.of([np.append(target, END) for target in targets])

    @classmethod
    def open(cls, folder: Path) -> EncodedPairs:
        """Map what ``encode_pairs`` wrote."""
        pairs = cls((), ())
        pairs._sources, pairs._targets = (Rows.map(folder, side, "int32") for side in _SIDES)
        return pairs

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self._sources)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many ids each pair has on both sides together, the end counted, (pairs,)."""
        return self._sources.lengths + self._targets.lengths

    def batch(self, indices: ArrayLike) -> PairBatch:
        """Gather the chosen pairs, in the order given, as one batch."""
        chosen = np.asarray(indices, dtype=np.int64)
        source = _as_sentences(self._sources.take(chosen))
        return PairBatch(source, self._targets.take(chosen))


class StoredPairs:
    """Pairs in mapped files, to be read as often as wanted; so they may be larger than memory."""

    def __init__(self, folder: Path, places: NDArray[np.int64] | None = None) -> None:
        self._folder = folder
        self._sources, self._targets = (Rows.map(folder, side, "uint8") for side in _SIDES)
        self._places = np.arange(len(self._sources)) if places is None else places

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self._places)

    def __iter__(self) -> Iterator[Pair]:
        for place in self._places:
            yield Pair(self._sources.text(place), self._targets.text(place))

    def choose(self, places: NDArray[np.int64]) -> StoredPairs:
        """Return the pairs at these places, in the order given."""
        return StoredPairs(self._folder, self._places[places])


def store_pairs(pairs: Iterable[Pair], folder: Path) -> StoredPairs:
    """Write pairs to files as they come, in memory that does not grow with their number."""
    with RowFiles(folder, _SIDES, "uint8") as files:
        for block in _blocks(pairs):
            sides = ([pair.source for pair in block], [pair.target for pair in block])
            for side, texts in zip(_SIDES, sides, strict=True):
                written = [text.encode("utf-8", "surrogatepass") for text in texts]
                joined = np.frombuffer(b"".join(written), np.uint8)
                files.add(side, joined, [len(text) for text in written])
    return StoredPairs(folder)


def encode_pairs(
    pairs: Iterable[Pair], sources: Vocabulary, targets: Vocabulary, folder: Path, *, longest: int
) -> EncodedPairs:
    """Write the ids of pairs to files as they come; left out are those with an empty side.

    So are those with a side of more than ``longest`` ids.
    """
    with RowFiles(folder, _SIDES, "int32") as files:
        for block in _blocks(pairs):
            read = sources.encode([pair.source for pair in block])
            written = targets.encode([pair.target for pair in block])
            fits = np.ones(len(block), dtype=bool)
            for side in (read, written):
                fits &= (side.lengths > 0) & (side.lengths <= longest)
            files.add("source", _chosen_ids(read, fits), read.lengths[fits])
            ends = np.cumsum(written.lengths[fits])
            ids = np.insert(_chosen_ids(written, fits), ends, END)
            files.add("target", ids, written.lengths[fits] + 1)
    return EncodedPairs.open(folder)


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
    batch = _as_sentences(Rows.of([pieces.ids for pieces in sources]).take(np.arange(len(sources))))
    return replace(batch, texts=tuple(pieces.tokens for pieces in sources))


def _as_sentences(rows: Ragged) -> Batch:
    """Make every row a document of one sentence, and an empty row one of none."""
    written = rows.lengths > 0
    return Batch(ids=Ragged(rows.values, rows.lengths[written]), sentences=written.long())


def _blocks(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    return cut_stream(pairs, lambda pair: len(pair.source) + len(pair.target))


def _chosen_ids(encoded: Encoded, chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
    return encoded.ids[np.repeat(chosen, encoded.lengths)]
