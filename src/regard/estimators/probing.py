"""The frozen-attention probe of a fitted classifier: is its attention of use to another network?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..explain.adversarial import adversary
from ..explain.answers import Answers
from ..explain.attention import pooling_layer
from ..explain.probe import Bags, probed
from ..explain.reweighing import LastAttention, last_attention
from ..explain.tally import Measured
from ..models.importance import importance
from ..text.document import Document
from .explaining import answers_about
from .reader import chunks

if TYPE_CHECKING:
    from .classifier import DocumentClassifier

__all__ = ["DOCUMENTS", "probe_attention"]

DOCUMENTS = 400
"""How many training documents the probe is taught, at most."""
CHUNK = 16

Floats = NDArray[np.float64]
GUIDES = ("own", "even", "adversarial")


def probe_attention(
    classifier: DocumentClassifier,
    training: Sequence[Document],
    documents: Sequence[Document],
    seed: int = 0,
) -> list[dict[str, Measured]]:
    """Teach probes the training documents and ask about the others: what each of these gave.

    Nothing where documents may have several labels, or where the model does not attend to words.
    """
    if classifier.labels_.multilabel:
        return []
    taught, asked = (_known(classifier, some) for some in (training, documents))
    if not taught or not asked:
        return []
    lessons, questions = (_bags(classifier, some, seed) for some in (taught, asked))
    if lessons is None or questions is None:
        return []
    numbers = _numbers(classifier, taught)
    truth = _numbers(classifier, asked)
    vectors = classifier.model_.embedding.weight
    right = {
        guide: (probed(vectors, lessons[guide], numbers, questions[guide], seed=seed) == truth)
        for guide in GUIDES
    }
    return [
        {
            "probe_attention": Measured(float(own), float(even)),
            "probe_adversarial": Measured(float(other), float(even)),
        }
        for own, even, other in zip(*(right[guide] for guide in GUIDES), strict=True)
    ]


def _known(classifier: DocumentClassifier, documents: Sequence[Document]) -> list[Document]:
    """The documents whose label the model knows."""
    names = {str(name) for name in classifier.labels_.classes}
    return [document for document in documents if str(document.label) in names]


def _numbers(classifier: DocumentClassifier, documents: Sequence[Document]) -> NDArray[np.int64]:
    names = [str(name) for name in classifier.labels_.classes]
    return np.array([names.index(str(document.label)) for document in documents])


def _bags(
    classifier: DocumentClassifier, documents: Sequence[Document], seed: int
) -> dict[str, Bags] | None:
    """The words of each document under each guide's weights; None where nothing weighs words."""
    words: list[NDArray[np.int64]] = []
    weights: dict[str, list[Floats]] = {guide: [] for guide in GUIDES}
    for chunk in chunks(documents, CHUNK):
        rows: dict[int, tuple[NDArray[np.int64], dict[str, Floats]]] = {}
        for places, answers in answers_about(classifier, [one.text for one in chunk]):
            attention = last_attention(answers)
            if attention is None or pooling_layer(answers, "token") is None:
                return None
            rows |= zip(places, _guided(answers, attention, seed), strict=True)
        for place in range(len(chunk)):
            ids, guides = rows[place]
            words.append(ids)
            for guide in GUIDES:
                weights[guide].append(guides[guide])
    return {guide: Bags.of(words, weights[guide]) for guide in GUIDES}


def _guided(
    answers: Answers, last: Sequence[LastAttention], seed: int
) -> Iterator[tuple[NDArray[np.int64], dict[str, Floats]]]:
    """The ids of each document of a batch, and the weights that each guide gives them."""
    counts = answers.batch.by_document.host_lengths
    ids = answers.batch.ids.values.cpu().split(counts)
    own = importance(answers.output, answers.batch).values.detach().cpu().split(counts)
    for words, weights, attention in zip(ids, own, last, strict=True):
        mine = weights.double().numpy()
        other = adversary(attention, seed).cpu().numpy()
        units = attention.weights.double().cpu().numpy()
        if attention.unit == "sentence":
            homes = attention.homes
            ratio = np.divide(other, units, out=np.zeros_like(other), where=units > 0)[homes]
            other = mine * ratio
        even = np.full(len(mine), 1 / max(len(mine), 1))
        yield words.numpy(), {"own": mine, "even": even, "adversarial": other}
