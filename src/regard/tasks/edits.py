"""How many letters must be changed to make one text of another: edit distance, error rate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import DataError

__all__ = ["character_error_rate", "edit_distance"]


def character_error_rate(written: Sequence[str], references: Sequence[str]) -> float:
    """Return the edits of all texts together, a letter of the references; 0 is perfect.

    It is over one where more was written than is right. A letter is a code point. Where all
    references are empty it is 0 if nothing was written, and 1 otherwise.
    """
    if len(written) != len(references):
        raise DataError(f"{len(written)} texts do not fit {len(references)} references")
    edits = sum(map(edit_distance, written, references))
    letters = sum(map(len, references))
    return edits / letters if letters else float(edits > 0)


def edit_distance(written: str, reference: str) -> int:
    """Return how many letters must be put in, taken out or replaced (Levenshtein, 1966)."""
    if written == reference:
        return 0
    letters = np.array([ord(letter) for letter in reference], dtype=np.int64)
    places = np.arange(len(letters) + 1)
    edits = places  # from nothing to each beginning of the reference
    for letter in written:
        kept = edits[:-1] + (letters != ord(letter))
        taken_out = edits + 1
        best = np.concatenate([taken_out[:1], np.minimum(taken_out[1:], kept)])
        # Whatever is put in costs one more than the place before: a running least, place by place.
        edits = np.minimum.accumulate(best - places) + places
    return int(edits[-1])
