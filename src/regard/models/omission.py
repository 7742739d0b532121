"""Whole sentences left out in training.

A network that never misses a sentence may learn only one side of a question, and take the silence
of a text for the other: its weights then mark the evidence of one label and nothing for the other.
Where now and then the evidence itself is missing, silence tells nothing, and both must be found.
It is also what erasing a sentence does to a text, so an explanation asks about texts of a kind the
network has seen.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from ..data.batch import Batch, Shape, tokens_per_document
from ..nn.rows import take_rows
from ..ragged import Ragged, send

__all__ = ["omit_sentences"]


def omit_sentences(batch: Batch, share: float) -> Batch:
    """Leave out a share of the sentences by chance; a text that would lose all keeps all.

    Who stays is drawn on the host, which then knows how much is left: on a GPU it does not wait.
    """
    if share == 0 or len(batch.ids) == 0:
        return batch
    shape = batch.shape
    kept = _draw(shape, share)
    left = Shape(shape.sentence_lengths[kept], tokens_per_document(kept.long(), shape.sentences))
    device = batch.sentences.device
    rows = send(kept.nonzero().squeeze(1), device)
    ids = take_rows(batch.ids, rows, int(left.sentence_lengths.sum()))
    sentences = send(left.sentences, device)
    return replace(batch, ids=ids, sentences=sentences, texts=(), known_shape=left)


def _draw(shape: Shape, share: float) -> Tensor:
    """Say of each sentence whether it stays, (sentences,)."""
    chosen = torch.rand(shape.sentence_lengths.shape) >= share
    emptied = tokens_per_document(chosen.long(), shape.sentences) == 0
    return chosen | emptied.index_select(0, Ragged(chosen, shape.sentences).row_ids)
