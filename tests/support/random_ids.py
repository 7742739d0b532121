"""Documents of random ids for tests of networks, and small settings of every model."""

import dataclasses
import itertools

import numpy as np
import torch

from regard.data.batch import Batch
from regard.models import MODELS, BertHANConfig, CAHANConfig, FlatConfig, HANConfig
from regard.ragged import Ragged

VOCAB_SIZE = 30
LABEL_COUNT = 3
SIZES = {"embedding_size": 8, "hidden_size": 5, "attention_size": 6}
NO_DROPOUT = {"word_dropout": 0.0, "vector_dropout": 0.0, "state_dropout": 0.0}
SMALL = SIZES | NO_DROPOUT


def small(kind):
    """Small settings of a model, as far as it has them."""
    known = {field.name for field in dataclasses.fields(kind)}
    return kind(**{name: value for name, value in SMALL.items() if name in known})


SETTINGS = {name: small(kind) for name, kind in MODELS.items()} | {
    "han-flow": HANConfig(**SMALL, reading="flow", cell="lstm"),
    "han-glass-box": HANConfig(**SMALL, encoder="none"),
    "han-mean": HANConfig(**SMALL, pooling="mean", cell="rnn", sentence_hidden_size=3),
    "han-max": HANConfig(**SMALL, pooling="max", layers=2, directions=1),
    "han-last": HANConfig(**SMALL, pooling="last", layers=2),
    "han-structured": HANConfig(**SMALL, pooling="structured", hops=3),
    "han-additive": HANConfig(**SMALL, score="additive"),
    "han-transformer": HANConfig(**SMALL, encoder="transformer"),
    "han-transformer-flow": HANConfig(
        **SMALL, encoder="transformer", reading="flow", positions="sinusoidal", norm="post"
    ),
    "flat-transformer": FlatConfig(**SMALL, encoder="transformer", layers=2),
    "cahan-transformer": CAHANConfig(**SMALL, encoder="transformer", positions="sinusoidal"),
    "flat-lstm": FlatConfig(**SMALL, cell="lstm"),
    "flat-structured": FlatConfig(**SMALL, pooling="structured", hops=2, score="general"),
    "flat-glass-box": FlatConfig(**SMALL, encoder="none", score="dot"),
    "flat-max": FlatConfig(**SMALL, pooling="max"),
    "cahan-one-way-sum": CAHANConfig(**SMALL, context="sum", context_directions=1),
    "cahan-gated": CAHANConfig(**SMALL, gated=True, pooling="structured"),
    "bert-han-flow": BertHANConfig(**SMALL, reading="flow", bert_longest=9),
    "bert-han-places": BertHANConfig(**SMALL, places=True),
    "bert-han-fixed": BertHANConfig(**SMALL, tuned_layers=0, word_pooling="mean"),
    "bert-han-transformer": BertHANConfig(**SMALL, encoder="transformer", bert_longest=5),
    "cahan-flow": CAHANConfig(**SMALL, reading="flow", cell="rnn"),
}
"""Small settings of every model of the table, and enough others to run every part."""


def batch_of(documents, labels=None):
    """Put documents, each a list of sentences, each a list of ids, into a batch."""
    sentences = list(itertools.chain.from_iterable(documents))
    ids = torch.tensor(list(itertools.chain.from_iterable(sentences)), dtype=torch.int64)
    lengths = torch.tensor([len(sentence) for sentence in sentences], dtype=torch.int64)
    counts = torch.tensor([len(document) for document in documents], dtype=torch.int64)
    return Batch(Ragged(ids, lengths), counts, labels=labels)


def random_documents(count, seed=0, *, sentences=5, words=7):
    """Make documents of 0 to ``sentences`` sentences of 1 to ``words`` ids."""
    draw = np.random.default_rng(seed)
    return [
        [
            draw.integers(1, VOCAB_SIZE, size=draw.integers(1, words + 1)).tolist()
            for _ in range(draw.integers(0, sentences + 1))
        ]
        for _ in range(count)
    ]


def built(config, *, label_count=LABEL_COUNT, seed=0):
    """The network of the settings, weights drawn from the seed, not in training."""
    torch.manual_seed(seed)
    return config.build(vocab_size=VOCAB_SIZE, label_count=label_count).eval()
