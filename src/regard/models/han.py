"""Hierarchical Attention Network (Yang et al., 2016).

Words make sentences and sentences make documents, each time by the same two steps: an encoder
reads the row, and attention pools it into one vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from ..config import checked_settings
from ..nn.pooling import Pooled, Pooling
from ..ragged import Ragged
from .hierarchy import Hierarchy, HierarchyConfig, SentenceMaker
from .parts import WordReader, build_pooling

__all__ = ["HANConfig"]


@dataclass(frozen=True)
@checked_settings
class HANConfig(HierarchyConfig):
    """Reads each sentence by itself, or with ``reading="flow"`` on from the one before."""

    name: ClassVar[str] = "han"

    def build(self, *, vocab_size: int, label_count: int) -> Hierarchy:
        """Make the network, with fresh weights drawn from torch's seed."""
        words = WordReader(self)
        maker = _EachAlone(words.output_size, self)
        return Hierarchy(self, maker, words=words, vocab_size=vocab_size, label_count=label_count)


class _EachAlone(SentenceMaker):
    """Pools the words of every sentence without a look at the others."""

    isolated = True

    def __init__(self, size: int, config: HANConfig) -> None:
        super().__init__()
        self.pooling = build_pooling(size, config)
        self.output_size = self.pooling.output_size

    @property
    def alone(self) -> Pooling:
        """The pooling of a sentence's words."""
        return self.pooling

    def forward(self, states: Ragged, sentences: Tensor, weights: Tensor | None) -> Pooled:
        """Pool the words of each sentence."""
        return self.pooling(states, weights)
