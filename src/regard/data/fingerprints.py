"""Numbers that stand for texts, to find those that occur more than once."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..records.data import BadRow
from ..text.document import Document
from .formats.folders import files_below, is_text_name

__all__ = ["file_digest", "fingerprint", "fingerprints", "repeated", "shared", "state_of_data"]


def fingerprint(text: str) -> int:
    """Return 64 bits that are the same in every run; white space at the ends does not count."""
    data = text.strip().encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def file_digest(*paths: Path) -> str:
    """Return what tells the content of these files from any other, 32 letters."""
    found = blake2b(digest_size=16)
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                found.update(block)
    return found.hexdigest()


def state_of_data(path: Path) -> str:
    """Return what changes when a file, or a text of a folder, is changed, added or removed."""
    place = path.resolve()
    if not path.is_dir():
        found = path.stat()
        return f"{place}, {found.st_size} bytes, time {found.st_mtime_ns}"
    digest, count = blake2b(digest_size=8), 0
    for text in files_below(path):
        if isinstance(text, BadRow):
            told = f"{text}\n"
        elif is_text_name(text.name):
            found = text.stat()
            told = f"{text.relative_to(path).as_posix()}\n{found.st_size} {found.st_mtime_ns}\n"
            count += 1
        else:
            continue
        digest.update(told.encode("utf-8", "surrogateescape"))
    return f"{place}, {count} texts, state {digest.hexdigest()}"


def fingerprints(documents: Iterable[Document]) -> NDArray[np.uint64]:
    """Return the fingerprint of every document's text, in order, (documents,)."""
    return np.fromiter((fingerprint(document.text) for document in documents), np.uint64)


def repeated(fingerprints: NDArray[np.uint64]) -> int:
    """Count the texts that occurred before."""
    return len(fingerprints) - len(np.unique(fingerprints))


def shared(fingerprints: NDArray[np.uint64], others: NDArray[np.uint64]) -> int:
    """Count the texts that are among the others too."""
    return int(np.isin(fingerprints, others).sum())
