"""The documents of a file that a command goes through, with labels where it has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .options import existing

if TYPE_CHECKING:
    from ..data.columns import Columns
    from ..data.readers import Reader

__all__ = ["Limit", "Unlabelled", "label_of", "opened"]

Limit = Annotated[
    int | None, typer.Option(min=1, help="How many documents to take, the first; else all.")
]
Unlabelled = Annotated[bool, typer.Option("--unlabelled", help="The data have no labels.")]


def label_of(label_column: str, unlabelled: bool) -> str | None:
    """Return the column of the label, or None where there is none."""
    return None if unlabelled else label_column


def opened(data: str, columns: Columns, on_bad_row: str = "stop") -> Reader:
    """Return what reads the documents of a file, or say kindly that there is none."""
    from ..data.readers import read_documents

    return read_documents(existing(data), columns, on_bad_row=on_bad_row)  # type: ignore[arg-type]
