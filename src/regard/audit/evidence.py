"""The evidence that people marked in a document, from a column of its row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import DataError
from ..records.weights import Span
from ..text.document import Document
from .plausibility import marked, token_spans

__all__ = ["evidence_of", "marked_share"]


def evidence_of(document: Document, column: str) -> tuple[Span, ...]:
    """Return the spans in a column: a list of ``start_char`` and ``end_char``, as JSON or not.

    An empty cell is a document in which nothing is marked.
    """
    if column not in document.fields:
        known = ", ".join(document.fields) or "no others"
        raise DataError(f"the data have no column {column!r} of evidence; there are {known}")
    cell = document.fields[column]
    if isinstance(cell, str) and cell.strip():
        try:
            cell = json.loads(cell)
        except json.JSONDecodeError as problem:
            raise DataError(f"column {column!r} is no JSON list of spans: {problem}") from problem
    if cell is None or cell == "":
        return ()
    if not isinstance(cell, Sequence) or isinstance(cell, str | bytes):
        raise _wrong(column, cell)
    return tuple(_span(item, document, column) for item in cell)


def marked_share(documents: Sequence[Document], column: str) -> float:
    """How much of a text people mark, as the mean share of its white-space tokens."""
    shares = []
    for document in documents:
        tokens = token_spans(document.text)
        if len(tokens):
            shares.append(float(marked(tokens, evidence_of(document, column)).mean()))
    return float(np.mean(shares)) if shares else 0.0


def _span(item: object, document: Document, column: str) -> Span:
    values: Sequence[object]
    if isinstance(item, Mapping):
        values = [item.get("start_char"), item.get("end_char")]
    elif isinstance(item, Sequence) and len(item) == 2 and not isinstance(item, str):
        values = item
    else:
        raise _wrong(column, item)
    start, end = values
    if not isinstance(start, int) or not isinstance(end, int):
        raise _wrong(column, item)
    if not 0 <= start <= end <= len(document.text):
        size = len(document.text)
        raise DataError(f"{column} marks {start}:{end} in a text of {size:,} characters")
    return start, end


def _wrong(column: str, value: object) -> DataError:
    shown = repr(value)[:60]
    return DataError(f"column {column!r} must hold a list of {{start_char, end_char}}, got {shown}")
