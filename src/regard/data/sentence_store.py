"""Vectors of sentences on disk, so that a network that stays as it is reads each only once.

    folder/
      new.rows   records: name of the sentence, checksum, vector
      old.rows   the records before those, dropped when new.rows has grown to half of the bound

A folder belongs to one network, by the digest of its weights. Records are only ever added at the
end, by one process at a time; one that a crash left half-written has a wrong checksum and counts as
missing. Plain numbers: nothing in these files is ever run.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from .locks import hold_lock

__all__ = ["MOST_BYTES", "StoredSentences", "cache_folder", "read_anew"]

MOST_BYTES = 1 << 30
"""What one store takes on disk at most; the records that were written first go first."""
KEY_BYTES = 16
_NEW, _OLD = "new.rows", "old.rows"


def cache_folder() -> Path:
    """Where this user's files lie that can be made again: ``REGARD_CACHE`` names another place."""
    given = os.environ.get("REGARD_CACHE")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "regard"


_reading_anew = False


@contextmanager
def read_anew() -> Iterator[None]:
    """Let all stores know nothing and keep nothing for a while: so reading itself is timed."""
    global _reading_anew
    before, _reading_anew = _reading_anew, True
    try:
        yield
    finally:
        _reading_anew = before


class StoredSentences:
    """Keeps vectors of ``size`` numbers by name in the files of a folder."""

    def __init__(self, folder: Path, size: int, *, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._record = np.dtype(
            [("key", f"V{KEY_BYTES}"), ("check", "<u4"), ("vector", "<f4", (size,))]
        )
        self._half = max(most_bytes // 2, self._record.itemsize)
        self._size = size
        folder.mkdir(parents=True, exist_ok=True)
        self._read()

    def __deepcopy__(self, memo: object) -> Self:
        """A copy of a network uses the same files."""
        return self

    def __len__(self) -> int:
        """How many sentences are known."""
        return len(self._places)

    def find(self, keys: Sequence[bytes]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return the vectors, (keys, size), and which of them are known, (keys,)."""
        vectors = np.zeros((len(keys), self._size), np.float32)
        known = np.zeros(len(keys), bool)
        if _reading_anew:
            return vectors, known
        for number, key in enumerate(keys):
            place = self._places.get(key)
            if place is None:
                continue
            row = self._rows[place[0]][place[1]]
            if int(row["check"]) == _check(key, row["vector"].tobytes()):
                vectors[number], known[number] = row["vector"], True
            else:
                del self._places[key]
        return vectors, known

    def add(self, keys: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        """Keep more vectors; where another process writes, or the disk is full, nothing is kept."""
        if _reading_anew:
            return
        records = np.zeros(len(keys), self._record)
        for number, key in enumerate(keys):
            row = np.ascontiguousarray(vectors[number], dtype="<f4")
            records[number] = (np.void(key), _check(key, row.tobytes()), row)
        with suppress(DataError, OSError), hold_lock(self._folder / "lock", taken="in use"):
            self._append(records)
        self._read_on()

    def _append(self, records: NDArray[np.void]) -> None:
        new = self._folder / _NEW
        width = self._record.itemsize
        size = new.stat().st_size if new.exists() else 0
        if size + len(records) * width > self._half and size:
            new.replace(self._folder / _OLD)
            size = 0
        kept = records[-max(1, self._half // width) :]
        with new.open("r+b" if size else "wb") as file:
            file.truncate(size - size % width)  # what a crash left of a record
            file.seek(0, os.SEEK_END)
            file.write(kept.tobytes())

    def _read(self) -> None:
        """Look up what both files hold."""
        self._files: list[int | None] = [None, None]  # which ones were read, by their numbers
        self._rows = [np.zeros(0, self._record)] * 2
        self._places: dict[bytes, tuple[int, int]] = {}
        for number in (0, 1):
            self._read_file(number)

    def _read_on(self) -> None:
        """Look up what was written since, by this process or by another."""
        found = [_number(self._folder / name) for name in (_OLD, _NEW)]
        if found[0] != self._files[0] or self._files[1] not in (None, found[1]):
            self._read()
        else:
            self._read_file(1)

    def _read_file(self, number: int) -> None:
        path = self._folder / (_OLD, _NEW)[number]
        self._files[number] = _number(path)
        first = len(self._rows[number])
        count = path.stat().st_size // self._record.itemsize if path.exists() else 0
        if count > first:
            self._rows[number] = np.memmap(path, self._record, "r", shape=(count,))
            for place, key in enumerate(self._rows[number]["key"][first:].tolist(), first):
                self._places[bytes(key)] = (number, place)

    def clear(self) -> None:
        """Delete all that is kept."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._read()


def _number(path: Path) -> int | None:
    """The number by which the disk knows a file; none if there is none."""
    return path.stat().st_ino if path.exists() else None


def _check(key: bytes, vector: bytes) -> int:
    return crc32(vector, crc32(key))
