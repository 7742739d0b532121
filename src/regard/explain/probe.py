"""A probe that borrows attention: does it tell a plain network where to look?

After Wiegreffe and Pinter (2019): a small network sees words without their order, added up by
weights that it is given and cannot change. If the model's attention says something about the
texts, the probe learns more under it than under even weights, or under an adversary's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from .tally import Protocol

__all__ = ["PROTOCOLS", "Bags", "probed"]

HIDDEN = 32
STEPS = 150
RATE = 0.02
DECAY = 1e-3

_PROBE = "accuracy of a small network over the word vectors without their order, added up by "

PROTOCOLS = {
    "probe_attention": Protocol(f"{_PROBE}the model's attention", baseline="even weights"),
    "probe_adversarial": Protocol(
        f"{_PROBE}the attention that differs most at the same answer",
        better="low",
        baseline="even weights",
    ),
}


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


def probed(
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
