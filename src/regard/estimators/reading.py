"""How a fitted model reads texts it has never seen: in bounded batches, answers in order."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.batch import Batch, collate
from ..models.base import Model
from ..text.document import Tokens
from ..text.tokenize import TextConfig, tokenize
from ..text.vocab import Vocab

__all__ = ["Read", "TextReader", "chunks"]

T = TypeVar("T")
CHUNK = 1024  # texts that are tokenised and sorted by length together
BATCH_TOKENS = 32_768  # bounds the memory of one forward pass


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """Some of the texts that were asked for, as a batch, and their places among all of them."""

    places: tuple[int, ...]
    batch: Batch
    complete: tuple[Tokens, ...]  # before any cap


@dataclass(frozen=True, eq=False)
class TextReader:
    """Turns texts into batches as the training data were turned into theirs."""

    vocab: Vocab
    text: TextConfig
    device: torch.device

    def batches(self, texts: Sequence[str]) -> Iterator[Read]:
        """Read the texts in batches of similar lengths; the places say which is which."""
        complete = [tokenize(text, self.text) for text in texts]
        order = np.argsort([len(tokens) for tokens in complete], kind="stable").tolist()
        for places in _budgeted(order, complete):
            whole = tuple(complete[place] for place in places)
            kept = [self._capped(tokens) for tokens in whole]
            yield Read(places, collate(kept, self.vocab).to(self.device), whole)

    def logits(self, model: Model, texts: Sequence[str]) -> tuple[Tensor, NDArray[np.int64]]:
        """Return the logits, (texts, classes), and how many tokens each text has."""
        model.eval()
        parts: list[Tensor] = []
        places: list[int] = []
        lengths = np.zeros(len(texts), dtype=np.int64)
        with torch.inference_mode():
            for read in self.batches(texts):
                parts.append(model(read.batch).logits)
                places += read.places
                lengths[list(read.places)] = [len(tokens) for tokens in read.complete]
        if not parts:
            return torch.zeros(0, 0), lengths
        gathered = torch.cat(parts).float().cpu()
        ordered = torch.empty_like(gathered)
        ordered[torch.tensor(places)] = gathered
        return ordered, lengths

    def _capped(self, tokens: Tokens) -> Tokens:
        if self.text.max_sentences is None and self.text.max_words is None:
            return tokens
        return tokens.truncated(sentences=self.text.max_sentences, tokens=self.text.max_words)


def chunks(items: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    """Cut a stream into lists of at most ``size`` items."""
    stream = iter(items)
    while chunk := list(itertools.islice(stream, size)):
        yield chunk


def _budgeted(order: Sequence[int], texts: Sequence[Tokens]) -> Iterator[tuple[int, ...]]:
    """Cut the order into batches of at most so many tokens, at least one text each."""
    places: list[int] = []
    tokens = 0
    for place in order:
        if places and tokens + len(texts[place]) > BATCH_TOKENS:
            yield tuple(places)
            places, tokens = [], 0
        places.append(place)
        tokens += len(texts[place])
    if places:
        yield tuple(places)
