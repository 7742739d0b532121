"""What people marked in the training data themselves, as the reason for each label."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from ..errors import DataError
from .inputs import open_documents, require_one_text
from .output import counted, say

if TYPE_CHECKING:
    from ..data.readers import Reader
    from ..estimators.fitting import Reason

__all__ = ["read_reasons"]

EVIDENCE = "evidence"  # a column of this name is looked into for what people marked
FIRST = 20  # documents that tell whether spans stand there


def read_reasons(
    reader: Reader, data: str, column: str | None, on_bad_row: str, *, quiet: bool
) -> Sequence[Reason]:
    """Read what people marked in the documents; nobody has to say where, if it is usual.

    ``reader`` reads the same data for the training. Only of what was asked for a mistake is an
    error; ``"none"`` asks for nothing.
    """
    if column == "none":
        return []

    def opened() -> Reader:
        """The training data with all of their columns."""
        return open_documents(data, replace(reader.columns, carry=True), on_bad_row)

    if column is not None:
        require_one_text(reader.columns)
        return _read(opened(), column, quiet=quiet)
    if reader.once or len(reader.columns.texts) > 1 or not _has_evidence(opened()):
        return []
    try:
        return _read(opened(), EVIDENCE, quiet=quiet)
    except DataError as problem:
        say(f"! column {EVIDENCE} is not learnt from: {problem}", quiet=quiet)
        return []


def _has_evidence(reader: Reader) -> bool:
    """Whether a column is called as in ERASER's data, and has spans in what comes first."""
    from ..audit.plausibility import read_evidence

    documents = list(islice(reader, FIRST))
    with suppress(DataError):
        return any([bool(read_evidence(document, EVIDENCE)) for document in documents])
    return False


def _read(reader: Reader, column: str, *, quiet: bool) -> Sequence[Reason]:
    from ..estimators.marked import reasons_in_column

    found = reasons_in_column(counted(reader, "reading marks", quiet=quiet, source=reader), column)
    told = f"the reasons that people marked in {len(found):,} documents are learnt from"
    say(f"{told}: column {column}, --evidence-column none leaves them", quiet=quiet)
    return found
