"""Numbers that stand for texts, to find those that occur more than once."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

__all__ = ["fingerprint", "repeated", "shared"]


def fingerprint(text: str) -> int:
    """Return 64 bits that are the same in every run; white space at the ends does not count."""
    data = text.strip().encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def repeated(fingerprints: NDArray[np.uint64]) -> int:
    """Count the texts that occurred before."""
    return len(fingerprints) - len(np.unique(fingerprints))


def shared(fingerprints: NDArray[np.uint64], others: NDArray[np.uint64]) -> int:
    """Count the texts that are among the others too."""
    return int(np.isin(fingerprints, others).sum())
