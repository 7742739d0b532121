"""A probe that borrows attention: does it tell a plain network where to look?

After Wiegreffe and Pinter (2019): a small network sees words without their order, added up by
weights that it is given and cannot change. If the model's attention says something about the
texts, the probe learns more under it than under even weights, or under an adversary's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from ..explain.answers import Answers
from ..explain.attention import pooling_layer
from ..explain.fitted import Fitted
from ..models.importance import importance
from ..models.reader import chunks
from ..text.document import Document
from .attention import LastAttention, find_adversary, last_attention
from .tally import Measured

__all__ = ["DOCUMENTS", "Bags", "ask_probe", "probe_attention"]

HIDDEN = 32
STEPS = 150
RATE = 0.02
DECAY = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Bags:
    """Documents as words with weights, all documents one after the other."""

    words: NDArray[np.int64]  # (items,)
    homes: NDArray[np.int64]  # the document of each, (items,)
    weights: NDArray[np.float64]  # (items,)
    count: int

    @classmethod
    def of(cls, words: list[NDArray[np.int64]], weights: list[NDArray[np.float64]]) -> Bags:
        """Put documents together, each given by its words and their weights."""
        homes = np.repeat(np.arange(len(words)), [len(row) for row in words])
        if not words:
            return cls(homes, homes, np.zeros(0), 0)
        return cls(np.concatenate(words), homes, np.concatenate(weights), len(words))

    def table(self, size: int) -> Tensor:
        """How much of each word a document has, (count, size), sparse."""
        places = torch.from_numpy(np.stack([self.homes, self.words]))
        values = torch.from_numpy(self.weights).float()
        with torch.sparse.check_sparse_tensor_invariants(False):
            return torch.sparse_coo_tensor(places, values, (self.count, size)).coalesce()


class _Probe(nn.Module):
    """Changes each word's vector, adds up by the given weights, and classifies the sum."""

    def __init__(self, size: int, label_count: int) -> None:
        super().__init__()
        self.change = nn.Linear(size, HIDDEN)
        self.classify = nn.Linear(HIDDEN, label_count)

    def forward(self, table: Tensor, vectors: Tensor) -> Tensor:
        """Classify every document of a table, (documents, labels)."""
        summed: Tensor = torch.sparse.mm(table, torch.tanh(self.change(vectors)))
        return self.classify(summed)


def ask_probe(
    vectors: Tensor, taught: Bags, labels: NDArray[np.int64], asked: Bags, *, seed: int = 0
) -> NDArray[np.int64]:
    """Teach a probe some documents and return the labels it gives others, (asked,).

    ``vectors`` are those of all words, (words, size); they stay as they are.
    """
    truth = torch.from_numpy(labels)
    given = vectors.detach().float().cpu()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        probe = _Probe(given.shape[1], int(labels.max()) + 1)
    table = taught.table(len(given))
    optimizer = torch.optim.Adam(probe.parameters(), lr=RATE, weight_decay=DECAY)
    with torch.enable_grad():
        for _ in range(STEPS):
            optimizer.zero_grad()
            cross_entropy(probe(table, given), truth).backward()
            optimizer.step()
    with torch.no_grad():
        return probe(asked.table(len(given)), given).argmax(1).numpy()


DOCUMENTS = 400
"""How many training documents the probe is taught, at most."""
CHUNK = 16

Floats = NDArray[np.float64]
GUIDES = ("own", "even", "adversarial")


def probe_attention(
    fitted: Fitted,
    training: Sequence[Document],
    documents: Sequence[Document],
    seed: int = 0,
) -> list[dict[str, Measured]]:
    """Teach probes the training documents and ask about the others: what each of these gave.

    Nothing where documents may have several labels, or where the model does not attend to words.
    """
    if fitted.labels.multilabel:
        return []
    taught, asked = (_keep_known(fitted, some) for some in (training, documents))
    if not taught or not asked:
        return []
    lessons, questions = (_fill_bags(fitted, some, seed) for some in (taught, asked))
    if lessons is None or questions is None:
        return []
    numbers = _numbers(fitted, taught)
    truth = _numbers(fitted, asked)
    every = torch.arange(len(fitted.reader.vocab), device=fitted.reader.device)
    with torch.no_grad():
        vectors = fitted.model.embedding(every)
    right = {
        guide: (ask_probe(vectors, lessons[guide], numbers, questions[guide], seed=seed) == truth)
        for guide in GUIDES
    }
    return [
        {
            "probe_attention": Measured(float(own), float(even)),
            "probe_adversarial": Measured(float(other), float(even)),
        }
        for own, even, other in zip(*(right[guide] for guide in GUIDES), strict=True)
    ]


def _keep_known(fitted: Fitted, documents: Sequence[Document]) -> list[Document]:
    """The documents whose label the model knows."""
    names = {str(name) for name in fitted.labels.classes}
    return [document for document in documents if str(document.label) in names]


def _numbers(fitted: Fitted, documents: Sequence[Document]) -> NDArray[np.int64]:
    names = [str(name) for name in fitted.labels.classes]
    return np.array([names.index(str(document.label)) for document in documents])


def _fill_bags(fitted: Fitted, documents: Sequence[Document], seed: int) -> dict[str, Bags] | None:
    """The words of each document under each guide's weights; None where nothing weighs words."""
    words: list[NDArray[np.int64]] = []
    weights: dict[str, list[Floats]] = {guide: [] for guide in GUIDES}
    for chunk in chunks(documents, CHUNK):
        rows: dict[int, tuple[NDArray[np.int64], dict[str, Floats]]] = {}
        for places, answers in fitted.answers([one.text for one in chunk]):
            attention = last_attention(answers)
            if attention is None or pooling_layer(answers, "token") is None:
                return None
            rows |= zip(places, _weigh_words(answers, attention, seed), strict=True)
        for place in range(len(chunk)):
            ids, guides = rows[place]
            words.append(ids)
            for guide in GUIDES:
                weights[guide].append(guides[guide])
    return {guide: Bags.of(words, weights[guide]) for guide in GUIDES}


def _weigh_words(
    answers: Answers, last: Sequence[LastAttention], seed: int
) -> Iterator[tuple[NDArray[np.int64], dict[str, Floats]]]:
    """The ids of each document of a batch, and the weights that each guide gives them."""
    counts = answers.batch.by_document.host_lengths
    ids = answers.batch.ids.values.cpu().split(counts)
    own = importance(answers.output, answers.batch).values.detach().cpu().split(counts)
    for words, weights, attention in zip(ids, own, last, strict=True):
        mine = weights.double().numpy()
        other = find_adversary(attention, seed).cpu().numpy()
        units = attention.weights.double().cpu().numpy()
        if attention.unit == "sentence":
            homes = attention.homes
            ratio = np.divide(other, units, out=np.zeros_like(other), where=units > 0)[homes]
            other = mine * ratio
        even = np.full(len(mine), 1 / max(len(mine), 1))
        yield words.numpy(), {"own": mine, "even": even, "adversarial": other}
