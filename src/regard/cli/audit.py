"""``regard audit``: how far a model's explanations can be trusted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import (
    Data,
    Device,
    Encoding,
    Json,
    LabelColumn,
    LabelsSeparator,
    ModelFolder,
    OnBadRow,
    Quiet,
    TextColumn,
    existing,
    require_suffix,
)
from .progress import counted, say
from .reports import REPORTS, write_report

if TYPE_CHECKING:
    from ..data.columns import Columns
    from ..estimators.classifier import DocumentClassifier

__all__ = ["audit"]


def audit(
    model: ModelFolder,
    data: Data,
    evidence_column: Annotated[
        str | None,
        typer.Option(help="The column of what people marked: a list of start_char, end_char."),
    ] = None,
    models: Annotated[
        list[Path] | None,
        typer.Option(help="A model trained alike with another seed; may be given again."),
    ] = None,
    uniform: Annotated[
        Path | None, typer.Option(help="The same model trained with pooling=mean.")
    ] = None,
    train_data: Annotated[
        str | None,
        typer.Option(help="Train that model here, on the data the model was trained on."),
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(help="A method to audit; may be given again.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many documents to draw.")] = 100,
    seed: Annotated[int, typer.Option(help="What is drawn depends on it alone.")] = 0,
    needle: Annotated[bool, typer.Option(help="Plant sentences and look for them.")] = True,
    out: Annotated[Path | None, typer.Option(help="Write the report as .html or .json.")] = None,
    json: Json = False,
    text_column: TextColumn = "text",
    label_column: LabelColumn = "label",
    labels_separator: LabelsSeparator = None,
    encoding: Encoding = None,
    on_bad_row: OnBadRow = "stop",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Measure how far a model's explanations can be trusted.

    Every number stands beside its baseline, with an interval and the number of documents.
    """
    from ..data.columns import Columns
    from ..data.readers import read_documents
    from ..estimators.auditing import AuditOptions, Companions, sampled
    from ..estimators.auditing import audit as measured
    from ..estimators.classifier import DocumentClassifier
    from ..views.audit import render, summary

    if out is not None:
        require_suffix(out, REPORTS)
    if uniform is not None and train_data is not None:
        raise typer.BadParameter("give either --uniform or --train-data")
    classifier = DocumentClassifier.load(model, device=device)
    columns = Columns(
        text=text_column, label=label_column, labels_separator=labels_separator, encoding=encoding
    )
    reader = read_documents(existing(data), columns, on_bad_row=on_bad_row)  # type: ignore[arg-type]
    documents = sampled(counted(reader, "read", quiet=quiet), limit, seed)
    others = tuple(DocumentClassifier.load(folder, device=device) for folder in models or ())
    even = DocumentClassifier.load(uniform, device=device) if uniform is not None else None
    if train_data is not None:
        even = _trained_evenly(classifier, train_data, columns, device=device)
    options = AuditOptions(
        methods=tuple(method or ()),
        evidence=evidence_column,
        needle=needle,
        seed=seed,
        watch=lambda some: counted(some, "audited", quiet=quiet),
    )
    found = measured(classifier, documents, options, Companions(others, even))
    found = replace(found, data=Path(data).name)
    if out is not None:
        write_report(found, out, render)
        say(f"report written to {out}", quiet=quiet)
    if json:
        typer.echo(found.to_json())
    elif not quiet:
        typer.echo("\n".join(summary(found)))


def _trained_evenly(
    classifier: DocumentClassifier, data: str, columns: Columns, *, device: str
) -> DocumentClassifier:
    """Train a model like the given one whose attention is even."""
    from ..data.readers import read_documents
    from ..errors import ConfigError
    from ..estimators.classifier import DocumentClassifier
    from ..models.settings import ReaderConfig

    network = classifier.network
    if not isinstance(network, ReaderConfig):
        raise ConfigError("this network has no pooling to make even; train one and give --uniform")
    even = DocumentClassifier(
        replace(network, pooling="mean"),
        training=classifier.training,
        text=classifier.text,
        validation=classifier.validation,
        device=device,
    )
    return even.fit_documents(read_documents(existing(data), columns))
