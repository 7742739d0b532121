"""Whole sentences left out in training.

A network that never misses a sentence may learn only one side of a question, and take the silence
of a text for the other: its weights then mark the evidence of one label and nothing for the other.
Where now and then the evidence itself is missing, silence tells nothing, and both must be found.
It is also what erasing a sentence does to a text, so an explanation asks about texts of a kind the
network has seen.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.batch import Batch, Shape
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
    lengths, sentences = shape.sentence_lengths.numpy(), shape.sentences.numpy()
    kept = _draw(sentences, share)
    counts = torch.from_numpy(_sums(kept, sentences))
    left = Shape(torch.from_numpy(lengths[kept]), counts)
    counts = send(counts, batch.sentences.device)
    ids = _taken(batch.ids, kept, left.sentence_lengths)
    return replace(batch, ids=ids, sentences=counts, texts=(), known_shape=left)


def _taken(ids: Ragged, kept: NDArray[np.bool_], lengths: Tensor) -> Ragged:
    """The rows that are kept, which have these lengths."""
    if ids.values.is_cpu:
        items = np.repeat(kept, ids.lengths.numpy())
        return Ragged(torch.from_numpy(ids.values.numpy()[items]), lengths)
    rows = send(torch.from_numpy(np.flatnonzero(kept)), ids.values.device)
    return take_rows(ids, rows, int(lengths.sum()))


def _draw(sentences: NDArray[np.int64], share: float) -> NDArray[np.bool_]:
    """Say of each sentence whether it stays, (sentences,), given how many each text has."""
    # In numpy, where steps as small as these take a fraction of the time that torch needs.
    chosen = (torch.rand(int(sentences.sum())) >= share).numpy()
    return chosen | np.repeat(_sums(chosen, sentences) == 0, sentences)


def _sums(kept: NDArray[np.bool_], sentences: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the sentences that each text keeps."""
    before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    ends = np.cumsum(sentences)
    return before[ends] - before[ends - sentences]
