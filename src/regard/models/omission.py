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

from ..data.batch import Batch, tokens_per_document
from ..ragged import Ragged

__all__ = ["omit_sentences"]


def omit_sentences(batch: Batch, share: float) -> Batch:
    """Leave out a share of the sentences by chance; a text that would lose all keeps all."""
    if share == 0 or len(batch.ids) == 0:
        return batch
    lengths, sentences = batch.ids.lengths, batch.sentences
    chosen = torch.rand(lengths.shape, device=lengths.device) >= share
    emptied = tokens_per_document(chosen.long(), sentences) == 0
    document = Ragged(chosen, sentences).row_ids
    kept = chosen | emptied.index_select(0, document)
    return replace(
        batch,
        ids=Ragged(batch.ids.values[kept.index_select(0, batch.ids.row_ids)], lengths[kept]),
        sentences=tokens_per_document(kept.long(), sentences),
        texts=(),
    )
