"""Documents made up from what a saved model knows: what an export is tried on without texts."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from ..data.batch import Batch
from ..estimators.saved import Saved
from ..ragged import Ragged
from ..text.vocab import UNKNOWN

__all__ = ["imagine_documents"]

_BITS = 21  # of each id in the key of an n-gram
_FIRST = UNKNOWN + 1
_STRANGE = 0.02  # of the words are none of the vocabulary

Ids = NDArray[np.int64]


def imagine_documents(saved: Saved, count: int, *, words: int = 240, seed: int = 0) -> Batch:
    """Make up documents of about so many words; the same seed makes the same.

    Words follow each other as in the n-grams that the model kept of its training texts, each as
    often as there; without n-grams they are drawn by their rank alone.
    """
    draw = np.random.default_rng(seed)
    speak = _Chain(saved, draw)
    ids: list[int] = []
    lengths: list[int] = []
    sentences: list[int] = []
    for _ in range(count):
        goal, begun, said = len(ids) + int(draw.integers(words // 4, 2 * words)), len(ids), 0
        while len(ids) < goal:
            row = speak.sentence(int(draw.integers(1, 40)))
            ids += row
            lengths.append(len(row))
            said += 1
        assert len(ids) > begun
        sentences.append(said)
    strange = draw.random(len(ids)) < _STRANGE
    values = np.where(strange, UNKNOWN, np.array(ids, np.int64))
    return Batch(Ragged(torch.from_numpy(values), torch.tensor(lengths)), torch.tensor(sentences))


class _Chain:
    """Says one word after the other."""

    def __init__(self, saved: Saved, draw: np.random.Generator) -> None:
        self._draw = draw
        self._words = len(saved.vocab)
        self._keys = np.zeros(0, np.int64)
        if saved.wide is not None:
            table = saved.wide.parts[0].table
            self._keys = table.keys
            # The rarity is a logarithm of how few documents have the n-gram.
            self._sums = np.concatenate([[0.0], np.cumsum(np.exp(-table.rarity.astype(float)))])

    def sentence(self, length: int) -> list[int]:
        """Return the ids of a sentence of so many words."""
        said: list[int] = []
        while len(said) < length:
            said.append(self._next(said))
        return said

    def _next(self, said: list[int]) -> int:
        for size in (2, 1):  # words that the next one must follow
            if len(said) >= size:
                before = 0
                for word in said[-size:]:
                    before = before << _BITS | word
                found = self._among(before << _BITS, (before + 1) << _BITS)
                if found:
                    return found & ((1 << _BITS) - 1)
        return self._among(_FIRST, 1 << _BITS) or self._by_rank()

    def _among(self, low: int, high: int) -> int:
        """Draw one of the keys from ``low`` to below ``high``, or none: 0."""
        if high > 1 << 62:
            return 0
        first, after = np.searchsorted(self._keys, [low, high])
        if first == after:
            return 0
        wanted = self._draw.uniform(self._sums[first], self._sums[after])
        place = int(np.searchsorted(self._sums[first + 1 : after], wanted, side="right"))
        return int(self._keys[first + place])

    def _by_rank(self) -> int:
        """Draw a word as Zipf has it: the n-th as often as 1 / n."""
        count = max(self._words - _FIRST, 0)
        place = int(np.exp(self._draw.uniform(0, np.log(count + 1)))) - 1
        return _FIRST + min(place, count - 1) if count else UNKNOWN
