"""The four usages of BERT from the shell: tuned, evaluated, predicted with and described."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...config import with_text_values
from ...data.formats.lines import STANDARD_INPUT
from ...errors import ConfigError, DataError
from ...estimators.named import split_changes
from ..inputs import existing, open_documents
from ..output import Delivery, counted, say
from ..training import TrainingJob, open_validation
from .task import (
    Answering,
    DocumentsToLabel,
    ModelToEvaluate,
    Task,
    TrainingToDo,
    cannot,
    describe_saved,
)

if TYPE_CHECKING:
    from ...data.columns import Columns
    from ...data.readers import Reader
    from ...data.spans import Marked
    from ...data.tuning import Example
    from ...data.writers import Cell, Cells
    from ...estimators.fitting import FitOptions
    from ...estimators.tuning import BertUsage
    from ...text.document import Document

__all__ = ["BERT_TASKS"]

PARTS = ("tuning", "training")
CHUNK = 256  # rows that are answered together

_HAN = "a HAN over BERT explains its answers: regard train --model bert-han"


@dataclass(frozen=True)
class _Columns:
    """Where the parts of an example stand: as the options say, else as in the training."""

    text: str
    other: str | None  # the second text of a pair, or the question
    label: str | None
    spans: str | None
    encoding: str | None = None

    @classmethod
    def of(
        cls,
        task: str,
        given: Mapping[str, str | None],
        facts: Mapping[str, object],
    ) -> _Columns:
        """Fill in what was not given: as in the training, or as usual."""

        def column(option: str, usual: str | None) -> str | None:
            known = facts.get(option)
            return given.get(option) or (known if isinstance(known, str) else usual)

        pair = task == "bert-pair"
        question = column("source_column", None)
        return cls(
            text=column("source_column" if pair else "text_column", "first" if pair else "text")
            or "text",
            other=column("target_column", "second") if pair else question,
            label=column("label_column", "label") if task in ("bert-text", "bert-pair") else None,
            spans=column("target_column", "spans") if task in ("bert-span", "bert-tag") else None,
            encoding=given.get("encoding"),
        )

    def open(self, *, answered: bool) -> Columns:
        """The columns as a reader takes them; the others travel along."""
        from ...data.columns import Columns

        return Columns(
            text=self.text,
            label=self.label if answered else None,
            encoding=self.encoding,
            commas_part=self.spans is None,  # spans are offsets into one column
        )

    def facts(self, task: str) -> dict[str, str]:
        """What a model remembers of them."""
        names = {"text_column": self.text, "source_column": self.other}
        names |= {"label_column": self.label, "target_column": self.spans}
        if task == "bert-pair":
            names |= {"source_column": self.text, "target_column": self.other}
            del names["text_column"]
        return {name: value for name, value in names.items() if value is not None}

    def example(self, document: Document, number: int, *, answered: bool) -> Example:
        """Make an example of a row."""
        from ...data.spans import read_marked
        from ...data.tuning import Example

        other = None if self.other is None else _cell(document, self.other, number)
        if other is not None and not isinstance(other, str):
            raise DataError(f"row {number:,}: column {self.other!r} holds no text")
        label: str | int | None = None
        marked: tuple[Marked, ...] = ()
        if answered and isinstance(document.label, str | int):
            label = document.label
        if answered and self.spans is not None:
            cell = _cell(document, self.spans, number)
            where = f"row {number:,}: column {self.spans!r}"
            marked = read_marked(cell, document.text, where=where)
        return Example(document.text, other, label, marked)


def _cell(document: Document, column: str, number: int) -> object:
    if column not in document.fields:
        known = ", ".join(document.fields) or "no others"
        raise DataError(f"row {number:,} has no column {column!r}; there are {known}")
    return document.fields[column]


def _examples(
    documents: Iterable[Document], columns: _Columns, *, answered: bool = True
) -> Iterator[Example]:
    for number, document in enumerate(documents, 1):
        yield columns.example(document, number, answered=answered)


@dataclass
class TuningJob(TrainingJob):
    """One tuning of a BERT."""

    estimator: BertUsage
    columns: _Columns

    def fit(self, options: FitOptions) -> None:
        """Tune on what is read."""
        from ...training.observers import counted as watched

        examples = _examples(watched(self.reader, "reading", options.observers), self.columns)
        judged = None if self.held_out is None else _examples(self.held_out, self.columns)
        self.estimator.fit_examples(examples, judged, options=options)
        told = self.columns.facts(self.estimator.task)
        self.estimator.facts_ = {**self.estimator.facts_, **told}

    def describe(self) -> Sequence[str]:
        """Say how good it is, and what can be done next."""
        facts, out = self.estimator.facts_, self.asked.out
        names = ("accuracy", "macro_f1", "exact_match", "token_f1", "segment_f1", "token_accuracy")
        told = [
            f"{name.replace('_', ' ')} {facts[f'validation_{name}']:.4f}"
            for name in names
            if facts.get(f"validation_{name}") is not None
        ]
        lines = ["nothing was held out, so how good it is was not measured"]
        if facts["validation_examples"]:
            lines = [
                f"best epoch {facts['best_epoch']}: {', '.join(told)} on "
                f"{facts['validation_examples']:,} held-out examples; these chose the epoch, so "
                "measure on others"
            ]
        return [
            *lines,
            f"saved to {out}",
            f"  regard evaluate {out} TEST.jsonl",
            f"  regard predict {out} NEW.jsonl --out answers.jsonl",
        ]


def _given(asked: TrainingToDo | ModelToEvaluate) -> dict[str, str | None]:
    """What the options say of the columns."""
    return {
        "text_column": asked.text_column,
        "label_column": asked.label_column,
        "source_column": asked.source_column,
        "target_column": asked.target_column,
        "encoding": asked.encoding,
    }


def _train(task: str, asked: TrainingToDo) -> None:
    from ...estimators.bert_usages import USAGES

    if asked.bert is None:
        raise ConfigError(f"--task {task} tunes a BERT; name its folder with --bert")
    if asked.network is not None:
        raise ConfigError(f"--task {task} has the network of --bert; leave --model out")
    columns = _Columns.of(task, _given(asked), {})
    opened = columns.open(answered=True)
    reader = open_documents(asked.data, opened, asked.on_bad_row)
    fraction, judged = open_validation(asked.validation, opened, asked.on_bad_row)
    by_part = split_changes(asked.changes, PARTS)
    usual = USAGES[task]()
    estimator = USAGES[task](
        asked.bert,
        tuning=with_text_values(usual.tuning, by_part["tuning"]),
        training=with_text_values(usual.training, by_part["training"]),
        device=asked.device,
    )
    TuningJob(estimator, reader, judged, asked, columns).go(fraction)


def _evaluate(task: str, asked: ModelToEvaluate) -> None:
    from ...estimators.bert_usages import USAGES
    from ...records.tuning import TuningScores

    delivery = Delivery(asked.out, asked.json, asked.quiet, (asked.data,), "scores", (".json",))
    existing(asked.data)
    estimator = USAGES[task].load(asked.model, device=asked.device)
    columns = _Columns.of(task, _given(asked), estimator.facts_)
    reader = open_documents(asked.data, columns.open(answered=True), asked.on_bad_row)
    documents = counted(reader, "read", quiet=asked.quiet, source=reader)
    found = estimator.evaluate_examples(
        _examples(documents, columns),
        title=f"{asked.model.resolve().name} on {Path(asked.data).name}",
    )
    for line in reader.counts.describe() if reader.counts.skipped else ():
        say(line, quiet=asked.quiet)
    delivery.give(found, lines=TuningScores.describe)


def _predict(task: str, asked: DocumentsToLabel) -> None:
    from ...data.writers import write_rows
    from ...estimators.bert_usages import USAGES

    for option, given in (
        ("--explain", asked.explain),
        ("--resume", asked.resume),
        ("--protect-formulas", asked.protect_formulas),
    ):
        if given:
            raise ConfigError(f"{option} is for classifiers; {asked.model} holds a tuned BERT")
    existing(asked.data)
    estimator = USAGES[task].load(asked.model, device=asked.device)
    options = {
        "text_column": asked.text_column,
        "source_column": asked.source_column,
        "target_column": asked.target_column,
        "encoding": asked.encoding,
    }
    if task == "bert-pair":
        options["source_column"] = asked.source_column or asked.text_column
    columns = _Columns.of(task, options, estimator.facts_)
    reader = open_documents(asked.data, columns.open(answered=False), asked.on_bad_row)
    rows = _answered(estimator, reader, columns, asked.abstain_below)
    count = write_rows(counted(rows, "predicted", quiet=asked.quiet, source=reader), asked.out)
    to = "" if asked.out == STANDARD_INPUT else f" to {asked.out}"
    say(f"{count:,} predictions written{to}", quiet=asked.quiet)


def _answered(
    estimator: BertUsage, reader: Reader, columns: _Columns, abstain_below: float
) -> Iterator[Cells]:
    """One row a document: what it came with, then what the model says."""
    from ...data.columns import to_row
    from ...models.reader import chunks
    from ...scale.labelling import require_new

    number = 0
    for chunk in chunks(reader, CHUNK):
        examples = [
            columns.example(document, number + place, answered=False)
            for place, document in enumerate(chunk, 1)
        ]
        number += len(chunk)
        answers = _answers(estimator, examples, abstain_below)
        for document, answer in zip(chunk, answers, strict=True):
            given = to_row(document, reader.columns)
            require_new(answer, given)
            yield {**given, **answer}


def _answers(
    estimator: BertUsage, examples: Sequence[Example], abstain_below: float
) -> Iterator[Cells]:
    from ...estimators.bert_usages import BertClassifying, BertSpanFinder, BertTagger

    if isinstance(estimator, BertClassifying):
        names = [str(name) for name in estimator.labels_.classes]
        for row in estimator.probabilities(examples).tolist():
            best = max(range(len(row)), key=row.__getitem__)
            sure = row[best] >= abstain_below
            yield {
                "predicted": estimator.labels_.classes[best] if sure else None,
                "probability": row[best],
                "probabilities": dict(zip(names, row, strict=True)),
            }
    elif isinstance(estimator, BertSpanFinder):
        for found in estimator.find(examples):
            yield {
                "answer": None if found is None else found.text,
                "answer_start": None if found is None else found.start,
                "answer_end": None if found is None else found.end,
                "score": None if found is None else found.score,
            }
    else:
        assert isinstance(estimator, BertTagger)
        for example, spans in zip(
            examples, estimator.predict([one.text for one in examples]), strict=True
        ):
            listed: list[Cell] = [
                {
                    "start": one.start,
                    "end": one.end,
                    "label": one.label,
                    "text": example.text[one.start : one.end],
                }
                for one in spans
            ]
            yield {"found": listed}


def _describe(task: str, folder: Path) -> dict[str, object]:
    from ...estimators.bert_usages import USAGES

    estimator = USAGES[task].load(folder, device="cpu")
    facts = {"model": "bert", "task": task, "classes": list(estimator.labels_.classes)}
    return describe_saved(folder, {**facts, **estimator.facts_}, estimator.settings_.to_dict())


def _load(task: str, folder: Path, device: str) -> Answering:
    from ...data.tuning import Example
    from ...estimators.bert_usages import USAGES

    estimator = USAGES[task].load(folder, device=device)
    other = "What was good about it?" if task in ("bert-pair", "bert-span") else None

    def answer(texts: list[str]) -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what is not read is said by _CUT
            return list(_answers(estimator, [Example(text, other) for text in texts], 0.0))

    return answer


def _choices() -> dict[str, Iterable[str]]:
    return {"--set": PARTS}


_CUT = "{text}, as far as it reads in one go"


def _task(name: str, noun: str, *columns: str, new: tuple[str, ...] = ()) -> Task:
    """A usage, the columns that its examples have, and those that new texts have beside a text."""
    instead = {"translate": "use regard predict", "look": _HAN, "diff": "use regard evaluate"}
    return Task(
        noun=noun,
        options={"train": ("bert", *columns), "evaluate": columns, "predict": new},
        instead={**instead, "explain": _HAN, "audit": _HAN},
        train=partial(_train, name),
        evaluate=partial(_evaluate, name),
        explain=cannot,
        describe=partial(_describe, name),
        load=partial(_load, name),
        timed_on="{text}" if name in ("bert-span", "bert-tag") else _CUT,
        choices=_choices,
        predict=partial(_predict, name),
    )


BERT_TASKS: dict[str, Task] = {
    "bert-text": _task("bert-text", "BERT for texts", "text_column", "label_column"),
    "bert-pair": _task(
        "bert-pair",
        "BERT for pairs",
        "source_column",
        "target_column",
        "label_column",
        new=("source_column", "target_column"),
    ),
    "bert-span": _task(
        "bert-span",
        "BERT for spans",
        "text_column",
        "source_column",
        "target_column",
        new=("source_column",),
    ),
    "bert-tag": _task("bert-tag", "BERT for tags", "text_column", "target_column"),
}
"""Every usage of BERT by the name of its task."""
