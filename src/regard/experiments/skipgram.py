"""Word vectors from a corpus: skip-gram with negative sampling, of Mikolov et al. (2013)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from ..config import checked_settings, require, require_counts
from ..files import replacing
from ..text.encode import encode
from ..text.tokenize import TextConfig, tokenize_many
from ..text.vocab import UNKNOWN, Vocab, count_words
from ..training.seeds import derived_seed, seeded

__all__ = ["Lap", "LearntVectors", "Neighbour", "SkipGramConfig", "learn_vectors"]

_FIRST = UNKNOWN + 1  # the ids below stand for no word
_DRAWN = 256  # words drawn for a batch; its pairs share them, which makes one product of many


@dataclass(frozen=True)
@checked_settings
class SkipGramConfig:
    """How vectors are learnt: from which neighbours, against how many words drawn at random."""

    size: int = 64
    window: int = 5  # words to either side at most
    negatives: int = 5
    min_count: int = 10
    max_size: int = 5_000
    subsample: float = 1e-3  # a word with a larger share of the corpus is read less often
    epochs: int = 3
    batch_size: int = 1024
    learning_rate: float = 5e-3
    seed: int = 0

    def __post_init__(self) -> None:
        require_counts(self, "size", "window", "negatives", "min_count", "max_size", "epochs")
        require(0 < self.subsample <= 1, f"subsample must be above 0, got {self.subsample}")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A word, and the cosine of the angle between its vector and another's."""

    word: str
    similarity: float


@dataclass(frozen=True, slots=True, eq=False)
class LearntVectors:
    """A vector for every word, most frequent first, with how often the word was counted."""

    words: tuple[str, ...]
    counts: NDArray[np.int64]  # (words,)
    vectors: NDArray[np.float32]  # (words, size)

    def nearest(self, word: str, count: int = 5) -> list[Neighbour]:
        """Return the words whose vectors point most nearly the same way."""
        place = self.words.index(word)
        lengths = np.linalg.norm(self.vectors, axis=1)
        units = self.vectors / np.maximum(lengths, 1e-12)[:, None]
        similarities = units @ units[place]
        order = [other for other in np.argsort(-similarities, kind="stable") if other != place]
        return [Neighbour(self.words[at], float(similarities[at])) for at in order[:count]]

    def save(self, path: Path) -> None:
        """Write a word and its numbers a line, as ``train --vectors`` reads them."""
        with replacing(path) as file:
            file.write(f"{len(self.words)} {self.vectors.shape[1]}\n".encode())
            for word, vector in zip(self.words, self.vectors, strict=True):
                file.write(f"{word} {' '.join(f'{number:.5f}' for number in vector)}\n".encode())


@dataclass(frozen=True, slots=True)
class Lap:
    """An epoch that is done: the mean loss of its pairs, and the vectors so far."""

    epoch: int
    loss: float
    vectors: LearntVectors


def learn_vectors(texts: Sequence[str], config: SkipGramConfig) -> Iterator[Lap]:
    """Learn vectors of the frequent words of the texts; yield after every epoch."""
    settings = TextConfig(min_count=config.min_count, max_size=config.max_size)
    counted = count_words(tokenize_many(texts, settings), settings)
    vocab = Vocab.from_counts(counted, settings)
    words = tuple(vocab.words[_FIRST:])
    require(len(words) >= 2, f"no two words occur {config.min_count} times; lower min_count")
    counts = np.array([counted[word] for word in words])
    encoded = encode(texts, vocab, settings)
    with seeded(derived_seed(config.seed, "weights")):
        model = _SkipGram(len(words), config)
    optimizer = torch.optim.Adam(model.parameters(), lr=config.learning_rate, fused=True)
    random = np.random.default_rng(derived_seed(config.seed, "pairs"))
    reader = _Reader(encoded.ids - _FIRST, encoded.lengths, counts, config)
    for epoch in range(1, config.epochs + 1):
        costs = [_step(model, optimizer, batch) for batch in reader.batches(random)]
        vectors = model.centres.weight.detach().numpy().copy()
        yield Lap(epoch, float(np.mean(costs)), LearntVectors(words, counts, vectors))


def _step(model: _SkipGram, optimizer: torch.optim.Optimizer, batch: _Pairs) -> float:
    optimizer.zero_grad()
    cost = model(batch)
    cost.backward()
    optimizer.step()
    return float(cost.detach())


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Words with a neighbour of each, and words that were drawn at random."""

    centres: Tensor  # (pairs,)
    contexts: Tensor  # (pairs,)
    drawn: Tensor  # (drawn,)


class _Reader:
    """Reads a corpus, frequent words less often, and pairs each word with its neighbours."""

    def __init__(
        self,
        ids: NDArray[np.int32],
        lengths: NDArray[np.int64],
        counts: NDArray[np.int64],
        config: SkipGramConfig,
    ) -> None:
        known = ids >= 0
        self.ids = ids[known].astype(np.int64)
        self.texts = np.repeat(np.arange(len(lengths)), lengths)[known]
        # Both as in word2vec: how often a word is read, and how often it is drawn.
        self.kept = np.minimum(1.0, np.sqrt(config.subsample / (counts / counts.sum())))
        self.drawn = np.cumsum(counts**0.75)
        self.config = config

    def batches(self, random: np.random.Generator) -> Iterator[_Pairs]:
        """Read the corpus once; give its pairs in random order."""
        centres, contexts = self._pairs(random)
        order = random.permutation(len(centres))
        for start in range(0, len(order), self.config.batch_size):
            chosen = order[start : start + self.config.batch_size]
            places = random.random(_DRAWN) * self.drawn[-1]
            drawn = np.searchsorted(self.drawn, places, side="right")
            yield _Pairs(*map(torch.from_numpy, (centres[chosen], contexts[chosen], drawn)))

    def _pairs(self, random: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        read = random.random(len(self.ids)) < self.kept[self.ids]
        ids, texts = self.ids[read], self.texts[read]
        reach = random.integers(1, self.config.window + 1, len(ids))  # near ones count more
        centres, contexts = [], []
        for apart in range(1, self.config.window + 1):
            left, right = slice(None, -apart), slice(apart, None)
            together = texts[left] == texts[right]
            for here, there in ((left, right), (right, left)):
                seen = together & (reach[here] >= apart)
                centres.append(ids[here][seen])
                contexts.append(ids[there][seen])
        return np.concatenate(centres), np.concatenate(contexts)


class _SkipGram(nn.Module):
    """Tells the neighbours of a word from words drawn at random."""

    def __init__(self, words: int, config: SkipGramConfig) -> None:
        super().__init__()
        self.negatives = config.negatives
        self.centres = nn.Embedding(words, config.size)
        self.contexts = nn.Embedding(words, config.size)
        nn.init.uniform_(self.centres.weight, -0.5 / config.size, 0.5 / config.size)
        nn.init.zeros_(self.contexts.weight)

    def forward(self, batch: _Pairs) -> Tensor:
        """Say what telling the pairs from the words drawn costs, on average of the pairs, ()."""
        centres, contexts = self.centres(batch.centres), self.contexts(batch.contexts)
        near = logsigmoid((centres * contexts).sum(1))
        far = logsigmoid(-(centres @ self.contexts(batch.drawn).T)).mean(1)
        return -(near + self.negatives * far).mean()
