"""What a command reads: documents of a file, by the columns that its model remembers."""

from __future__ import annotations

import itertools
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..data.formats.lines import STANDARD_INPUT
from ..errors import ConfigError, DataError, nearest
from .output import Remarks

if TYPE_CHECKING:
    from ..data.columns import Columns
    from ..data.readers import Reader
    from ..text.document import Document

__all__ = [
    "DocumentsToRead",
    "Limit",
    "TextsToExplain",
    "Unlabelled",
    "document_columns",
    "existing",
    "first",
    "is_there",
    "near_file",
    "open_documents",
    "pair_columns",
    "source_columns",
]

_SHOWN = 100  # characters of a name that an error repeats
Limit = Annotated[
    int | None, typer.Option(min=1, help="Take only the first so many documents; by default all.")
]
Unlabelled = Annotated[bool, typer.Option("--unlabelled", help="The data have no labels.")]


def document_columns(
    facts: Mapping[str, object],
    *,
    text: str | None,
    label: str | None = None,
    labels_separator: str | None = None,
    encoding: str | None,
    labelled: bool = True,
    several: bool = False,
    tell: Callable[[str], None],
) -> Columns:
    """Return where documents stand: as the options say, else as the model's training had it.

    What the model remembers is said; where the data lack such a column, the usual one is read.
    ``several`` says that the model gives several labels.
    """
    from ..data.columns import Columns

    given = {"text_column": text, "encoding": encoding}
    if labelled:
        given |= {"label_column": label, "labels_separator": labels_separator}
    usual = {"text_column": "text", "label_column": "label"}
    used = _remember(given, facts, usual, tell)
    return Columns(
        text=used["text_column"] or "text",
        label=used.get("label_column"),
        labels_separator=used.get("labels_separator"),
        several=several,
        encoding=used["encoding"],
        other_text="text" if text is None else None,
        other_label="label" if label is None else None,
    )


@dataclass(frozen=True)
class DocumentsToRead:
    """Where documents are, as the options say it; what they leave out is as in the training."""

    data: str
    text_column: str | None
    label_column: str | None
    labels_separator: str | None
    encoding: str | None
    on_bad_row: str

    def open(
        self,
        facts: Mapping[str, object],
        *,
        labelled: bool = True,
        several: bool = False,
        tell: Callable[[str], None],
    ) -> Reader:
        """Open them for a model with these facts, which may give several labels."""
        columns = document_columns(
            facts,
            text=self.text_column,
            label=self.label_column,
            labels_separator=self.labels_separator,
            encoding=self.encoding,
            labelled=labelled,
            several=several,
            tell=tell,
        )
        return open_documents(self.data, columns, self.on_bad_row, tell=tell)


def pair_columns(
    facts: Mapping[str, object],
    *,
    source: str | None,
    target: str | None,
    encoding: str | None,
    tell: Callable[[str], None],
) -> Columns:
    """Return where the two sides of pairs stand, as ``document_columns`` does for documents."""
    from ..data.columns import Columns

    given = {"source_column": source, "target_column": target, "encoding": encoding}
    usual = {"source_column": "source", "target_column": "target"}
    used = _remember(given, facts, usual, tell)
    return Columns(
        text=used["source_column"] or "source",
        label=None,
        target=used["target_column"] or "target",
        encoding=used["encoding"],
        carry=False,
        other_text="source" if source is None else None,
        other_target="target" if target is None else None,
    )


def source_columns(
    facts: Mapping[str, object],
    *,
    source: str | None,
    encoding: str | None,
    tell: Callable[[str], None],
) -> Columns:
    """Return where texts to translate stand, as ``document_columns`` does for documents."""
    from ..data.columns import Columns

    given = {"source_column": source, "encoding": encoding}
    used = _remember(given, facts, {"source_column": "text"}, tell)
    return Columns(
        text=used["source_column"] or "text",
        label=None,
        encoding=used["encoding"],
        other_text="text" if source is None else None,
    )


def _remember(
    given: Mapping[str, str | None],
    facts: Mapping[str, object],
    usual: Mapping[str, str],
    tell: Callable[[str], None],
) -> dict[str, str | None]:
    """Fill in what was not given: as in the training, which is said, or as usual."""
    used: dict[str, str | None] = {}
    remembered = []
    for name, value in given.items():
        known = facts.get(name)
        used[name] = value
        if value is None:
            used[name] = known if isinstance(known, str) and known else usual.get(name)
            if used[name] != usual.get(name):
                remembered.append(f"--{name.replace('_', '-')} {shlex.quote(str(used[name]))}")
    if remembered:
        tell(f"read as in the training: {' '.join(remembered)}")
    return used


def open_documents(
    data: str,
    columns: Columns,
    on_bad_row: str = "stop",
    *,
    tell: Callable[[str], None] | None = None,
) -> Reader:
    """Return what reads the documents of a file, or say kindly that there is none."""
    from ..data.readers import read_documents

    return read_documents(
        existing(data),
        columns,
        on_bad_row=on_bad_row,  # type: ignore[arg-type]
        tell=tell,
    )


@dataclass(frozen=True)
class TextsToExplain:
    """Where the texts are, and how many of them are meant at most."""

    text: str | None
    data: str | None
    column: str | None  # None: as in the training
    encoding: str | None
    limit: int

    def __post_init__(self) -> None:
        if (self.data is None) == (self.text is None):
            raise typer.BadParameter("give either --text or a file of texts")

    def read(self, facts: Mapping[str, object], *, quiet: bool) -> list[str]:
        """Return the texts for a model with these facts, at least one; say if there are more."""
        return [document.text for document in self.documents(facts, quiet=quiet)]

    def documents(self, facts: Mapping[str, object], *, quiet: bool) -> list[Document]:
        """Return the texts with what stands beside them in the file."""
        from ..text.document import Document

        if self.text is not None:
            return [Document(self.text)]
        remarks = Remarks(quiet=quiet)
        encoding, tell = self.encoding, remarks.add
        if "source_column" in facts:
            columns = source_columns(facts, source=self.column, encoding=encoding, tell=tell)
        else:
            columns = document_columns(
                facts, text=self.column, encoding=encoding, labelled=False, tell=tell
            )
        _require_no_text(str(self.data))
        reader = open_documents(str(self.data), columns, tell=remarks.add)
        texts = list(first(reader, self.limit + 1))
        if not texts:
            raise DataError(f"{reader.name} has no texts to explain")
        if len(texts) > self.limit:
            some = f"{self.limit:,} documents" if self.limit > 1 else "document"
            remarks.add(f"explaining the first {some}; --limit explains more")
        remarks.say()
        return texts[: self.limit]


def require_one_text(columns: Columns) -> None:
    """Raise ``ConfigError`` where evidence, which is offsets into a text, would be of several."""
    if len(columns.texts) > 1:
        raise ConfigError("evidence is offsets into one text; name one column by --text-column")


def first(documents: Iterable[Document], limit: int | None) -> Iterable[Document]:
    """The first so many, however large the number is; all where there is no limit."""
    return documents if limit is None else itertools.islice(documents, min(limit, sys.maxsize))


def existing(path: str) -> str:
    """Return the path, or say kindly that there is nothing there."""
    if path == STANDARD_INPUT or is_there(path):
        return path
    raise DataError(f"there is no file {_shortened(path)}; {near_file(path)}")


def is_there(path: str) -> bool:
    """Whether there is a file or folder of this name, which may be too long for one."""
    return os.path.exists(path)  # a Path raises where a name is too long


def _require_no_text(data: str) -> None:
    """Say where a text belongs that stands in the place of a file."""
    from ..data.formats.table import has_known_suffix

    if is_there(data) or has_known_suffix(Path(data)):
        return
    if any(letter.isspace() for letter in data):
        raise DataError(
            f"there is no file {_shortened(data)!r}; to explain a text itself, give it as --text"
        )


def _shortened(name: str) -> str:
    return name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"


def near_file(path: str) -> str:
    """Return how an error about a missing file goes on: one beside it that is written alike."""
    place = Path(path)
    beside = place.parent.iterdir() if os.path.isdir(place.parent) else ()
    near = nearest(place.name, [entry.name for entry in itertools.islice(beside, 1000)])
    return f"did you mean {place.with_name(near)}?" if near else "check the name and the folder"
