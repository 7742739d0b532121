"""Arrays in one packed stream that a browser can open: a head in JSON, then bytes, all in gzip."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

__all__ = ["ALPHABET", "fold_signs", "narrowest", "ngram_tree", "pack", "spell"]

ALPHABET = "".join(chr(code) for code in range(33, 127) if chr(code) not in "<&\\")
"""The 91 letters that bytes are spelt with: all that a page shows but those that mean something."""
_GROUP = 13  # bits that two letters hold, of which there are 91 * 91 pairs

_TYPES = {"f4": "<f4", "i4": "<i4", "u4": "<u4", "i2": "<i2", "u2": "<u2", "u1": "u1"}
_BITS = 21  # of each id in the key of an n-gram
_MASK = (1 << _BITS) - 1


def pack(about: Mapping[str, object], arrays: Mapping[str, NDArray[np.generic]]) -> bytes:
    """Put arrays, and what they are about, into one stream; the same content gives the same bytes.

    The first bytes of all numbers of an array stand before all second ones: alike beside alike
    packs better.
    """
    listed, bodies = [], []
    for name, array in arrays.items():
        kind = array.dtype.str.lstrip("<|=>")
        flat = np.ascontiguousarray(array, _TYPES[kind]).ravel()
        listed.append({"name": name, "type": kind, "count": len(flat)})
        bodies.append(flat.view(np.uint8).reshape(-1, flat.itemsize).T.tobytes())
    head = json.dumps({**about, "arrays": listed}, separators=(",", ":")).encode("ascii")
    return gzip.compress(b"".join([struct.pack("<I", len(head)), head, *bodies]), 9, mtime=0)


def spell(packed: bytes) -> str:
    """Write bytes as letters that a page can hold: two for 13 bits, where base64 takes two for 12.

    The first bits of the first byte come first, and in a group they count least.
    """
    bits = np.unpackbits(np.frombuffer(packed, np.uint8), bitorder="little")
    groups = np.pad(bits, (0, -len(bits) % _GROUP)).reshape(-1, _GROUP)
    numbers = groups @ (1 << np.arange(_GROUP, dtype=np.int32))
    letters = np.frombuffer(ALPHABET.encode("ascii"), np.uint8)
    pairs = np.stack(np.divmod(numbers, len(letters)), axis=1)
    return letters[pairs].tobytes().decode("ascii")


def fold_signs(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number 0, -1, 1, -2, 2, ... from zero on, so that small numbers have small codes."""
    return np.where(numbers < 0, -2 * numbers - 1, 2 * numbers)


def narrowest(numbers: NDArray[np.int64]) -> NDArray[np.generic]:
    """The same whole numbers, none below zero, in as few bytes each as the largest needs."""
    largest = int(numbers.max(initial=0))
    for kind, most in ((np.uint8, 0xFF), (np.uint16, 0xFFFF)):
        if largest <= most:
            return numbers.astype(kind)
    return numbers.astype(np.uint32)


def ngram_tree(keys: NDArray[np.int64], word_count: int) -> dict[str, NDArray[np.generic]]:
    """N-grams as the words that stand first, those behind each of them, and those behind each pair.

    Every n-gram of three words begins with one of two that is among the keys, which are rising.
    Each word is written as the step from its neighbour; features keep the order of the keys.
    """
    single = keys[keys <= _MASK]
    double = keys[(keys > _MASK) & (keys < 1 << 2 * _BITS)]
    triple = keys[keys >= 1 << 2 * _BITS]
    homes = np.searchsorted(double, triple >> _BITS)
    assert (double[np.minimum(homes, max(len(double) - 1, 0))] == triple >> _BITS).all(), (
        "a run of three words is kept without its first two"
    )
    second = np.bincount(double >> _BITS, minlength=word_count)
    third = np.bincount(homes, minlength=len(double))
    return {
        "singles": narrowest(_steps(single, np.array([len(single)]))),
        "second": narrowest(_steps(double & _MASK, second)),
        "secondCounts": narrowest(second),
        "third": narrowest(_steps(triple & _MASK, third)),
        "thirdCounts": narrowest(third),
    }


def _steps(numbers: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """What each number has more than the one before it, the first of a group more than zero."""
    steps = np.diff(numbers, prepend=0)
    starts = (np.cumsum(lengths) - lengths)[lengths > 0]
    steps[starts] = numbers[starts]
    return steps
