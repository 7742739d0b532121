"""Stand-ins that tests of training share: documents made by a seed, a tiny model, settings."""

import numpy as np
import torch
from torch import nn

from regard.data.batch import Batch
from regard.models.base import Model, Output
from regard.ragged import Ragged
from regard.training.config import TrainingConfig
from regard.training.seeds import seeded

VOCAB_SIZE = 40
MANY_WORDS = 1 << 15
"""So many words have vectors that are moved one by one; most of them are in no document."""


class ToySource:
    """Documents of one or two sentences; the label is in their words."""

    def __init__(self, count, label_count=3, *, seed=0, several=False):
        draw = np.random.default_rng(seed)
        self.labels = draw.integers(label_count, size=count)
        self.documents = []
        for label in self.labels:
            cues = 2 + label + label_count * draw.integers(3, size=3)
            words = np.concatenate([cues, draw.integers(2, VOCAB_SIZE, size=draw.integers(1, 9))])
            self.documents.append(np.array_split(draw.permutation(words), draw.integers(1, 3)))
        self.lengths = np.array([sum(map(len, d)) for d in self.documents], dtype=np.int64)
        if several:
            extra = draw.random((count, label_count)) < 0.2
            self.labels = (np.eye(label_count, dtype=bool)[self.labels] | extra).astype(np.float32)

    def batch(self, indices):
        sentences = [sentence for index in indices for sentence in self.documents[index]]
        lengths = [len(sentence) for sentence in sentences]
        counts = [len(self.documents[index]) for index in indices]
        nothing = np.zeros(0, dtype=np.int64)
        return Batch(
            Ragged(
                torch.from_numpy(np.concatenate([nothing, *sentences])),
                torch.tensor(lengths, dtype=torch.int64),
            ),
            torch.tensor(counts, dtype=torch.int64),
            labels=torch.from_numpy(self.labels[indices]),
        )


class ToyModel(Model):
    """The mean word vector of a document, dropped out, through a linear layer."""

    def __init__(self, label_count=3, *, dropout=0.0, penalty=0.0, words=VOCAB_SIZE):
        super().__init__()
        self.embedding = nn.Embedding(words, 8)
        self.dropout = nn.Dropout(dropout)
        self.classify = nn.Linear(8, label_count)
        self.penalty = penalty

    def from_vectors(self, words, batch, impose=None):
        rows = batch.by_document
        sums = words.values.new_zeros(len(batch), 8).index_add(0, rows.row_ids, words.values)
        means = sums / rows.lengths[:, None].clamp_min(1)
        penalty = self.penalty * (means**2).sum(1).mean() if self.penalty else None
        return Output(self.classify(self.dropout(means)), penalty=penalty)


def plain_config(**settings):
    """Training settings without anything fancy, whatever the defaults have come to be."""
    plain = {
        "learning_rate": 0.05,
        "optimizer": "adam",
        "momentum": 0.9,
        "schedule": "constant",
        "warmup": 0.0,
        "weight_decay": 0.0,
        "clip": 1.0,
        "patience": 3,
        "cooling": False,
        "min_delta": 0.0,
        "monitor": "loss",
        "class_weights": "none",
        "label_smoothing": 0.0,
        "focal": 0.0,
        "precision": "float32",
        "average": 1,
        "freeze_vectors": False,
    }
    return TrainingConfig(**{**plain, **settings})


def toy_model(label_count=3, *, dropout=0.0, penalty=0.0, seed=0, words=VOCAB_SIZE):
    """A model whose first weights come from the seed."""
    with seeded(seed):
        return ToyModel(label_count, dropout=dropout, penalty=penalty, words=words)
