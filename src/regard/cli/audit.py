"""``regard audit``: how far a model's explanations can be trusted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ConfigError
from .inputs import DocumentsToRead, existing, require_one_text
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
    ReportFile,
    TextColumn,
)
from .output import Delivery, Remarks, counted, say
from .tasks import find_task
from .tasks.task import TextsToAudit

if TYPE_CHECKING:
    from ..estimators.classifier import DocumentClassifier
    from ..text.document import Document

__all__ = ["audit"]


EvidenceColumn = Annotated[
    str | None,
    typer.Option(help="The column of what people marked: a list of start_char, end_char."),
]
Models = Annotated[
    list[Path] | None,
    typer.Option(help="The same model trained with another seed; may be repeated."),
]
Uniform = Annotated[Path | None, typer.Option(help="The same model trained with pooling=mean.")]
TrainData = Annotated[
    str | None,
    typer.Option(help="Train that model here, and a probe, on the model's training data."),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(help="A method to audit; may be repeated: {methods}; by default the usual ones."),
]
Drawn = Annotated[int, typer.Option(min=1, help="How many documents to draw.")]
Seed = Annotated[int, typer.Option(help="Same seed, same documents.")]
Full = Annotated[
    bool, typer.Option("--full", help="Take the slow measures too: ferret's, and the adversary.")
]
Needle = Annotated[bool, typer.Option(help="Plant sentences and look for them.")]


def audit(
    context: typer.Context,
    model: ModelFolder,
    data: Data,
    evidence_column: EvidenceColumn = None,
    models: Models = None,
    uniform: Uniform = None,
    train_data: TrainData = None,
    method: Methods = None,
    limit: Drawn = 100,
    seed: Seed = 0,
    needle: Needle = True,
    full: Full = False,
    out: ReportFile = None,
    json: Json = False,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    labels_separator: LabelsSeparator = None,
    encoding: Encoding = None,
    on_bad_row: OnBadRow = "stop",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Measure how far a model's explanations can be trusted.

    Every number stands beside its baseline, with an interval and the number of documents.
    """
    from ..audit.probe import DOCUMENTS
    from ..audit.run import AuditOptions, Companions, sample
    from ..audit.run import audit as measured
    from ..estimators.classifier import DocumentClassifier
    from ..views.audit.page import render
    from ..views.audit.terminal import brief, summary

    delivery = Delivery(out, json, quiet, (data, train_data), "report")
    if uniform is not None and train_data is not None:
        raise typer.BadParameter("give either --uniform or --train-data")
    task = find_task(model, context)
    if task.audit is not None:
        task.audit(
            TextsToAudit(
                model=model,
                data=data,
                out=out,
                json=json,
                text_column=text_column,
                limit=limit,
                seed=seed,
                encoding=encoding,
                on_bad_row=on_bad_row,
                device=device,
                quiet=quiet,
            )
        )
        return
    for path in filter(None, (data, train_data)):
        existing(path)
    classifier = DocumentClassifier.load(model, device=device)
    remarks = Remarks(quiet=quiet)
    asked = DocumentsToRead(data, text_column, label_column, labels_separator, encoding, on_bad_row)
    several, training = classifier.labels_.multilabel, None
    reader = asked.open(classifier.facts_, several=several, tell=remarks.add)
    if train_data is not None:
        again = replace(asked, data=train_data)
        training = again.open(classifier.facts_, several=several, tell=remarks.add)
    drawn = sample(counted(reader, "read", quiet=quiet), limit, seed)
    if evidence_column is not None:
        require_one_text(reader.columns)
    others = tuple(DocumentClassifier.load(folder, device=device) for folder in models or ())
    even = DocumentClassifier.load(uniform, device=device) if uniform is not None else None
    taught: list[Document] = []
    if training is not None:
        say("training the same model with even attention to compare with", quiet=quiet)
        even = _trained_evenly(classifier, training, device=device)
        taught = sample(training, DOCUMENTS, seed)
    watch = partial(counted, what="audited", quiet=quiet)
    options = AuditOptions(tuple(method or ()), evidence_column, needle, seed, full, watch)
    found = measured(classifier, drawn, options, Companions(others, even, taught))
    remarks.say()
    named = replace(found, model=model.resolve().name, data=Path(data).name)
    # Who asked for a page finds all numbers there.
    delivery.give(named, page=render, lines=summary if out is None else brief)


def _trained_evenly(
    classifier: DocumentClassifier, documents: Iterable[Document], *, device: str
) -> DocumentClassifier:
    """Train a model like the given one whose attention is even."""
    from ..estimators.classifier import DocumentClassifier
    from ..models.settings import ReaderConfig

    network = classifier.network
    if not isinstance(network, ReaderConfig):
        raise ConfigError("this network has no pooling to make even; train one and give --uniform")
    even = DocumentClassifier(
        replace(network, pooling="mean"),
        training=classifier.training,
        text=classifier.text,
        wide=classifier.wide,
        validation=classifier.validation,
        device=device,
    )
    return even.fit_documents(documents)
