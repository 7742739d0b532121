"""A corpus on disk: flat arrays that are mapped into memory, a header and the words."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from ...files import write_file
from ...records.data import TruncationReport
from ...records.encoding import decode, encode

__all__ = [
    "DTYPES",
    "FORMAT",
    "Arrays",
    "Header",
    "array_path",
    "load_store",
    "load_words",
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
    format: int = FORMAT


def array_path(folder: Path, name: str) -> Path:
    """Where the array of this name lies."""
    return folder / f"{name}.bin"


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
    arrays = Arrays(*(_mapped(folder, field.name) for field in fields(Arrays)))
    sizes = (len(arrays.ids), len(arrays.sentence_lengths), len(arrays.fingerprints))
    starts = {len(arrays.token_starts), len(arrays.sentence_starts), len(arrays.label_starts)}
    if sizes != (header.tokens, header.sentences, header.documents) or starts != {sizes[2] + 1}:
        raise DataError(f"the corpus in {folder} is damaged: its files are cut; build it again")
    return header, arrays


def load_words(folder: Path) -> list[str]:
    """Read the words in the order they were first met."""
    return [str(word) for word in json.loads((folder / _WORDS).read_text(encoding="ascii"))]


def _mapped(folder: Path, name: str) -> np.ndarray:
    path = array_path(folder, name)
    kind = np.dtype(DTYPES[name])
    try:
        if path.stat().st_size < kind.itemsize:
            return np.zeros(0, kind)  # an empty file cannot be mapped
        # A plain array over the map: slices of np.memmap itself cost several times as much.
        return np.asarray(np.memmap(path, dtype=kind, mode="r"))
    except (OSError, ValueError) as problem:
        raise DataError(f"the corpus in {folder} is damaged: {path.name}: {problem}") from problem
