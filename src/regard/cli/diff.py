"""``regard diff``: which documents a new model answers otherwise, or for other reasons."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .inputs import DocumentsToRead, Limit, Unlabelled, existing, first
from .options import (
    Data,
    Device,
    Encoding,
    Json,
    LabelColumn,
    LabelsSeparator,
    OnBadRow,
    Quiet,
    TextColumn,
)
from .output import Delivery, Remarks, counted, say
from .tasks import find_task

if TYPE_CHECKING:
    from ..estimators.classifier import DocumentClassifier
    from ..text.document import Document

__all__ = ["CHANGED", "diff"]

CHANGED = 3
"""The exit code where something changed, for scripts that must stop then."""


def diff(
    context: typer.Context,
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The folder of the model in use.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The folder of the new model.")],
    data: Data,
    out: Annotated[Path | None, typer.Option(help="Write the changes as {reports}.")] = None,
    json: Json = False,
    limit: Limit = None,
    show: Annotated[
        int, typer.Option(min=0, help="How many changes to explain side by side.")
    ] = 20,
    min_overlap: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Reasons count as changed below this overlap; by default 0.5, or as learnt.",
        ),
    ] = None,
    models: Annotated[
        list[Path] | None,
        typer.Option(
            help="OLD trained again with another seed, to learn what that changes; may be repeated."
        ),
    ] = None,
    train_data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="The training data of OLD, to train it again with another seed."
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="How to explain both: {methods}; by default as the old model does.")
    ] = "default",
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    labels_separator: LabelsSeparator = None,
    unlabelled: Unlabelled = False,
    encoding: Encoding = None,
    on_bad_row: OnBadRow = "stop",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Compare two models on the same documents.

    Lists those whose label or whose reasons changed; the exit code is 3 if there are any. With
    --train-data or --models it first learns what another seed alone changes: within that the exit
    code is 0.
    """
    from ..estimators.classifier import DocumentClassifier
    from ..look.difference import Comparison, compare, learn_usual, require_shared_labels
    from ..views.difference import render, summary

    delivery = Delivery(out, json, quiet, (data,))
    for model in (old, new):
        find_task(model, context)
    for path in filter(None, (data, train_data)):
        existing(path)
    before = DocumentClassifier.load(old, device=device)
    after = DocumentClassifier.load(new, device=device)
    remarks = Remarks(quiet=quiet)
    asked = DocumentsToRead(data, text_column, label_column, labels_separator, encoding, on_bad_row)
    facts = {**after.facts_, **before.facts_}
    several = before.labels_.multilabel
    reader = asked.open(facts, labelled=not unlabelled, several=several, tell=remarks.add)
    settings = Comparison(
        str(old), str(new), method, 0.5 if min_overlap is None else min_overlap, show
    )
    require_shared_labels(before, after, settings)
    others = [DocumentClassifier.load(folder, device=device) for folder in models or ()]
    if train_data is not None:
        again = replace(asked, data=train_data)
        training = again.open(before.facts_, several=several, tell=remarks.add)
        others.append(_train_again(before, training, device, quiet=quiet))
    if others:
        documents = counted(reader, "learning the usual overlap", quiet=quiet)
        learnt = learn_usual(before, others, documents, settings)
        kept = learnt.least_overlap if min_overlap is None else min_overlap
        settings = replace(learnt, least_overlap=kept)
    found = compare(before, after, counted(first(reader, limit), "compared", quiet=quiet), settings)
    if found and not others:
        remarks.add("--train-data TRAIN.csv learns first how much another seed alone would change")
    remarks.say()
    delivery.give(replace(found, data=Path(data).name), page=render, lines=summary)
    if not found.within_usual:
        raise typer.Exit(CHANGED)


def _train_again(
    old: DocumentClassifier, documents: Iterable[Document], device: str, *, quiet: bool
) -> DocumentClassifier:
    """Train a model as the old one was, with another seed."""
    from sklearn.base import clone

    from ..estimators.fitting import FitOptions

    say("training the old model again with another seed, to learn what that changes", quiet=quiet)
    documents = counted(documents, "read", quiet=quiet)
    again = clone(old)
    training = replace(old.training, seed=old.training.seed + 1)
    again.set_params(training=training, device=device, progress=False)
    return again.fit_documents(documents, options=FitOptions(choose_method=False))
