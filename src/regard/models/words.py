"""What a network reads of a text: its word vectors, and in training not all of them.

Words, numbers of their vectors and whole sentences are left out by chance.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..data.batch import Batch, Shape
from ..nn.dropout import drop
from ..nn.levels import Picked
from ..nn.rows import take_rows
from ..nn.table_rows import distinct
from ..ragged import Ragged, send
from ..text.vocab import PADDING, UNKNOWN

__all__ = ["WordEmbedding", "omit_sentences"]


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
        few = every.compact() if ids.values.is_cuda else self._look_up(every.numbers)
        # One draw for a word wherever it stands, so that it is still projected only once.
        return Picked(self._lose_numbers(few.table), few.numbers)

    def drop(self, words: Ragged) -> Ragged:
        """Lose numbers of given word vectors, (tokens, size), as ``pick`` does."""
        return words.with_values(self._lose_numbers(words.values))

    def _look_up(self, ids: Ragged) -> Picked:
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


def omit_sentences(batch: Batch, share: float) -> Batch:
    """Leave out a share of the sentences by chance; a text that would lose all keeps all.

    Who stays is drawn on the host, which then knows how much is left: on a GPU it does not wait.

    A network that never misses a sentence may learn only one side of a question, and take the
    silence of a text for the other: its weights then mark the evidence of one label and nothing
    for the other. Where now and then the evidence itself is missing, silence tells nothing, and
    both must be found. It is also what erasing a sentence does to a text, so an explanation asks
    about texts of a kind the network has seen.
    """
    if share == 0 or len(batch.ids) == 0:
        return batch
    shape = batch.shape
    lengths, sentences = shape.sentence_lengths.numpy(), shape.sentences.numpy()
    kept = _draw(sentences, share)
    counts = torch.from_numpy(_sums(kept, sentences))
    left = Shape(torch.from_numpy(lengths[kept]), counts)
    counts = send(counts, batch.sentences.device)
    ids = _take(batch.ids, kept, left.sentence_lengths)
    return replace(batch, ids=ids, sentences=counts, texts=(), known_shape=left)


def _take(ids: Ragged, kept: NDArray[np.bool_], lengths: Tensor) -> Ragged:
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
