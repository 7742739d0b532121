"""How much each word of a document counted, all levels of attention taken together."""

from __future__ import annotations

import torch
from torch import Tensor

from ..data.batch import Batch
from ..errors import ConfigError
from ..nn.rows import row_sum
from ..ragged import Ragged
from .base import Attention, Output

__all__ = ["importance"]


def importance(output: Output, batch: Batch, *, length_corrected: bool = False) -> Ragged:
    """Weigh the words of each document, (tokens,), one row a document; each row sums to one.

    The importance of a word is its weight in its sentence times the weight of the sentence. A word
    of a long sentence then starts with a disadvantage, since its weight is shared with many;
    ``length_corrected`` multiplies by the length of the sentence to undo it. Several columns of
    weights count by their mean. A model without sentences gives the weights of its words.
    """
    layers = {layer.name: layer for layer in output.attention}
    if "word" not in layers:
        raise ConfigError("this model gives words no weights; choose a model that attends to words")
    words = _by_item(layers["word"])
    sentence_of_word = batch.ids.row_ids
    if "sentence" in layers:
        words = words * _by_item(layers["sentence"]).index_select(0, sentence_of_word)
    if length_corrected:
        words = words * batch.ids.lengths.index_select(0, sentence_of_word)
    rows = batch.by_document.with_values(words)
    totals = row_sum(rows)
    totals = torch.where(totals > 0, totals, 1.0).index_select(0, rows.row_ids)
    return rows.with_values(words / totals)


def _by_item(layer: Attention) -> Tensor:
    """The weight of each item, the mean where there are several columns, (items,)."""
    values = layer.weights.values.double()
    return values if values.ndim == 1 else values.mean(1)
