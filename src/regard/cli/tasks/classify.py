"""Classifiers from the shell: how good they are, what decided, what they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..inputs import document_columns, existing, open_documents
from ..output import Delivery, Drawn, Remarks
from ..progress import counted
from .task import ModelToEvaluate, Task, TextsToShow, describe_saved

if TYPE_CHECKING:
    from ...records.explanation import Explanation
    from ...views.drawing.terminal import Terminal

__all__ = ["CLASSIFY"]


def _evaluate(asked: ModelToEvaluate) -> None:
    """Score a classifier beside simple baselines, and show its worst mistakes."""
    from ...estimators.classifier import DocumentClassifier
    from ...views.evaluation.page import render
    from ...views.evaluation.terminal import summary

    delivery = Delivery(asked.out, asked.json, asked.quiet, (asked.data,), "report")
    existing(asked.data)
    classifier = DocumentClassifier.load(asked.model, device=asked.device)
    remarks = Remarks(quiet=asked.quiet)
    columns = document_columns(
        classifier.facts_,
        text=asked.text_column,
        label=asked.label_column,
        labels_separator=asked.labels_separator,
        encoding=asked.encoding,
        tell=remarks.add,
    )
    reader = open_documents(asked.data, columns, asked.on_bad_row, tell=remarks.add)
    documents = counted(reader, "evaluated", quiet=asked.quiet)
    found = classifier.evaluate(documents, title=Path(asked.data).name)
    found = replace(found, data=replace(found.data, rows=reader.counts))
    remarks.say()
    delivery.give(found, page=render, lines=summary)


def _explain(asked: TextsToShow) -> None:
    """Show which sentences and words decided."""
    from ...estimators.classifier import DocumentClassifier

    classifier = DocumentClassifier.load(asked.model, device=asked.device)
    texts = asked.texts.read(classifier.facts_, quiet=asked.quiet)
    # One text is measured at once; a file of them takes its time, and is asked to.
    receipt = asked.texts.text is not None if asked.receipt is None else asked.receipt
    found = classifier.explain(
        texts, method=asked.method, label=asked.label, against=asked.against, receipt=receipt
    )
    Drawn(found, _page, _lines, one="explanation", fewer="--limit 1").give(
        asked.out, quiet=asked.quiet
    )


def _page(explanations: Sequence[Explanation]) -> str:
    from ...views.explanation.page import render

    return render(explanations, title="What decided")


def _lines(explanations: Sequence[Explanation], terminal: Terminal) -> list[str]:
    from ...views.explanation.terminal import render

    return [render(explanation, terminal) for explanation in explanations]


def _describe(folder: Path) -> dict[str, object]:
    from ...estimators.saved import Saved

    saved = Saved.read(folder)
    facts = {
        "model": saved.settings.network.name,
        "classes": list(saved.labels.classes),
        "several_labels": saved.labels.multilabel,
        **saved.facts,
        "temperature": saved.temperature,
    }
    return describe_saved(folder, facts, saved.settings.to_dict())


CLASSIFY = Task(
    noun="classifier",
    options={
        "evaluate": ("text_column", "label_column", "labels_separator"),
        "explain": ("method", "label", "against", "receipt"),
    },
    instead={"translate": "use regard predict to label texts"},
    evaluate=_evaluate,
    explain=_explain,
    describe=_describe,
)
