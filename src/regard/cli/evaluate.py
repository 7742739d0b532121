"""``regard evaluate``: how good a model is on documents it has not seen."""

from __future__ import annotations

from typing import Annotated

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
    ReportFile,
    SourceColumn,
    TargetColumn,
    TextColumn,
)
from .tasks import find_task
from .tasks.task import ModelToEvaluate

__all__ = ["evaluate"]


def evaluate(
    context: typer.Context,
    model: ModelFolder,
    data: Data,
    out: ReportFile = None,
    json: Json = False,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    labels_separator: LabelsSeparator = None,
    encoding: Encoding = None,
    on_bad_row: OnBadRow = "stop",
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    links: Annotated[
        str | None,
        typer.Option(help="For a translator: lines such as '0-0 1?2', words that belong together."),
    ] = None,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Say how good a model is on new documents, pairs or pictures.

    Beside a classifier stand simple baselines, and its worst mistakes are shown; a translator is
    scored by BLEU and chrF, a captioner by BLEU, with its worst captions.
    """
    find_task(model, context).evaluate(
        ModelToEvaluate(
            model=model,
            data=data,
            out=out,
            json=json,
            text_column=text_column,
            label_column=label_column,
            labels_separator=labels_separator,
            source_column=source_column,
            target_column=target_column,
            links=links,
            encoding=encoding,
            on_bad_row=on_bad_row,
            device=device,
            quiet=quiet,
        )
    )
