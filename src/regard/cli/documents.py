"""The documents of a file that a command goes through, with labels where it has them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from .options import existing

if TYPE_CHECKING:
    from ..data.columns import Columns
    from ..text.document import Document

__all__ = ["Limit", "Unlabelled", "label_of", "opened"]

Limit = Annotated[
    int | None, typer.Option(min=1, help="How many documents to take, the first; else all.")
]
Unlabelled = Annotated[bool, typer.Option("--unlabelled", help="The data have no labels.")]


def label_of(label_column: str, unlabelled: bool) -> str | None:
    """Return the column of the label, or None where there is none."""
    return None if unlabelled else label_column


def opened(
    data: str, columns: Columns, *, limit: int | None = None, on_bad_row: str = "stop"
) -> Iterator[Document]:
    """Read the first documents of a file, or all."""
    from ..data.readers import read_documents

    reader = read_documents(existing(data), columns, on_bad_row=on_bad_row)  # type: ignore[arg-type]
    return itertools.islice(iter(reader), limit)
