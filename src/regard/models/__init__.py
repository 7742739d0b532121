"""One file for each published model; the table finds its settings by name."""

from .attention_lstm import AttentionLSTMConfig
from .base import ModelConfig
from .cahan import CAHANConfig
from .flat import FlatConfig
from .han import HANConfig
from .seq2seq import Seq2SeqConfig

__all__ = [
    "MODELS",
    "AttentionLSTMConfig",
    "CAHANConfig",
    "FlatConfig",
    "HANConfig",
    "Seq2SeqConfig",
]

MODELS: dict[str, type[ModelConfig]] = {
    config.name: config for config in (HANConfig, FlatConfig, CAHANConfig)
}
"""The settings of every classifier, by the name it is saved under."""
