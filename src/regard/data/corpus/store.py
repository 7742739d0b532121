"""Flat arrays in the files of a folder: written as data come, and mapped into memory.

A corpus is such arrays with a header and the words; pairs of texts are such arrays too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from typing import BinaryIO, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError
from ...files import open_named, write_file
from ...records.data import TruncationReport
from ...records.encoding import decode, encode

__all__ = [
    "DTYPES",
    "FORMAT",
    "ArrayFiles",
    "Arrays",
    "Header",
    "load_store",
    "load_words",
    "map_array",
    "save_header",
]

FORMAT = 1

DTYPES = {
    "ids": "int32",
    "sentence_lengths": "int32",
    "token_starts": "int64",
    "sentence_starts": "int64",
    "labels": "int32",
    "label_starts": "int64",
    "fingerprints": "uint64",
    "groups": "uint64",
    "times": "float64",
}

_HEADER = "corpus.json"
_WORDS = "words.json"


class ArrayFiles:
    """The files of some arrays, each of one kind of number, open to be added to."""

    def __init__(self, folder: Path, kinds: Mapping[str, str]) -> None:
        self._folder, self._kinds = folder, kinds
        self._files: dict[str, BinaryIO] = {}
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            # Whatever was here before is no corpus from now on.
            (self._folder / _HEADER).unlink(missing_ok=True)
            for name in self._kinds:
                path = _array_path(self._folder, name)
                self._files[name] = self._closing.enter_context(open_named(path, "wb"))
        except OSError as problem:
            self.close()
            raise DataError(f"cannot write a corpus to {self._folder}: {problem}") from problem
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def write(self, name: str, values: ArrayLike) -> None:
        """Add values to the end of an array."""
        self._files[name].write(np.asarray(values, self._kinds[name]).tobytes())

    def close(self) -> None:
        """Close the files, so that all that was written is in them."""
        self._closing.close()


def map_array(folder: Path, name: str, kind: str) -> np.ndarray:
    """Map an array that was written into memory; what is not there is damage."""
    path = _array_path(folder, name)
    dtype = np.dtype(kind)
    try:
        if path.stat().st_size < dtype.itemsize:
            return np.zeros(0, dtype)  # an empty file cannot be mapped
        # A plain array over the map: slices of np.memmap itself cost several times as much.
        return np.asarray(np.memmap(path, dtype=dtype, mode="r"))
    except (OSError, ValueError) as problem:
        raise DataError(f"the corpus in {folder} is damaged: {path.name}: {problem}") from problem


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """What is known of the documents; a list of starts ends with where the last document ends."""

    ids: NDArray[np.int32]  # (tokens,), numbers of words in the order they were first met
    sentence_lengths: NDArray[np.int32]  # (sentences,)
    token_starts: NDArray[np.int64]  # (documents + 1,)
    sentence_starts: NDArray[np.int64]  # (documents + 1,)
    labels: NDArray[np.int32]  # numbers of labels in the order they were first met
    label_starts: NDArray[np.int64]  # (documents + 1,)
    fingerprints: NDArray[np.uint64]  # (documents,)
    groups: NDArray[np.uint64]  # (documents,), or empty
    times: NDArray[np.float64]  # (documents,), or empty


@dataclass(frozen=True, slots=True)
class Header:
    """What the arrays do not say; its file is written last, so that half a corpus has none."""

    documents: int
    tokens: int
    sentences: int
    parts: tuple[int, ...]  # how many documents each source gave
    labels: tuple[str | int, ...]  # in the order they were first met
    labelled: bool
    multilabel: bool
    truncation: TruncationReport
    encoded: bool = False  # whether the numbers of words are the ids of a vocabulary
    format: int = FORMAT


def save_header(folder: Path, header: Header, words: list[str]) -> None:
    """Write the words, then the header, without which there is no corpus."""
    write_file(folder / _WORDS, json.dumps(words))
    write_file(folder / _HEADER, encode(header))


def load_store(folder: Path) -> tuple[Header, Arrays]:
    """Open the header and map the arrays; half a corpus or a damaged one is an error."""
    try:
        text = (folder / _HEADER).read_text(encoding="ascii")
    except OSError as problem:
        raise DataError(f"{folder} holds no finished corpus; build it again") from problem
    header = decode(Header, text)
    if header.format != FORMAT:
        raise DataError(
            f"{folder} holds a corpus of format {header.format}, we read {FORMAT}; build it again"
        )
    arrays = Arrays(
        *(map_array(folder, field.name, DTYPES[field.name]) for field in fields(Arrays))
    )
    sizes = (len(arrays.ids), len(arrays.sentence_lengths), len(arrays.fingerprints))
    starts = {len(arrays.token_starts), len(arrays.sentence_starts), len(arrays.label_starts)}
    if sizes != (header.tokens, header.sentences, header.documents) or starts != {sizes[2] + 1}:
        raise DataError(f"the corpus in {folder} is damaged: its files are cut; build it again")
    return header, arrays


def load_words(folder: Path) -> list[str]:
    """Read the words in the order they were first met."""
    return [str(word) for word in json.loads((folder / _WORDS).read_text(encoding="ascii"))]


def _array_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.bin"
