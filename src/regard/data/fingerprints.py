"""Numbers that stand for texts, to find those that occur more than once."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..text.document import Document

__all__ = ["file_digest", "fingerprint", "fingerprints", "repeated", "shared"]


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


def fingerprints(documents: Iterable[Document]) -> NDArray[np.uint64]:
    """Return the fingerprint of every document's text, in order, (documents,)."""
    return np.fromiter((fingerprint(document.text) for document in documents), np.uint64)


def repeated(fingerprints: NDArray[np.uint64]) -> int:
    """Count the texts that occurred before."""
    return len(fingerprints) - len(np.unique(fingerprints))


def shared(fingerprints: NDArray[np.uint64], others: NDArray[np.uint64]) -> int:
    """Count the texts that are among the others too."""
    return int(np.isin(fingerprints, others).sum())
