"""``regard look``: what a model's attention does over a whole corpus."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from .inputs import DocumentsToRead, Limit, Unlabelled, existing, first
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
)
from .output import Delivery, Remarks, counted
from .tasks import find_task

__all__ = ["look"]


def look(
    context: typer.Context,
    model: ModelFolder,
    data: Data,
    word: Annotated[
        list[str] | None,
        typer.Option(help="A word to see in context; may be repeated."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the findings as {reports}.")] = None,
    json: Json = False,
    limit: Limit = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    labels_separator: LabelsSeparator = None,
    unlabelled: Unlabelled = False,
    encoding: Encoding = None,
    on_bad_row: OnBadRow = "stop",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """See what attention does over a whole corpus.

    How the weight of a word changes with context, how even the weights are, which sentences
    decide each label, and which labels look wrong.
    """
    from ..estimators.classifier import DocumentClassifier
    from ..look.run import look as look_through
    from ..views.look import render, summary

    delivery = Delivery(out, json, quiet, (data,))
    find_task(model, context)
    existing(data)
    classifier = DocumentClassifier.load(model, device=device)
    remarks = Remarks(quiet=quiet)
    asked = DocumentsToRead(data, text_column, label_column, labels_separator, encoding, on_bad_row)
    documents = asked.open(
        classifier.facts_,
        labelled=not unlabelled,
        several=classifier.labels_.multilabel,
        tell=remarks.add,
    )
    found = look_through(
        classifier,
        first(documents, limit),
        words=word or (),
        title=f"{model.name} on {Path(data).name}",
        watch=partial(counted, quiet=quiet),
    )
    remarks.say()
    delivery.give(found, page=render, lines=summary)
