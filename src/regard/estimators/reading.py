"""How a fitted model reads texts it has never seen: in bounded batches, answers in order."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.batch import Batch, gather
from ..data.caps import Caps, cut, left_of
from ..data.flat import cut_runs
from ..models.base import Model
from ..text.document import Tokens
from ..text.encode import Encoded, encode
from ..text.tokenize import TextConfig
from ..text.vocab import UNKNOWN, Vocab

__all__ = ["Answered", "Read", "TextReader", "chunks"]

T = TypeVar("T")
CHUNK = 1024  # texts that are tokenised and sorted by length together
BATCH_TOKENS = 32_768  # bounds the memory of one forward pass


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """Some of the texts that were asked for, as a batch, and their places among all of them."""

    places: tuple[int, ...]
    batch: Batch
    complete: tuple[Tokens, ...]  # before any cap


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """What a model says of texts, in their order, and what it could read of them."""

    logits: Tensor  # (texts, classes)
    lengths: NDArray[np.int64]  # (texts,), tokens in each before any cap
    unknown: int  # tokens that are not in the vocabulary


@dataclass(frozen=True, eq=False)
class TextReader:
    """Turns texts into batches as the training data were turned into theirs."""

    vocab: Vocab
    text: TextConfig
    device: torch.device

    def batches(self, texts: Sequence[str]) -> Iterator[Read]:
        """Read the texts in batches of similar lengths; the places say which is which."""
        complete = encode(texts, self.vocab, self.text)
        kept = self._capped(complete)
        whole = complete.tokens(texts)
        left = whole if kept is complete else kept.tokens(texts)
        for chosen in _budgeted(kept):
            places = tuple(chosen.tolist())
            batch = gather(kept, chosen).to(self.device)
            batch = replace(batch, texts=tuple(left[place] for place in places))
            yield Read(places, batch, tuple(whole[place] for place in places))

    def answer(self, model: Model, texts: Sequence[str]) -> Answered:
        """Let the model answer the texts, in batches of similar lengths."""
        model.eval()
        complete = encode(texts, self.vocab, self.text)
        kept = self._capped(complete)
        unknown = int((complete.ids == UNKNOWN).sum())
        order = list(_budgeted(kept))
        if not order:
            return Answered(torch.zeros(0, 0), complete.lengths, unknown)
        with torch.inference_mode():
            parts = [model(gather(kept, places).to(self.device)).logits for places in order]
        gathered = torch.cat(parts).float().cpu()
        ordered = torch.empty_like(gathered)
        ordered[torch.from_numpy(np.concatenate(order))] = gathered
        return Answered(ordered, complete.lengths, unknown)

    def _capped(self, encoded: Encoded) -> Encoded:
        caps = Caps(self.text.max_sentences, self.text.max_words)
        if not caps:
            return encoded
        lengths = encoded.sentence_lengths.astype(np.int64)
        return left_of(encoded, cut(lengths, encoded.sentences, caps))


def chunks(items: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    """Cut a stream into lists of at most ``size`` items."""
    stream = iter(items)
    while chunk := list(itertools.islice(stream, size)):
        yield chunk


def _budgeted(texts: Encoded) -> Iterator[NDArray[np.int64]]:
    """Order the texts by length and cut them into batches of at most so many tokens."""
    order = np.argsort(texts.lengths, kind="stable")
    for run in cut_runs(texts.lengths[order], most_items=len(order), most_total=BATCH_TOKENS):
        yield order[run]
