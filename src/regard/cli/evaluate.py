"""``regard evaluate``: how good a model is on documents it has not seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..errors import ConfigError
from .evaluate_translator import SCORES, PairsToScore, evaluate_translator
from .inputs import document_columns, existing, open_documents
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
from .output import Delivery, Remarks
from .progress import counted

__all__ = ["evaluate"]


def evaluate(
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
    """Say how good a model is on new documents, or on new pairs.

    Beside a classifier stand simple baselines, and its worst mistakes are shown; a translator is
    scored by BLEU and chrF.
    """
    from ..estimators.classifier import DocumentClassifier
    from ..estimators.folder import task_of
    from ..views.evaluation.page import render
    from ..views.evaluation.terminal import summary

    if task_of(model) == "translate":
        delivery = Delivery(out, json, quiet, (data, links), "scores", SCORES)
        job = PairsToScore(data, source_column, target_column, encoding, on_bad_row, links)
        evaluate_translator(model, job, delivery, device=device)
        return
    delivery = Delivery(out, json, quiet, (data,), "report")
    if links is not None:
        raise ConfigError(f"--links is for translators; {model} holds a classifier")
    existing(data)
    classifier = DocumentClassifier.load(model, device=device)
    remarks = Remarks(quiet=quiet)
    columns = document_columns(
        classifier.facts_,
        text=text_column,
        label=label_column,
        labels_separator=labels_separator,
        encoding=encoding,
        tell=remarks.add,
    )
    reader = open_documents(data, columns, on_bad_row, tell=remarks.add)
    documents = counted(reader, "evaluated", quiet=quiet)
    found = classifier.evaluate(documents, title=Path(data).name)
    found = replace(found, data=replace(found.data, rows=reader.counts))
    remarks.say()
    delivery.give(found, page=render, lines=summary)
