"""Rows of numbers end to end in mapped files: ids, or the bytes of texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from ..ragged import Ragged
from ..text.document import cut_stream
from .batches import places_of_rows
from .corpus.store import ArrayFiles, map_array

__all__ = ["RowFiles", "Rows", "StoredTexts", "store_texts"]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of items end to end: ids, or the bytes of texts."""

    items: np.ndarray
    starts: NDArray[np.int64]  # (rows + 1,)

    @classmethod
    def of(cls, rows: Sequence[ArrayLike]) -> Rows:
        """Lay rows of ids end to end, in memory."""
        arrays = [np.asarray(row, dtype=np.int32) for row in rows]
        starts = np.zeros(len(arrays) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in arrays], out=starts[1:])
        return cls(np.concatenate(arrays) if arrays else np.zeros(0, np.int32), starts)

    @classmethod
    def map(cls, folder: Path, name: str, kind: str) -> Rows:
        """Map the rows that ``RowFiles`` wrote under a name."""
        starts = map_array(folder, f"{name}_starts", "int64")
        return cls(map_array(folder, name, kind), starts)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many items each row has, (rows,)."""
        return np.diff(self.starts)

    def take(self, rows: NDArray[np.int64]) -> Ragged:
        """Gather some rows of ids, in the order given."""
        starts = self.starts[rows]
        lengths = self.starts[rows + 1] - starts
        ids = self.items[places_of_rows(starts, lengths)].astype(np.int64)
        return Ragged.knowing(torch.from_numpy(ids), torch.from_numpy(lengths), lengths.tolist())

    def text(self, row: int) -> str:
        """The text whose bytes a row is."""
        written = self.items[self.starts[row] : self.starts[row + 1]].tobytes()
        return written.decode("utf-8", "surrogatepass")


class RowFiles(ArrayFiles):
    """The files of rows under some names, and of where each row starts."""

    def __init__(self, folder: Path, names: Sequence[str], kind: str) -> None:
        starts = [f"{name}_starts" for name in names]
        super().__init__(folder, dict.fromkeys(names, kind) | dict.fromkeys(starts, "int64"))
        self._ends = dict.fromkeys(names, 0)

    def __enter__(self) -> Self:
        super().__enter__()
        for name in self._ends:
            self.write(f"{name}_starts", [0])
        return self

    def add(self, name: str, items: np.ndarray, lengths: ArrayLike) -> None:
        """Write rows of these lengths, laid end to end."""
        ends = self._ends[name] + np.cumsum(lengths, dtype=np.int64)
        self.write(name, items)
        self.write(f"{name}_starts", ends)
        self._ends[name] += len(items)


class StoredTexts:
    """Texts in mapped files, to be read as often as wanted; so they may be larger than memory."""

    def __init__(self, rows: Rows, places: NDArray[np.int64] | None = None) -> None:
        self._rows = rows
        self._places = np.arange(len(rows)) if places is None else places

    def __len__(self) -> int:
        """How many texts there are."""
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        for place in self._places.tolist():
            yield self._rows.text(place)

    def choose(self, places: NDArray[np.int64]) -> StoredTexts:
        """Return the texts at these places, in the order given."""
        return StoredTexts(self._rows, self._places[places])


def store_texts(texts: Iterable[str], folder: Path) -> StoredTexts:
    """Write texts to files as they come, in memory that does not grow with their number."""
    with RowFiles(folder, ("text",), "uint8") as files:
        for block in cut_stream(texts, len):
            written = [text.encode("utf-8", "surrogatepass") for text in block]
            joined = np.frombuffer(b"".join(written), np.uint8)
            files.add("text", joined, [len(text) for text in written])
    return StoredTexts(Rows.map(folder, "text", "uint8"))
