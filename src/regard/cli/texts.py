"""The texts that a command explains: one from the command line, or the first of a file."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import typer

from ..errors import DataError
from .options import existing
from .progress import say

__all__ = ["TextsToExplain"]


@dataclass(frozen=True)
class TextsToExplain:
    """Where the texts are, and how many of them are meant at most."""

    text: str | None
    data: str | None
    column: str | None  # None: the usual one of the model
    encoding: str | None
    limit: int

    def __post_init__(self) -> None:
        if (self.data is None) == (self.text is None):
            raise typer.BadParameter("give either --text or a file of texts")

    def read(self, usual_column: str, *, quiet: bool) -> list[str]:
        """Return the texts, at least one; say so where the file has more."""
        from ..data.columns import Columns
        from ..data.readers import read_documents

        if self.text is not None:
            return [self.text]
        columns = Columns(text=self.column or usual_column, label=None, encoding=self.encoding)
        reader = read_documents(existing(str(self.data)), columns)
        texts = [document.text for document in itertools.islice(reader, self.limit + 1)]
        if not texts:
            raise DataError(f"{reader.name} has no texts to explain")
        if len(texts) > self.limit:
            message = f"explaining the first {self.limit:,} documents; --limit explains more"
            say(message, quiet=quiet)
        return texts[: self.limit]
