"""What each word of a vocabulary gives the encoder, computed when the word is first met.

For prediction alone: between two batches neither the word vectors nor the encoder change, so a
word that was met once is never looked up nor projected again.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..nn.encoders import RecurrentEncoder

__all__ = ["ProjectedWords"]

_MOST_BYTES = 1 << 28  # above, each batch projects its own words


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """The rows of the words met so far, and what they were made from."""

    vectors: tuple[int, int]  # where the word vectors lie, and how often they were written to
    weights: Tensor  # a copy of the encoder's
    rows: Tensor  # (words, directions * gates * hidden)
    known: Tensor  # (words,)


class ProjectedWords:
    """Keeps the projected words for as long as the weights stay what they are.

    A model that reads with gradients is about to change: then all is to be forgotten.
    """

    def __init__(self) -> None:
        self._table: _Table | None = None

    def __reduce__(self) -> tuple[type[ProjectedWords], tuple[()]]:
        """A copy starts empty: it belongs to other weights."""
        return ProjectedWords, ()

    def forget(self) -> None:
        """Free the memory."""
        self._table = None

    def of(self, embedding: nn.Embedding, encoder: RecurrentEncoder, ids: Tensor) -> Tensor | None:
        """The table of projected words, (words, ...), valid for these ids; nothing if too large."""
        table = self._current(embedding, encoder)
        if table is None:
            return None
        if ids.numel() and not bool(table.known.index_select(0, ids).all()):
            missing = torch.unique(ids[~table.known[ids]])
            encoder.project_into(table.rows, missing, embedding.weight)
            table.known[missing] = True
        return table.rows

    def _current(self, embedding: nn.Embedding, encoder: RecurrentEncoder) -> _Table | None:
        vectors = embedding.weight
        if vectors.is_inference():
            return None  # what is written to it is not counted
        made_from = vectors.data_ptr(), vectors._version
        weights = encoder.input_weights()
        found = self._table
        # Torch does not count what fused optimizers write, so the encoder's weights are compared.
        if found and found.vectors == made_from and torch.equal(found.weights, weights):
            return found
        if 4 * encoder.gate_count * len(vectors) > _MOST_BYTES:
            return None
        # A tensor made in inference mode could not be written to outside of it.
        with torch.inference_mode(False):
            rows = torch.empty(len(vectors), encoder.gate_count)
            known = torch.zeros(len(rows), dtype=torch.bool)
        self._table = _Table(made_from, weights.clone(), rows, known)
        return self._table
