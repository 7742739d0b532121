"""``regard predict``: labels and probabilities for new documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Data, Device, Encoding, ModelFolder, OnBadRow, Quiet, TextColumn, existing
from .progress import counted, say

if TYPE_CHECKING:
    from ..data.writers import Row
    from ..estimators.classifier import DocumentClassifier
    from ..text.document import Document

__all__ = ["predict"]


def predict(
    model: ModelFolder,
    data: Data,
    out: Annotated[
        str,
        typer.Option(
            help="Where to write: .jsonl, .csv, .tsv, .parquet, or - for standard output."
        ),
    ] = "-",
    text_column: TextColumn = "text",
    abstain_below: Annotated[
        float, typer.Option(min=0, max=1, help="Give no label where the probability is below this.")
    ] = 0.0,
    encoding: Encoding = None,
    on_bad_row: OnBadRow = "stop",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Label new documents; ids and other columns are carried through, in the same order."""
    from ..data.columns import Columns
    from ..data.readers import read_documents
    from ..data.writers import write_rows
    from ..estimators.classifier import DocumentClassifier

    classifier = DocumentClassifier.load(model, device=device)
    columns = Columns(text=text_column, label=None, encoding=encoding)
    reader = read_documents(existing(data), columns, on_bad_row=on_bad_row)  # type: ignore[arg-type]
    documents = counted(reader, "predicted", quiet=quiet)
    count = write_rows(_rows(classifier, documents, abstain_below), out)
    if not quiet:
        for line in reader.counts.describe():
            say(line)
        say(f"{count:,} predictions written" + ("" if out == "-" else f" to {out}"))


def _rows(
    classifier: DocumentClassifier, documents: Iterator[Document], abstain_below: float
) -> Iterator[Row]:
    """One row a document: what it came with, then what the model says."""
    from ..estimators.reading import chunks

    names = [str(name) for name in classifier.classes_]
    for chunk in chunks(documents):
        texts = [document.text for document in chunk]
        probabilities = classifier.predict_proba(texts)
        labels = classifier.labels_from(probabilities)
        for document, label, row in zip(chunk, labels, probabilities.tolist(), strict=True):
            surest = max(row)
            unsure = surest < abstain_below
            yield {
                **document.fields,
                "text": document.text,
                "predicted": None if unsure else label,
                "probability": surest,
                "probabilities": dict(zip(names, row, strict=True)),
            }
