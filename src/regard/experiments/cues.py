"""Long documents that are decided by few words: a marker, and the word that follows it.

The words that could follow a marker also stand anywhere else in a document, where they mean
nothing. So what counts is one place among many, and a network must find it: ``pooling`` asks which
way to make one vector of the states finds it, and ``penalty`` what it costs several attentions to
look at the same place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from ..config import checked_settings, require
from ..data.batch import Batch
from ..models.base import Model, ModelConfig, Output
from ..models.flat import FlatConfig
from ..ragged import Ragged
from ..records.experiment import Chart, Curve, Finding, ResultRow
from ..tasks.classify import ClassificationLoss
from ..training.batches import PlannedBatches
from ..training.config import TrainingConfig
from ..training.loop import train
from ..training.seeds import derived_seed, seeded
from .running import Stopwatch, Tell, training_of

__all__ = [
    "POOLED",
    "PRICES",
    "CueDocuments",
    "Learnt",
    "Penalty",
    "PoolingComparison",
    "draw_documents",
    "overlap",
    "study_documents",
]

_READER = FlatConfig(
    embedding_size=32, attention_size=32, word_dropout=0.0, vector_dropout=0.0, state_dropout=0.0
)
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
            yield _ask(model, held_out, step.epoch)


@torch.no_grad()
def _ask(model: Model, documents: CueDocuments, epoch: int) -> Learnt:
    output = model.eval()(documents.whole)
    right = output.logits.argmax(1).numpy() == documents.labels
    return Learnt(epoch, float(right.mean()), output)


POOLED = ("mean", "attention", "max", "last")
"""The poolings that are compared."""


@dataclass(frozen=True)
class _DocumentsToLearn:
    """How many documents there are, how long they are, and how long they are learnt from."""

    length: int = 120
    examples: int = 4_000
    held_out: int = 1_000
    hidden_size: int = 24
    epochs: int = 10
    batch_size: int = 64
    learning_rate: float = 5e-3

    def draw(self, seed: int, *, markers: int) -> tuple[CueDocuments, CueDocuments]:
        """Draw the documents to train on, and those held out."""
        sides = (("training", self.examples), ("test", self.held_out))
        training, held_out = (
            draw_documents(
                count, length=self.length, markers=markers, seed=derived_seed(seed, side)
            )
            for side, count in sides
        )
        return training, held_out


@dataclass(frozen=True)
@checked_settings
class PoolingComparison(_DocumentsToLearn):
    """Mean, largest, last or attention: how states become one vector, where one word decides."""

    name: ClassVar[str] = "pooling"
    title: ClassVar[str] = "One word in many decides: mean of the states against attention"
    columns: ClassVar[tuple[str, ...]] = (
        "accuracy",
        "first epoch over target",
        "weight at the cue",
    )

    target: float = 0.95

    def __post_init__(self) -> None:
        require(self.length >= 2, f"length must be at least 2, got {self.length}")

    @classmethod
    def quick(cls) -> PoolingComparison:
        """A few short documents."""
        return cls(length=10, examples=200, held_out=50, hidden_size=8, epochs=2)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Train networks that differ in their pooling alone."""
        training, held_out = self.draw(seed, markers=1)
        config = training_of(self, derived_seed(seed, "weights"))
        rows, curves = [], []
        for pooling in POOLED:
            clock, points = Stopwatch(), list[tuple[float, float]]()
            for learnt in study_documents(self._network(pooling), training, held_out, config):
                points.append((learnt.epoch, learnt.accuracy))
                tell(f"{pooling}, {learnt}")
            first = next((epoch for epoch, share in points if share > self.target), None)
            values = (learnt.accuracy, first, _at_cue(learnt, held_out))
            rows.append(ResultRow(pooling, values, clock.seconds))
            curves.append(Curve(pooling, tuple(points)))
        chart = Chart("lines", "epoch", "accuracy", tuple(curves), level=self.target)
        return Finding(seed, tuple(rows), chart)

    def _network(self, pooling: str) -> FlatConfig:
        return replace(_READER, hidden_size=self.hidden_size, pooling=pooling)


def _at_cue(learnt: Learnt, documents: CueDocuments) -> float:
    """How much of a document's weight lies on the cue and its two neighbours, on average.

    The state at a neighbour knows the cue too, since it was read from both sides.
    """
    count, length = documents.ids.shape
    values = learnt.output.attention[0].weights.values
    weights = values.reshape(count, length, -1).mean(2).numpy()
    near = np.abs(np.arange(length) - documents.places) <= 1
    return float((weights * near).sum(1).mean())


PRICES = (0.0, 0.01, 0.1, 1.0)
"""What the overlap costs, in the rows of the table."""


@dataclass(frozen=True)
@checked_settings
class Penalty(_DocumentsToLearn):
    """Several attentions side by side, with a price on looking at the same words and without.

    The penalty of Lin et al. (2017), ||A A^T - I||_F^2: where it costs nothing, hops look alike.
    """

    name: ClassVar[str] = "penalty"
    title: ClassVar[str] = "The price of looking at the same words: overlap of the hops"
    columns: ClassVar[tuple[str, ...]] = ("overlap", "accuracy")

    length: int = 30
    examples: int = 3_000
    hidden_size: int = 16
    epochs: int = 8
    hops: int = 4
    markers: int = 2

    def __post_init__(self) -> None:
        require(self.hops >= 2, f"hops must be at least 2, got {self.hops}")
        require(
            1 <= self.markers <= self.length // 2,
            f"markers must be from 1 to half the length, got {self.markers}",
        )

    @classmethod
    def quick(cls) -> Penalty:
        """A few short documents."""
        return cls(length=8, examples=300, held_out=50, hidden_size=8, epochs=3)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Train networks that differ in the price of overlap alone."""
        training, held_out = self.draw(seed, markers=self.markers)
        config = training_of(self, derived_seed(seed, "weights"))
        rows, curves = [], []
        for price in PRICES:
            name, clock, points = f"penalty {price:g}", Stopwatch(), list[tuple[float, float]]()
            for learnt in study_documents(self._network(price), training, held_out, config):
                shared = overlap(learnt.output.attention[0].weights)
                points.append((learnt.epoch, shared))
                tell(f"{name}, {learnt}, overlap {shared:.4f}")
            rows.append(ResultRow(name, (points[-1][1], learnt.accuracy), clock.seconds))
            curves.append(Curve(name, tuple(points)))
        return Finding(seed, tuple(rows), Chart("lines", "epoch", "overlap", tuple(curves)))

    def _network(self, price: float) -> FlatConfig:
        reader = replace(_READER, hidden_size=self.hidden_size, pooling="structured")
        return replace(reader, hops=self.hops, penalty=price)


def overlap(weights: Ragged) -> float:
    """The mean of A A^T off its diagonal: 0 where no two hops look at the same word."""
    hops = weights.values.shape[1]
    products = torch.stack([row.T @ row for row in weights.rows()]).mean(0)
    return float((products.sum() - products.trace()) / (hops * (hops - 1)))
