"""``regard look``: what a model's attention does over a whole corpus."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from .documents import Limit, Unlabelled, label_of, opened
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
    require_suffix,
)
from .progress import counted, say
from .reports import REPORTS, write_report

__all__ = ["look"]


def look(
    model: ModelFolder,
    data: Data,
    word: Annotated[
        list[str] | None,
        typer.Option(help="A word to see in context; may be given again and again."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the findings as .html or .json.")] = None,
    json: Json = False,
    limit: Limit = None,
    text_column: TextColumn = "text",
    label_column: LabelColumn = "label",
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
    from ..data.columns import Columns
    from ..estimators.classifier import DocumentClassifier
    from ..estimators.looking import look as look_through
    from ..views.look import render
    from ..views.look_lines import summary

    if out is not None:
        require_suffix(out, REPORTS)
    columns = Columns(
        text=text_column,
        label=label_of(label_column, unlabelled),
        labels_separator=labels_separator,
        encoding=encoding,
    )
    documents = opened(data, columns, limit=limit, on_bad_row=on_bad_row)
    found = look_through(
        DocumentClassifier.load(model, device=device),
        documents,
        words=word or (),
        title=f"{model.name} on {Path(data).name}",
        watch=partial(counted, quiet=quiet),
    )
    if out is not None:
        write_report(found, out, render)
        say(f"written to {out}", quiet=quiet)
    if json:
        typer.echo(found.to_json())
    elif not quiet:
        typer.echo("\n".join(summary(found)))
