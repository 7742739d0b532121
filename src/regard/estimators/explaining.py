"""Texts to explanations through a fitted classifier, in bounded batches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch

from ..config import require_one_of
from ..data.readers import read_texts
from ..explain.answers import Answers, holding, likeliest
from ..explain.methods import METHODS
from ..records.explanation import Explanation
from ..tasks.classify import probabilities
from .reading import Read, chunks

if TYPE_CHECKING:
    from .classifier import DocumentClassifier

__all__ = ["DEFAULT_METHOD", "explain"]

DEFAULT_METHOD = "attention"


def explain(
    classifier: DocumentClassifier, texts: Iterable[str], *, method: str = "default"
) -> list[Explanation]:
    """Explain what the classifier says of each text, in the order of the texts."""
    name = DEFAULT_METHOD if method == "default" else method
    require_one_of("method", name, METHODS)
    classifier.model_.eval()
    found: list[Explanation] = []
    for chunk in chunks(read_texts(texts)):
        placed: dict[int, Explanation] = {}
        for read in classifier.reader_.batches([document.text for document in chunk]):
            explained = METHODS[name](_answers(classifier, read))
            placed |= zip(read.places, explained, strict=True)
        found += [placed[place] for place in range(len(chunk))]
    return found


def _answers(classifier: DocumentClassifier, read: Read) -> Answers:
    with torch.no_grad():
        output = classifier.model_(read.batch)
    multilabel = classifier.labels_.multilabel
    likely = probabilities(output.logits, multilabel, temperature=classifier.temperature_).cpu()
    return Answers(
        model=classifier.model_,
        batch=read.batch,
        output=output,
        probabilities=likely,
        classes=classifier.labels_.classes,
        chosen=holding(likely) if multilabel else likeliest(likely),
        complete=read.complete,
    )
