"""fastText's classifier: the mean of word vectors and of vectors for pairs of words.

Joulin, Grave, Bojanowski and Mikolov (2017), "Bag of Tricks for Efficient Text Classification". A
plain network to be measured against: order counts only as far as pairs of words tell it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from ..config import checked_settings, require
from ..data.batch import Batch
from ..ragged import Ragged
from .base import Impose, Model, Output, check_imposed
from .words import WordEmbedding

__all__ = ["FastText", "FastTextConfig"]

_SPREAD = 116049371  # of the hash: a large prime, as fastText has one


@dataclass(frozen=True)
@checked_settings
class FastTextConfig:
    """How long the vectors are, and how many the pairs of words share."""

    name: ClassVar[str] = "fasttext"

    embedding_size: int = 10
    pairs: int = 1 << 18  # vectors of pairs, which a hash deals out; 0: words alone

    def __post_init__(self) -> None:
        for name, least in (("embedding_size", 1), ("pairs", 0)):
            value = getattr(self, name)
            require(value >= least, f"{name} must be at least {least}, got {value}")

    def build(self, *, vocab_size: int, label_count: int) -> FastText:
        """Make the network, with fresh weights drawn from torch's seed."""
        return FastText(self, vocab_size=vocab_size, label_count=label_count)


class FastText(Model):
    """Classify documents by the mean of their words and pairs of words."""

    def __init__(self, config: FastTextConfig, *, vocab_size: int, label_count: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = WordEmbedding(vocab_size, config.embedding_size)
        self.pairs = nn.Embedding(config.pairs, config.embedding_size) if config.pairs else None
        if self.pairs is not None:
            nn.init.zeros_(self.pairs.weight)
        self.classify = nn.Linear(config.embedding_size, label_count)

    def from_vectors(self, words: Ragged, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify from given word vectors; those of pairs do not hang on them."""
        check_imposed(impose or {}, {})
        rows = batch.by_document
        sums = words.values.new_zeros(len(rows), words.values.shape[1])
        sums = sums.index_add(0, rows.row_ids, words.values)
        counts = rows.lengths
        if self.pairs is not None:
            homes, places = self._pairs(rows)
            sums = sums.index_add(0, homes, self.pairs(places).to(sums.dtype))
            counts = counts + torch.bincount(homes, minlength=len(rows))
        return Output(self.classify(sums / counts.clamp(min=1)[:, None]))

    def _pairs(self, rows: Ragged) -> tuple[Tensor, Tensor]:
        """The document of each pair of neighbours, and which vector it has, (pairs,) each."""
        first, second = rows.values[:-1], rows.values[1:]
        together = rows.row_ids[:-1] == rows.row_ids[1:]
        places = (first * _SPREAD + second) % self.config.pairs
        return rows.row_ids[:-1][together], places[together]
