"""A hierarchical transformer: one reads the words of each sentence, another the sentences.

As the encoder of Zhang, Wei and Zhou, *HIBERT* (ACL 2019), here with attention that pools each
sentence and the document, and learnt from scratch. Over a pretrained BERT the same document encoder
stands in ``bert-han`` with ``encoder="transformer"``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ..config import checked_settings
from .han import HANConfig

__all__ = ["HierarchicalTransformerConfig"]


@dataclass(frozen=True)
@checked_settings
class HierarchicalTransformerConfig(HANConfig):
    """A transformer over the words of each sentence, and one over the sentences."""

    name: ClassVar[str] = "hierarchical-transformer"

    encoder: str = "transformer"
    layers: int = 2
    weighing: Literal["states", "sentences"] = "states"
    vector_dropout: float = 0.3
    state_dropout: float = 0.1
    sentence_dropout: float = 0.1
