"""How a fitted model reads texts it has never seen: in bounded batches, answers in order."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.batch import Batch, gather
from ..data.batches import cut_runs
from ..data.caps import Caps, count_cuts, cut, left_of
from ..data.readers import read_strings
from ..data.threads import ahead
from ..models.base import Model
from ..nn.dropout import in_evaluation
from ..nn.levels import Kept
from ..text.document import Tokens, cut_stream, cut_tokens
from ..text.encode import Encoded
from ..text.tokenize import TextConfig, join_words
from ..text.vocab import UNKNOWN, Vocab

__all__ = ["Answered", "CappedTexts", "Read", "TextReader", "chunks", "text_chunks"]

T = TypeVar("T")
CHUNK = 1024  # texts that are tokenised and sorted by length together, at most
CHUNK_CHARACTERS = 1 << 22  # the characters of a chunk, unless one text has more
BATCH_TOKENS = 32_768  # bounds the memory of one forward pass whose states are kept
ANSWER_TOKENS = 131_072  # the same where only the answer is; so large that overhead is lost in it


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
    unknown: int  # tokens that are read as no known word
    cuts: NDArray[np.int64] | None = None  # what caps took from each, as ``count_cuts`` has it


@dataclass(frozen=True, slots=True, eq=False)
class CappedTexts:
    """Texts as a model is to read them, and what is known of them before any cap."""

    kept: Encoded
    lengths: NDArray[np.int64]  # (texts,)
    unknown: int
    cuts: NDArray[np.int64] | None = None

    def batches(self, most_tokens: int) -> Iterator[NDArray[np.int64]]:
        """Order the texts by length and cut them into batches of at most so many tokens."""
        order = np.argsort(self.kept.lengths, kind="stable")
        lengths = self.kept.lengths[order]
        for run in cut_runs(lengths, most_items=len(order), most_total=most_tokens):
            yield order[run]


@dataclass(frozen=True, eq=False)
class TextReader:
    """Turns texts into batches as the training data were turned into theirs."""

    vocab: Vocab
    text: TextConfig
    device: torch.device
    kept: Kept = field(default_factory=Kept, repr=False)  # for the next answer

    @property
    def caps(self) -> Caps:
        """How much of a text is read at most."""
        return Caps(self.text.max_sentences, self.text.max_words)

    def batches(self, texts: Sequence[str]) -> Iterator[Read]:
        """Read the texts in batches of similar lengths; the places say which is which."""
        complete = self.vocab.encode(texts)
        scanned = self._scanned(complete)
        whole = cut_tokens(texts, complete)
        left = whole if scanned.kept is complete else cut_tokens(texts, scanned.kept)
        for chosen in scanned.batches(BATCH_TOKENS):
            places = tuple(chosen.tolist())
            batch = gather(scanned.kept, chosen).to(self.device)
            batch = replace(
                batch, texts=tuple(join_words(left[place], self.text) for place in places)
            )
            yield Read(places, batch, tuple(whole[place] for place in places))

    def scan(self, texts: Sequence[str]) -> CappedTexts:
        """Find the words of the texts; needs no model, and lets other threads work meanwhile."""
        return self._scanned(self.vocab.encode(texts))

    def answer(self, model: Model, texts: Sequence[str] | CappedTexts) -> Answered:
        """Let the model answer the texts, in batches of similar lengths."""
        scanned = texts if isinstance(texts, CappedTexts) else self.scan(texts)
        order = list(scanned.batches(ANSWER_TOKENS))
        if not order:
            return Answered(torch.zeros(0, 0), scanned.lengths, scanned.unknown, scanned.cuts)
        with in_evaluation(model), torch.inference_mode(), self.kept.in_use():
            parts = [model(gather(scanned.kept, places).to(self.device)).logits for places in order]
        gathered = torch.cat(parts).float().cpu()
        ordered = torch.empty_like(gathered)
        ordered[torch.from_numpy(np.concatenate(order))] = gathered
        return Answered(ordered, scanned.lengths, scanned.unknown, scanned.cuts)

    def stream(self, model: Model, texts: Iterable[object]) -> Iterator[Answered]:
        """Let the model answer a stream of strings chunk by chunk, in memory that does not grow."""
        scanned = (self.scan(chunk) for chunk in text_chunks(read_strings(texts), len))
        # With a second thread the next texts are scanned while the model reads these.
        for chunk in scanned if torch.get_num_threads() == 1 else ahead(scanned, 1):
            yield self.answer(model, chunk)

    def _scanned(self, complete: Encoded) -> CappedTexts:
        unknown = int((complete.ids == UNKNOWN).sum())
        if not self.caps:
            return CappedTexts(complete, complete.lengths, unknown)
        lengths = complete.sentence_lengths.astype(np.int64)
        kept = cut(lengths, complete.sentences, self.caps)
        cuts = count_cuts(lengths, complete.sentences, kept)
        return CappedTexts(left_of(complete, kept), complete.lengths, unknown, cuts)


def chunks(items: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    """Cut a stream into lists of at most ``size`` items."""
    stream = iter(items)
    while chunk := list(itertools.islice(stream, size)):
        yield chunk


def text_chunks(texts: Iterable[T], characters: Callable[[T], int]) -> Iterator[list[T]]:
    """Cut a stream of texts into lists that are bounded in texts and in characters."""
    return cut_stream(texts, characters, most_texts=CHUNK, most_characters=CHUNK_CHARACTERS)
