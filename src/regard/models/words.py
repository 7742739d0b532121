"""The table of word vectors that every reader of documents begins with."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..nn.distinct import distinct
from ..nn.dropout import drop
from ..nn.levels import Picked
from ..ragged import Ragged
from ..text.vocab import PADDING, UNKNOWN

__all__ = ["WordEmbedding"]


class WordEmbedding(nn.Embedding):
    """One vector a word, small random ones; the padding's is zero and stays so.

    In training a share of the words is read as unknown (``word_dropout``), and a share of the
    numbers of each word's vector is lost (``vector_dropout``).
    """

    def __init__(
        self, words: int, size: int, *, word_dropout: float = 0.0, vector_dropout: float = 0.0
    ) -> None:
        super().__init__(words, size, padding_idx=PADDING)
        self.word_dropout = word_dropout
        self.vector_dropout = vector_dropout
        with torch.no_grad():
            self.weight.uniform_(-0.1, 0.1)[PADDING] = 0

    def pick(self, ids: Ragged) -> Picked:
        """Return rows of words that are picked from a table of vectors."""
        every = Picked(self.weight, self._lose_words(ids), sparse=True)
        if not self.training and not torch.is_grad_enabled():
            return every
        few = every.compact() if ids.values.is_cuda else self._looked_up(every.numbers)
        # One draw for a word wherever it stands, so that it is still projected only once.
        return Picked(self._lose_numbers(few.table), few.numbers)

    def drop(self, words: Ragged) -> Ragged:
        """Lose numbers of given word vectors, (tokens, size), as ``pick`` does."""
        return words.with_values(self._lose_numbers(words.values))

    def _looked_up(self, ids: Ragged) -> Picked:
        """The distinct words by a call of this module: its optimizer must see what is read."""
        found, index = distinct(ids.values, self.num_embeddings)
        return Picked(self(found), ids.with_values(index))

    def _lose_words(self, ids: Ragged) -> Ragged:
        if not self.training or not self.word_dropout:
            return ids
        lost = torch.rand(ids.values.shape, device=ids.values.device) < self.word_dropout
        return ids.with_values(ids.values.masked_fill(lost, UNKNOWN))

    def _lose_numbers(self, vectors: Tensor) -> Tensor:
        return drop(vectors, self.vector_dropout, self.training)
