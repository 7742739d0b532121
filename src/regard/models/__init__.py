"""One file for each published model; the table finds its settings by name."""

from .base import ModelConfig
from .cahan import CAHANConfig
from .flat import FlatConfig
from .han import HANConfig

__all__ = ["MODELS", "CAHANConfig", "FlatConfig", "HANConfig"]

MODELS: dict[str, type[ModelConfig]] = {
    config.name: config for config in (HANConfig, FlatConfig, CAHANConfig)
}
"""The settings of every classifier, by the name it is saved under."""
