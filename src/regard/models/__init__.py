"""One file for each published model; the table finds its settings by name."""

from .attention_lstm import AttentionLSTMConfig
from .base import ModelConfig, PairConfig
from .bert_han import BertHANConfig
from .cahan import CAHANConfig
from .flat import FlatConfig
from .han import HANConfig
from .hierarchical_transformer import HierarchicalTransformerConfig
from .seq2seq import Seq2SeqConfig
from .transformer import TransformerConfig

__all__ = [
    "MODELS",
    "PAIR_MODELS",
    "AttentionLSTMConfig",
    "BertHANConfig",
    "CAHANConfig",
    "FlatConfig",
    "HANConfig",
    "HierarchicalTransformerConfig",
    "Seq2SeqConfig",
    "TransformerConfig",
]

MODELS: dict[str, type[ModelConfig]] = {
    config.name: config
    for config in (HANConfig, FlatConfig, CAHANConfig, BertHANConfig, HierarchicalTransformerConfig)
}
"""The settings of every classifier, by the name it is saved under."""

PAIR_MODELS: dict[str, type[PairConfig]] = {
    config.name: config for config in (Seq2SeqConfig, TransformerConfig)
}
"""The settings of every network that writes about texts, by the name it is saved under."""
