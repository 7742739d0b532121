"""What the writers of all formats share: rows of cells, and how a file of them is written."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from ...errors import DataError

__all__ = ["Cell", "Cells", "RowEncoder", "finite", "require_known_columns"]

Cell = object
Cells = Mapping[str, Cell]
"""A row that is to be written: its cells by the names of their columns."""


class RowEncoder(ABC):
    """How the rows of one file are written, part after part."""

    @abstractmethod
    def encode(self, rows: Sequence[Cells], first: int) -> bytes:
        """Return what is to be appended for these rows; ``first`` is the first one's number."""

    def encode_none(self, like: Cells) -> bytes:
        """Return what a file holds that has no rows, where they would have been like this one."""
        return b""

    def adopt(self, path: Path) -> None:  # noqa: B027
        """Learn the columns of a file that others have begun, where rows must agree in them."""

    def finish(self, unfinished: Path, path: Path) -> None:
        """Give a file that has all its rows its final form and name; on failure it stays."""
        unfinished.replace(path)


def require_known_columns(row: Cells, names: Collection[str], number: int) -> None:
    """Raise ``DataError`` for a column that the first rows lack."""
    for name in row:
        if name not in names:
            raise DataError(
                f"row {number:,} has a column {name!r} that the first one lacks; "
                "write .jsonl instead"
            )


def finite(cell: Cell) -> Cell:
    """Return the cell with null in the place of numbers that JSON does not know."""
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    if isinstance(cell, Mapping):
        return {name: finite(value) for name, value in cell.items()}
    return [finite(value) for value in cell] if isinstance(cell, list | tuple) else cell
