"""Which method of explanation suits a fitted classifier best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..data.batch import Batch
from ..errors import DataError
from ..explain.answers import Answers
from ..explain.comprehensiveness import comprehensiveness
from ..explain.methods import LINEAR_METHODS, METHODS, RANKING_METHODS
from ..models.base import Hierarchical, Model
from ..text.document import Tokens
from ..text.vocab import Vocab
from .explaining import answers_about, answers_to
from .preparing import Prepared

if TYPE_CHECKING:
    from .classifier import DocumentClassifier

__all__ = ["best_method", "best_method_held_out", "methods_for", "spelled"]

DOCUMENTS = 50
"""How many held-out documents the methods are tried on."""


def best_method(classifier: DocumentClassifier, texts: Sequence[str]) -> str:
    """Return the method whose heaviest words and sentences the answers miss most.

    Compared by the mean comprehensiveness over the texts, which training must not have seen.
    """
    if not texts:
        raise DataError("choosing a method of explanation needs some texts to try it on")
    return _best(answers for _, answers in answers_about(classifier, texts))


def best_method_held_out(classifier: DocumentClassifier, data: Prepared) -> str | None:
    """Return the best method on documents held out from training; None where none were."""
    if not len(data.validation):
        return None
    draw = np.random.default_rng(classifier.training.seed)
    batch = data.corpus.batch(draw.permutation(data.validation)[:DOCUMENTS])
    device = next(classifier.model_.parameters()).device
    return _best([answers_to(classifier, spelled(batch, data.vocab).to(device))])


def methods_for(model: Model) -> tuple[str, ...]:
    """The methods that rank every word of a document at a bearable cost."""
    keeps = isinstance(model, Hierarchical) and model.isolated
    return RANKING_METHODS if keeps else LINEAR_METHODS


def spelled(batch: Batch, vocab: Vocab) -> Batch:
    """Give a batch that came without its texts some: the words of its ids, a space between."""
    ids = batch.ids.values.split(batch.by_document.host_lengths)
    lengths = batch.ids.lengths.split(batch.sentences.tolist())
    texts = []
    for words, per_sentence in zip(ids, lengths, strict=True):
        written = [vocab.words[number] for number in words.tolist()]
        sizes = np.array([len(word) for word in written], dtype=np.int32)
        starts = np.cumsum(sizes + 1) - sizes - 1
        spans = np.stack([starts, starts + sizes], axis=1).astype(np.int32)
        texts.append(Tokens(" ".join(written), spans, per_sentence.numpy().astype(np.int32)))
    return replace(batch, texts=tuple(texts))


def _best(batches: Iterable[Answers]) -> str:
    losses: dict[str, list[float]] = {}
    for answers in batches:
        for name in methods_for(answers.model):
            found = comprehensiveness(answers, METHODS[name](answers))
            losses.setdefault(name, []).extend(found.tolist())
    return max(losses, key=lambda name: float(np.mean(losses[name])))
