"""``regard diff``: which documents a new model answers otherwise, or for other reasons."""

from __future__ import annotations

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
    OnBadRow,
    Quiet,
    TextColumn,
)
from .output import Delivery, Remarks, counted
from .tasks import find_task

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
        float,
        typer.Option(min=0, max=1, help="Reasons changed where less than this share is the same."),
    ] = 0.5,
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

    Lists those whose label or whose reasons changed; the exit code is 3 if there are any.
    """
    from ..estimators.classifier import DocumentClassifier
    from ..look.difference import Comparison, compare
    from ..views.difference import render, summary

    delivery = Delivery(out, json, quiet, (data,))
    for model in (old, new):
        find_task(model, context)
    existing(data)
    before = DocumentClassifier.load(old, device=device)
    after = DocumentClassifier.load(new, device=device)
    remarks = Remarks(quiet=quiet)
    asked = DocumentsToRead(data, text_column, label_column, labels_separator, encoding, on_bad_row)
    facts = {**after.facts_, **before.facts_}
    reader = asked.open(facts, labelled=not unlabelled, tell=remarks.add)
    found = compare(
        before,
        after,
        counted(first(reader, limit), "compared", quiet=quiet),
        Comparison(str(old), str(new), method, min_overlap, show),
    )
    remarks.say()
    delivery.give(found, page=render, lines=summary)
    if found:
        raise typer.Exit(CHANGED)
