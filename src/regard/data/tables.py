"""Texts and labels as numpy, pandas and scikit-learn hand them over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError

__all__ = ["label_rows", "one_column"]


def one_column(given: Iterable[object], name: str) -> Iterable[object]:
    """Return the items one after the other: of a table of one column, its cells.

    A frame of pandas goes through its column names when it is iterated, and a matrix through its
    rows; neither are texts.
    """
    if isinstance(given, str | bytes):
        raise DataError(f"{name} must be a list of strings, got a single one; put it in a list")
    if isinstance(given, Mapping):
        raise DataError(f"{name} must be a list of strings, got a mapping of {_shown(given)}")
    shape = _shape(given)
    if shape is None or len(shape) == 1:
        return given
    if len(shape) == 2 and shape[1] == 1:
        column: NDArray[np.object_] = np.asarray(given, dtype=object)
        return column[:, 0].tolist()
    columns = getattr(given, "columns", None)
    named = f" with the columns {_shown(columns)}" if columns is not None else ""
    raise DataError(
        f"{name} must be one column, got a table of shape {shape}{named}; give one column of it"
    )


def label_rows(given: Iterable[object]) -> Iterable[object] | NDArray[np.generic]:
    """Return labels as Python's own values, or as a matrix where they have several columns."""
    dense = given.toarray() if hasattr(given, "toarray") else given
    shape = _shape(dense)
    if shape is None:
        return dense
    rows = np.asarray(dense)
    if rows.ndim == 2 and rows.shape[1] != 1:
        return rows
    if rows.ndim > 2 or rows.ndim == 0:
        raise DataError(f"labels must be one a text, got an array of shape {rows.shape}")
    # As Python's own values; where a frame has several kinds, its array has objects.
    return rows.reshape(-1).tolist()


def _shape(given: object) -> tuple[int, ...] | None:
    shape = getattr(given, "shape", None)
    return tuple(shape) if isinstance(shape, tuple | list) else None


def _shown(names: Iterable[object]) -> str:
    listed = [str(name) for name in names]
    return ", ".join(listed[:5]) + (", ..." if len(listed) > 5 else "")
