"""A corpus whose ids lie in the memory of a GPU, where its batches are gathered."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from ...ragged import Ragged, send
from ..batch import Batch, Shape
from .mapped import Corpus

__all__ = ["Resident", "place_on"]

_LARGEST_SHARE = 0.25  # of the memory that is free, so that training keeps room
_ID_BYTES = 4


def place_on(corpus: Corpus, device: torch.device) -> Corpus | Resident:
    """The corpus on a GPU, if it fits into a share of the free memory there, or else as it is."""
    if device.type != "cuda":
        return corpus
    free, _ = torch.cuda.mem_get_info(device)
    fits = _ID_BYTES * int(corpus.lengths.sum()) <= _LARGEST_SHARE * free
    return Resident(corpus, device) if fits else corpus


class Resident:
    """The documents of a corpus on a device: gives the batches that the corpus gives, but there.

    The ids stay on the device. What else a batch is made of is a few numbers a sentence: they are
    looked up on the host, which so knows how large everything is, and sent over without waiting.
    """

    def __init__(self, corpus: Corpus, device: torch.device) -> None:
        self._corpus = corpus
        self._device = device
        self.lengths: NDArray[np.int64] = corpus.lengths
        self._starts = np.cumsum(self.lengths) - self.lengths
        self._ids = torch.empty(int(self.lengths.sum()), dtype=torch.int32, device=device)
        end = 0
        for block in corpus.blocks():
            ids = corpus.batch(block).ids.values.int()
            self._ids[end : end + len(ids)] = send(ids, device)
            end += len(ids)

    def batch(self, indices: ArrayLike) -> Batch:
        """Gather the chosen documents, in the order given, as one batch with their labels."""
        chosen = np.asarray(indices, dtype=np.int64)
        rows = self._corpus.kept_rows(chosen)
        shape = Shape(torch.from_numpy(rows.sentence_lengths), torch.from_numpy(rows.sentences))
        labels = self._corpus.label_tensor(chosen)
        return Batch(
            ids=Ragged(self._gather(chosen), send(shape.sentence_lengths, self._device)),
            sentences=send(shape.sentences, self._device),
            labels=None if labels is None else send(labels, self._device),
            known_shape=shape,
        )

    def _gather(self, chosen: NDArray[np.int64]) -> Tensor:
        """The ids of the documents, end to end."""
        lengths = self.lengths[chosen]
        # How much further on a document lies in the corpus than in the batch.
        shifts = self._starts[chosen] - (np.cumsum(lengths) - lengths)
        count = int(lengths.sum())
        places = torch.arange(count, device=self._device)
        there = [send(torch.from_numpy(part), self._device) for part in (shifts, lengths)]
        places += torch.repeat_interleave(*there, output_size=count)
        return self._ids.index_select(0, places).long()
