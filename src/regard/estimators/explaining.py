"""Texts to explanations through a fitted classifier, in bounded batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from ..config import require_one_of
from ..data.batch import Batch
from ..data.readers import read_strings
from ..errors import ConfigError, suggestion
from ..explain.answers import Answers, holding, likeliest
from ..explain.methods import DEFAULT_METHOD, METHODS
from ..explain.receipts import with_receipts
from ..records.explanation import ClassName, Explanation
from ..tasks.classify import probabilities
from .reader import chunks

if TYPE_CHECKING:
    from .classifier import DocumentClassifier

__all__ = ["Question", "answers_about", "answers_to", "explain"]


@dataclass(frozen=True, slots=True)
class Question:
    """What to explain about each text, and how."""

    method: str = "default"
    label: ClassName | None = None  # None: whatever the answer is
    against: ClassName | None = None  # for a contrast; None: the likeliest other label
    receipt: bool = False  # whether to measure how faithful the explanation is


def explain(
    classifier: DocumentClassifier, texts: Iterable[str], question: Question
) -> list[Explanation]:
    """Explain what the classifier says of each text, in the order of the texts."""
    name = question.method
    if name == "default":
        name = str(classifier.facts_.get("explain_method") or DEFAULT_METHOD)
    require_one_of("method", name, METHODS)
    found: list[Explanation] = []
    for some in chunks(read_strings(texts)):
        placed: dict[int, Explanation] = {}
        for places, answers in answers_about(classifier, some, question):
            explained = METHODS[name].explain(answers)
            if question.receipt:
                explained = with_receipts(answers, explained)
            placed |= zip(places, explained, strict=True)
        found += [placed[place] for place in range(len(some))]
    return found


def answers_about(
    classifier: DocumentClassifier, texts: Sequence[str], question: Question | None = None
) -> Iterator[tuple[tuple[int, ...], Answers]]:
    """Let the classifier answer texts in batches; with each batch come the places of its texts."""
    asked = question or Question()
    label, against = (_number(classifier, name) for name in (asked.label, asked.against))
    for read in classifier.reader_.batches(texts):
        answers = answers_to(classifier, read.batch)
        chosen = answers.chosen if label is None else ((label,),) * len(read.places)
        yield (
            read.places,
            replace(answers, complete=read.complete, chosen=chosen, against=against),
        )


def answers_to(classifier: DocumentClassifier, batch: Batch) -> Answers:
    """Let the classifier answer one batch; what it answers is what will be explained."""
    if classifier.model_.training:
        classifier.model_.eval()
    with torch.no_grad():
        output = classifier.model_(batch)
    multilabel, temperature = classifier.labels_.multilabel, classifier.temperature_
    likely = probabilities(output.logits.double(), multilabel, temperature=temperature).cpu()
    return Answers(
        model=classifier.model_,
        batch=batch,
        output=output,
        probabilities=likely,
        classes=classifier.labels_.classes,
        chosen=holding(likely) if multilabel else likeliest(likely),
        multilabel=multilabel,
        temperature=temperature,
    )


def _number(classifier: DocumentClassifier, label: ClassName | None) -> int | None:
    """The number of a class; on the command line whole numbers are texts too."""
    names = [str(name) for name in classifier.labels_.classes]
    if label is None or str(label) in names:
        return None if label is None else names.index(str(label))
    raise ConfigError(f"the model knows no label {label!r}; {suggestion(str(label), names)}")
