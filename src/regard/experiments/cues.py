"""Long documents that are decided by few words: a marker, and the word that follows it.

The words that could follow a marker also stand anywhere else in a document, where they mean
nothing. So what counts is one place among many, and a network must find it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ..data.batch import Batch
from ..models.base import Model, ModelConfig, Output
from ..ragged import Ragged
from ..tasks.classify import ClassificationLoss
from ..training.batches import PlannedBatches
from ..training.config import TrainingConfig
from ..training.loop import train
from ..training.seeds import derived_seed, seeded

__all__ = ["CueDocuments", "Learnt", "draw_documents", "study_documents"]

_FIRST = 2  # the ids below stand for padding and for unknown words


@dataclass(frozen=True, slots=True, eq=False)
class CueDocuments:
    """Documents of one sentence and one length, their labels, and where their markers stand."""

    ids: NDArray[np.int64]  # (documents, length)
    labels: NDArray[np.int64]  # (documents,)
    places: NDArray[np.int64]  # (documents, markers), of the word behind each marker
    vocab_size: int
    label_count: int

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many words each document has."""
        return np.full(len(self.ids), self.ids.shape[1])

    def batch(self, indices: NDArray[np.int64]) -> Batch:
        """Put some documents into one batch."""
        chosen = torch.from_numpy(self.ids[indices])
        lengths = torch.full((len(chosen),), self.ids.shape[1])
        return Batch(
            ids=Ragged(chosen.flatten(), lengths),
            sentences=torch.ones(len(chosen), dtype=torch.int64),
            labels=torch.from_numpy(self.labels[indices]),
        )

    @property
    def whole(self) -> Batch:
        """All documents as one batch."""
        return self.batch(np.arange(len(self.ids)))


@dataclass(frozen=True, slots=True, eq=False)
class Learnt:
    """A network after an epoch, and what it makes of the held-out documents."""

    epoch: int
    accuracy: float
    output: Output

    def __str__(self) -> str:
        return f"epoch {self.epoch}, accuracy {self.accuracy:.4f}"


def draw_documents(
    count: int, *, length: int, markers: int = 1, words: int = 100, seed: int
) -> CueDocuments:
    """Draw documents with so many markers each; a word from one half of the words tells 0, else 1.

    With several markers the label counts in twos: that of the first marker tells most.
    """
    random = np.random.default_rng(seed)
    signs = _FIRST + np.arange(markers)
    ids = _FIRST + markers + random.integers(0, words, (count, length))
    # Markers stand two apart at least, so that none of them follows another.
    slots = np.argsort(random.random((count, length // 2)), 1)[:, :markers] * 2
    rows = np.arange(count)[:, None]
    ids[rows, slots] = signs
    told = ids[rows, slots + 1] >= _FIRST + markers + words // 2
    labels = (told * 2 ** np.arange(markers)[::-1]).sum(1)
    return CueDocuments(ids, labels, slots + 1, _FIRST + markers + words, 2**markers)


def study_documents(
    network: ModelConfig, training: CueDocuments, held_out: CueDocuments, config: TrainingConfig
) -> Iterator[Learnt]:
    """Train a network, and say after every epoch what it makes of the held-out documents."""
    with seeded(derived_seed(config.seed, "weights")):
        model = network.build(vocab_size=training.vocab_size, label_count=training.label_count)
    batches = PlannedBatches(training, config)
    for step in train(model, batches, loss=ClassificationLoss(), config=config):
        if step.ends_epoch:
            yield _asked(model, held_out, step.epoch)


@torch.no_grad()
def _asked(model: Model, documents: CueDocuments, epoch: int) -> Learnt:
    output = model.eval()(documents.whole)
    right = output.logits.argmax(1).numpy() == documents.labels
    return Learnt(epoch, float(right.mean()), output)
