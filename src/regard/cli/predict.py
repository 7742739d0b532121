"""``regard predict``: labels and probabilities for new documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..data.formats.lines import STANDARD_INPUT
from ..errors import ConfigError, DataError
from .inputs import document_columns, existing, open_documents
from .options import Data, Device, Encoding, ModelFolder, OnBadRow, Quiet, TextColumn
from .output import Remarks, require_output
from .progress import counted, say
from .tasks import find_task

if TYPE_CHECKING:
    from ..data.formats.dialects import Dialect
    from ..data.readers import Reader
    from ..data.writers import Cell, Cells
    from ..estimators.classifier import DocumentClassifier
    from ..records.explanation import Piece

__all__ = ["predict"]

_PART = 4096  # rows that are written, and noted as written, at once


def predict(
    context: typer.Context,
    model: ModelFolder,
    data: Data,
    out: Annotated[
        str,
        typer.Option(help="Where to write: {written}, or - for standard output."),
    ] = "-",
    text_column: TextColumn = None,
    abstain_below: Annotated[
        float, typer.Option(min=0, max=1, help="Give no label where the probability is below this.")
    ] = 0.0,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the sentences and words that weighed most.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an output that a killed run has left.")
    ] = False,
    protect_formulas: Annotated[
        bool,
        typer.Option(
            "--protect-formulas",
            help="Put ' before cells of .csv and .tsv that a spreadsheet would compute.",
        ),
    ] = False,
    encoding: Encoding = None,
    on_bad_row: OnBadRow = "stop",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Label new documents.

    Ids and other columns are carried through, in the same order, and CSV comes back as it was
    written: separator, quotes, line ends, encoding.
    """
    from ..data.formats.table import FORMATS, written_suffixes
    from ..estimators.classifier import DocumentClassifier

    if resume and STANDARD_INPUT in (data, out):
        raise ConfigError("--resume needs files to go on with, not -")
    if resume and Path(data).exists() and not (Path(data).is_file() or Path(data).is_dir()):
        raise ConfigError(f"--resume needs files to go on with; {data} can be read only once")
    delimited = (*FORMATS["csv"].suffixes, *FORMATS["tsv"].suffixes)
    if protect_formulas and Path(out).suffix.lower() not in delimited:
        raise ConfigError(f"--protect-formulas is for .csv and .tsv, not for {out}")
    if out != STANDARD_INPUT:
        require_output(out, written_suffixes(), inputs=(data,))
    find_task(model, context)
    existing(data)
    classifier = DocumentClassifier.load(model, device=device)
    remarks = Remarks(quiet=quiet)
    columns = document_columns(
        classifier.facts_, text=text_column, encoding=encoding, labelled=False, tell=remarks.add
    )
    reader = open_documents(data, columns, on_bad_row, tell=remarks.add)
    job = _Answering(classifier, abstain_below, explain, data == STANDARD_INPUT)
    if out == STANDARD_INPUT:
        from ..data.writers import write_rows

        count = write_rows(counted(job.rows(reader), "predicted", quiet=quiet), out)
    else:
        options = (
            f"{columns.text=} {columns.encoding=} {abstain_below=} {explain=} {protect_formulas=}"
        )
        task = _task(model, data, options)
        count = _write(job, reader, _Output(out, task, resume, quiet, protect_formulas))
    remarks.say()
    if not quiet:
        for line in reader.counts.describe():
            say(line)
        say(f"{count:,} predictions written" + ("" if out == "-" else f" to {out}"))


@dataclass(frozen=True)
class _Output:
    """Where the answers go, and what they come from."""

    path: str
    task: dict[str, str]
    resume: bool
    quiet: bool
    protected: bool


def _task(model: Path, data: str, options: str) -> dict[str, str]:
    """What must be the same for a run to be gone on with."""
    from ..data.fingerprints import file_digest, state_of_data

    task = {"model": file_digest(model / "weights.safetensors", model / "config.json")}
    if data != STANDARD_INPUT:
        task["data"] = state_of_data(Path(data))
    return task | {"options": options}


def _write(job: _Answering, documents: Reader, out: _Output) -> int:
    """Read, predict and write at the same time; return how many rows the file has."""
    from ..data.threads import Behind
    from ..data.writers import RowWriter
    from ..estimators.reader import chunks

    def dialect() -> Dialect:
        return replace(documents.dialect, protects=out.protected)

    with RowWriter(out.path, task=out.task, resume=out.resume, dialect=dialect) as writer:
        if writer.rows:
            say(f"{writer.rows:,} rows are there already, going on", quiet=out.quiet)
        rows = counted(job.rows(documents, skip=writer.rows), "predicted", quiet=out.quiet)
        with Behind(writer.write) as behind:
            for part in chunks(rows, _PART):
                behind.put(part)
    return writer.rows


@dataclass(frozen=True)
class _Answering:
    """What is said of each document."""

    classifier: DocumentClassifier
    abstain_below: float
    explain: bool
    waits: bool  # whether the next document may be long in coming

    def rows(self, documents: Reader, skip: int = 0) -> Iterator[Cells]:
        """One row a document: what it came with, then what the model says."""
        from ..data.threads import ahead
        from ..estimators.reader import text_chunks

        left = islice(documents, skip, None)
        read = text_chunks(left, lambda document: len(document.text))
        # A thread that waits for standard input would keep Ctrl-C waiting too.
        for chunk in read if self.waits else ahead(read):
            answers = self._answers([document.text for document in chunk])
            for document, answer in zip(chunk, answers, strict=True):
                given = document.row(documents.columns.text)
                _require_new(answer, given)
                yield {**given, **answer}

    def _answers(self, texts: list[str]) -> Iterator[Cells]:
        """What the model says of each text."""
        from ..tasks.predictions import confidences

        classifier = self.classifier
        names = [str(name) for name in classifier.classes_]
        likely = classifier.predict_proba(texts)
        labels = classifier.labels_from(likely).tolist()
        sureness = confidences(likely, multilabel=classifier.labels_.multilabel).tolist()
        found = classifier.explain(texts) if self.explain else []
        for place, row in enumerate(likely.tolist()):
            answer: dict[str, Cell] = {
                "predicted": labels[place] if sureness[place] >= self.abstain_below else None,
                "probability": sureness[place],
                "probabilities": dict(zip(names, row, strict=True)),
            }
            if self.explain:
                answer["heaviest_sentences"] = [_plain(piece) for piece in found[place].sentences()]
                answer["heaviest_words"] = [_plain(piece) for piece in found[place].words()]
            yield answer


def _require_new(answer: Cells, given: Cells) -> None:
    """Raise ``DataError`` where an answer would take the place of what is carried through."""
    for name in answer:
        if name in given:
            raise DataError(
                f"the data have a column {name!r}, which the predictions would replace; rename it"
            )


def _plain(piece: Piece) -> dict[str, Cell]:
    start, end = piece.span
    return {"text": piece.text, "start": start, "end": end, "weight": piece.weight}
