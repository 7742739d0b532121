"""``regard predict``: labels and probabilities for new documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import DataError
from .options import Data, Device, Encoding, ModelFolder, OnBadRow, Quiet, TextColumn, existing
from .progress import counted, say

if TYPE_CHECKING:
    from ..data.writers import Cell, Row
    from ..estimators.classifier import DocumentClassifier
    from ..records.explanation import Piece
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
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the sentences and words that weighed most.")
    ] = False,
    encoding: Encoding = None,
    on_bad_row: OnBadRow = "stop",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Label new documents.

    Ids and other columns are carried through, in the same order.
    """
    from ..data.columns import Columns
    from ..data.readers import read_documents
    from ..data.writers import write_rows
    from ..estimators.classifier import DocumentClassifier

    classifier = DocumentClassifier.load(model, device=device)
    columns = Columns(text=text_column, label=None, encoding=encoding)
    reader = read_documents(existing(data), columns, on_bad_row=on_bad_row)  # type: ignore[arg-type]
    rows = _rows(
        classifier,
        counted(reader, "predicted", quiet=quiet),
        text_column=text_column,
        abstain_below=abstain_below,
        explain=explain,
    )
    count = write_rows(rows, out)
    if not quiet:
        for line in reader.counts.describe():
            say(line)
        say(f"{count:,} predictions written" + ("" if out == "-" else f" to {out}"))


def _rows(
    classifier: DocumentClassifier,
    documents: Iterable[Document],
    *,
    text_column: str,
    abstain_below: float,
    explain: bool,
) -> Iterator[Row]:
    """One row a document: what it came with, then what the model says."""
    from ..estimators.reading import chunks

    for chunk in chunks(documents):
        texts = [document.text for document in chunk]
        answers = _answers(classifier, texts, abstain_below=abstain_below, explain=explain)
        for document, answer in zip(chunk, answers, strict=True):
            given = {**document.fields, text_column: document.text}
            _require_new(answer, given)
            yield {**given, **answer}


def _answers(
    classifier: DocumentClassifier, texts: list[str], *, abstain_below: float, explain: bool
) -> Iterator[Row]:
    """What the model says of each text."""
    from ..tasks.predictions import confidences

    names = [str(name) for name in classifier.classes_]
    probabilities = classifier.predict_proba(texts)
    labels = classifier.labels_from(probabilities).tolist()
    sureness = confidences(probabilities, multilabel=classifier.labels_.multilabel).tolist()
    found = classifier.explain(texts) if explain else []
    for place, row in enumerate(probabilities.tolist()):
        answer: dict[str, Cell] = {
            "predicted": labels[place] if sureness[place] >= abstain_below else None,
            "probability": sureness[place],
            "probabilities": dict(zip(names, row, strict=True)),
        }
        if explain:
            answer["heaviest_sentences"] = [_plain(piece) for piece in found[place].sentences()]
            answer["heaviest_words"] = [_plain(piece) for piece in found[place].words()]
        yield answer


def _require_new(answer: Row, given: Row) -> None:
    """Raise ``DataError`` where an answer would take the place of what is carried through."""
    for name in answer:
        if name in given:
            raise DataError(
                f"the data have a column {name!r}, which the predictions would replace; rename it"
            )


def _plain(piece: Piece) -> dict[str, Cell]:
    start, end = piece.span
    return {"text": piece.text, "start": start, "end": end, "weight": piece.weight}
