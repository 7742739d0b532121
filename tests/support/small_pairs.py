"""Small networks that write, of every kind, and pairs of random ids to try them with."""

import dataclasses

import numpy as np
import torch

from regard.data.pairs import EncodedPairs
from regard.models import PAIR_MODELS, TransformerConfig
from regard.models.seq2seq import Seq2SeqConfig

VOCAB = 11
SMALL = {
    "seq2seq": Seq2SeqConfig(embedding_size=6, hidden_size=8, attention_size=5, dropout=0.0),
    "transformer": TransformerConfig(hidden_size=8, heads=2, feed_size=12, layers=2, dropout=0.0),
}
SEQ2SEQ = {
    "luong": {},
    "luong at once": {"feeding": False},
    "luong dot": {"score": "dot"},
    "luong copy": {"bridge": "copy", "score": "dot"},
    "luong local-m": {"window": "monotonic", "reach": 2},
    "luong local-p": {"window": "predictive", "reach": 2},
    "bahdanau": {"decoder": "bahdanau", "score": "additive"},
    "bahdanau lstm": {"decoder": "bahdanau", "score": "concat", "cell": "lstm"},
    "sutskever": {"decoder": "sutskever"},
    "sutskever lstm copy": {"decoder": "sutskever", "cell": "lstm", "bridge": "copy"},
    "cho": {"decoder": "cho"},
    "cho without a bridge": {"decoder": "cho", "bridge": "none", "cell": "rnn"},
    "one direction": {"directions": 1, "layers": 1},
    "reversed and doubled": {"reverse_source": True, "repeat_source": 2},
    "tied": {"tied": "all"},
}
TRANSFORMER = {
    "plain": {},
    "as in the paper": {"norm": "post", "tied": "all"},
    "rotary": {"positions": "rotary", "activation": "gelu"},
    "learned": {"positions": "learned", "tied": "none"},
    "one layer": {"layers": 1, "heads": 1},
    "three layers": {"layers": 3, "positions": "rotary", "norm": "post"},
}
CONFIGS = {
    **{
        f"seq2seq, {name}": dataclasses.replace(SMALL["seq2seq"], **changes)
        for name, changes in SEQ2SEQ.items()
    },
    **{
        f"transformer, {name}": dataclasses.replace(SMALL["transformer"], **changes)
        for name, changes in TRANSFORMER.items()
    },
    **{name: kind() for name, kind in PAIR_MODELS.items() if name not in SMALL},
}
"""Every network of ``PAIR_MODELS``: those we know small, with settings that change what they do."""


def build(config, seed=0, dtype=torch.float64):
    """A network with fresh weights, at rest."""
    torch.manual_seed(seed)
    return config.build(source_size=VOCAB, target_size=VOCAB).to(dtype).eval()


def random_rows(lengths, seed=0):
    """Rows of ids that are words."""
    draw = np.random.default_rng(seed)
    return [draw.integers(4, VOCAB, size=length) for length in lengths]


def pairs(sources=(3, 5, 1, 4), targets=(2, 4, 3, 0)):
    """Pairs of rows of these lengths."""
    return EncodedPairs(random_rows(sources), random_rows(targets, seed=1))


def batch(sources=(3, 5, 1, 4), targets=(2, 4, 3, 0)):
    """The same as one batch."""
    return pairs(sources, targets).batch(range(len(sources)))
