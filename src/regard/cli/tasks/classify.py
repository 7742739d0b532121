"""Classifiers from the shell: evaluated, explained, asked for labels and described."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ...data.formats.lines import STANDARD_INPUT
from ...data.shards import Shard
from ...estimators.named import CLASSIFIER_PARTS
from ..inputs import DocumentsToRead, existing
from ..output import Delivery, Drawn, Remarks, counted, say
from .classifier_training import train
from .task import (
    Answering,
    DocumentsToLabel,
    ModelToEvaluate,
    Task,
    TextsToShow,
    describe_saved,
)

if TYPE_CHECKING:
    from ...data.columns import Columns
    from ...data.formats.lines import Dialect
    from ...data.readers import Reader
    from ...data.writers import Cells
    from ...estimators.saved import Saved
    from ...explain.fitted import Fitted
    from ...records.explanation import Explanation
    from ...records.heads import AttentionHeads
    from ...scale.labelling import Labelling
    from ...text.document import Document
    from ...views.drawing.terminal import Terminal

__all__ = ["CLASSIFY"]

TOGETHER = 16  # texts that are explained at once; how many are done is shown between them
PART = 4096  # answers that are written, and noted as written, at once


def _evaluate(asked: ModelToEvaluate) -> None:
    """Score a classifier beside simple baselines, and show its worst mistakes."""
    from ...estimators.classifier import DocumentClassifier
    from ...views.evaluation.page import render
    from ...views.evaluation.terminal import summary

    delivery = Delivery(asked.out, asked.json, asked.quiet, (asked.data,), "report")
    existing(asked.data)
    classifier = DocumentClassifier.load(asked.model, device=asked.device)
    remarks = Remarks(quiet=asked.quiet)
    columns = (asked.text_column, asked.label_column, asked.labels_separator)
    given = DocumentsToRead(asked.data, *columns, asked.encoding, asked.on_bad_row)
    several = classifier.labels_.multilabel
    reader = given.open(classifier.facts_, several=several, tell=remarks.add)
    documents = counted(reader, "evaluated", quiet=asked.quiet)
    title = f"{asked.model.resolve().name} on {Path(asked.data).name}"
    found = classifier.evaluate(documents, title=title)
    found = replace(found, data=replace(found.data, rows=reader.counts))
    remarks.say()
    delivery.give(found, page=render, lines=summary)


def _explain(asked: TextsToShow) -> None:
    """Show which sentences and words decided."""
    from ...estimators.saved import Saved
    from ...explain.fitted import Question
    from ...models.reader import chunks

    saved = Saved.read(asked.model)
    fitted = saved.fitted(asked.device)
    documents = asked.texts.documents(saved.facts, quiet=asked.quiet)
    if asked.heads is not None:
        _show_heads(asked, fitted, (document.text for document in documents), asked.heads)
        return
    question = Question(asked.method, asked.label, asked.against, asked.receipt)
    found = [
        _with_truth(explanation, document, saved)
        for some in chunks(counted(documents, "explained", quiet=asked.quiet), TOGETHER)
        for document, explanation in zip(
            some, fitted.explain([document.text for document in some], question), strict=True
        )
    ]
    title = asked.model.resolve().name
    if asked.texts.data is not None:
        title = f"{title} on {Path(asked.texts.data).name}"
    drawn = Drawn(
        found,
        partial(_page, title=f"What decided: {title}"),
        partial(_lines, whole=asked.whole),
        one="explanation",
        fewer="--limit 1",
    )
    drawn.give(asked.out, json=asked.json, quiet=asked.quiet)


def _with_truth(explanation: Explanation, document: Document, saved: Saved) -> Explanation:
    """Add the label that stands beside a text, where there is one that the model knows."""
    given = document.fields.get(str(saved.facts.get("label_column") or "label"))
    if given is None or not str(given).strip():
        return explanation
    separator = saved.facts.get("labels_separator")
    names = str(given).split(str(separator)) if separator else [str(given)]
    truth = [saved.labels.number(name.strip()) for name in names if name.strip()]
    if None in truth:
        return explanation
    known = tuple(saved.labels.classes[number] for number in truth if number is not None)
    return replace(explanation, true_labels=known)


def _show_heads(asked: TextsToShow, fitted: Fitted, texts: Iterable[str], heads: str) -> None:
    """Show where words looked inside the network, instead of what decided."""
    from ...explain.heads import look_inside
    from ...views.heads import render, render_terminal

    found = [
        look_inside(fitted, text, heads=heads, receipt=asked.receipt)
        for text in counted(texts, "looked into", quiet=asked.quiet)
    ]

    def lines(drawn: Sequence[AttentionHeads], terminal: Terminal) -> list[str]:
        return [render_terminal(one, terminal) for one in drawn]

    drawn = Drawn(found, render, lines, one="text", fewer="--limit 1")
    drawn.give(asked.out, json=asked.json, quiet=asked.quiet)


def _page(explanations: Sequence[Explanation], *, title: str) -> str:
    from ...views.explanation.page import render

    return render(explanations, title=title)


def _lines(explanations: Sequence[Explanation], terminal: Terminal, *, whole: bool) -> list[str]:
    from ...views.explanation.terminal import render

    return [render(explanation, terminal, whole=whole) for explanation in explanations]


def _predict(asked: DocumentsToLabel) -> None:
    """Label documents as they come, and write the labels beside what the documents came with."""
    from ...data.writers import is_done, write_rows
    from ...estimators.saved import Saved
    from ...scale.labelling import Labelling

    existing(asked.data)
    shard = None if asked.shard is None else Shard.parse(asked.shard)
    if shard is not None:
        # Whoever starts the same share again goes on with it, or has nothing to do.
        asked = replace(asked, out=shard.name(asked.out), resume=True)
    saved = Saved.read(asked.model)
    remarks = Remarks(quiet=asked.quiet)
    columns = (asked.text_column, None, None)
    given = DocumentsToRead(asked.data, *columns, asked.encoding, asked.on_bad_row)
    reader = given.open(saved.facts, labelled=False, tell=remarks.add)
    if shard is not None and is_done(asked.out, _same_job(asked, reader.columns)):
        say(f"{asked.out} is there already", quiet=asked.quiet)
        return
    job = _Answering(
        saved.fitted(asked.device),
        Labelling(asked.abstain_below, asked.explain, asked.receipt),
        waits=asked.data == STANDARD_INPUT,
        shard=shard,
    )
    if asked.out == STANDARD_INPUT:
        count = write_rows(
            counted(job.rows(reader), "predicted", quiet=asked.quiet, source=reader), asked.out
        )
    else:
        count = _write_answers(job, reader, asked)
    remarks.say()
    if not asked.quiet:
        for line in reader.counts.describe():
            say(line)
        to = "" if asked.out == STANDARD_INPUT else f" to {asked.out}"
        say(f"{count:,} predictions written{to}")
        if job.withheld:
            say(
                f"{job.withheld:,} of {job.answered:,} are given no label: "
                f"their probability is below {asked.abstain_below:g}"
            )


def _write_answers(job: _Answering, documents: Reader, asked: DocumentsToLabel) -> int:
    """Read, predict and write at the same time; return how many rows the file has."""
    from ...data.threads import Behind
    from ...data.writers import RowWriter
    from ...models.reader import chunks

    def dialect() -> Dialect:
        return replace(documents.dialect, protects=asked.protect_formulas)

    job_id = _same_job(asked, documents.columns)
    with RowWriter(
        asked.out,
        task=job_id,
        resume=asked.resume,
        dialect=dialect,
        remember=job.shard is not None,
    ) as writer:
        if writer.rows:
            say(f"{writer.rows:,} rows are there already; continuing", quiet=asked.quiet)
        left = job.rows(documents, skip=writer.rows)
        rows = counted(left, "predicted", quiet=asked.quiet, source=documents)
        with Behind(writer.write) as behind:
            for part in chunks(rows, PART):
                behind.put(part)
        if not writer.rows and (like := job.like(documents)) is not None:
            writer.write_none(like)
    return writer.rows


def _same_job(asked: DocumentsToLabel, columns: Columns) -> dict[str, str]:
    """What must be the same for a run to be gone on with."""
    from ...data.fingerprints import file_digest, state_of_data

    options = {
        "columns.text": columns.text,
        "columns.encoding": columns.encoding,
        "abstain_below": asked.abstain_below,
        "explain": asked.explain,
        "receipt": asked.receipt,
        "protect_formulas": asked.protect_formulas,
        "shard": asked.shard,
    }
    weights, config = asked.model / "weights.safetensors", asked.model / "config.json"
    job = {"model": file_digest(weights, config)}
    if asked.data != STANDARD_INPUT:
        job["data"] = state_of_data(Path(asked.data))
    return job | {"options": " ".join(f"{name}={value!r}" for name, value in options.items())}


@dataclass
class _Answering:
    """What is said of each document, and how many were given no label."""

    fitted: Fitted
    labelling: Labelling
    waits: bool  # whether the next document may be long in coming
    shard: Shard | None = None  # which of the documents; None: all
    answered: int = 0
    withheld: int = 0

    def rows(self, documents: Reader, skip: int = 0) -> Iterator[Cells]:
        """One row a document: what it came with, then what the model says."""
        from ...data.columns import to_row
        from ...data.threads import ahead
        from ...models.reader import text_chunks
        from ...scale.labelling import require_new

        mine = documents if self.shard is None else self.shard.of(documents)
        left = islice(mine, skip, None)
        read = text_chunks(left, lambda document: len(document.text))
        # A thread that waits for standard input would keep Ctrl-C waiting too.
        for chunk in read if self.waits else ahead(read):
            answers = self.labelling.rows(self.fitted, [document.text for document in chunk])
            for document, answer in zip(chunk, answers, strict=True):
                given = to_row(document, documents.columns)
                require_new(answer, given)
                self.answered += 1
                self.withheld += answer["predicted"] is None
                yield {**given, **answer}

    def like(self, documents: Reader) -> Cells | None:
        """What a row would be where there are none: of another share, or of the names alone."""
        from ...data.columns import to_row

        first, names = documents.first, documents.dialect.names
        if first is None and not names:
            return None
        given = dict.fromkeys(names) if first is None else to_row(first, documents.columns)
        # Where no label is given it has no type.
        labelling = replace(self.labelling, abstain_below=0.0)
        (answer,) = labelling.rows(self.fitted, ["" if first is None else first.text])
        return {**given, **answer}


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


def _load(folder: Path, device: str) -> Answering:
    from ...estimators.classifier import DocumentClassifier

    return DocumentClassifier.load(folder, device=device).predict_proba


def _choices() -> dict[str, Iterable[str]]:
    from ...models import MODELS
    from ...nn.attention import SCORES
    from ...nn.pooling import POOLINGS

    return {
        "--model": MODELS,
        "--set": CLASSIFIER_PARTS,
        "network.score": SCORES,
        "network.pooling": POOLINGS,
    }


CLASSIFY = Task(
    noun="classifier",
    options={
        "train": (
            "text_column",
            "label_column",
            "labels_separator",
            "test",
            "group_column",
            "time_column",
            "vectors",
            "marks",
            "evidence_column",
            "wide",
            "unlabelled",
            "recipe",
            "seeds",
        ),
        "evaluate": ("text_column", "label_column", "labels_separator"),
        "explain": ("method", "label", "against", "heads"),
        "audit": (
            "evidence_column",
            "models",
            "uniform",
            "train_data",
            "method",
            "label_column",
            "labels_separator",
        ),
    },
    instead={"translate": "use regard predict to label texts"},
    train=train,
    evaluate=_evaluate,
    explain=_explain,
    predict=_predict,
    describe=_describe,
    load=_load,
    choices=_choices,
)
