"""Word vectors for a network to start from, learnt from its own texts and others without labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import torch
from torch import Tensor

from ..data.vectors import Coverage, WordVectors
from ..text.document import Document
from ..text.encode import encode
from ..text.tokenize import TextConfig
from ..training.seeds import derived_seed
from ..training.word_vectors import TokenRows, learn_vectors
from .training_documents import Prepared

__all__ = ["MOST_TOKENS", "learn_own_vectors"]

MOST_TOKENS = 6_000_000
"""Of the training texts, and of those without labels: what is read of either at most."""
_LOT = 1 << 22  # characters of the texts that are read at once


def learn_own_vectors(
    data: Prepared,
    unlabelled: Iterable[Document] | None,
    *,
    text: TextConfig,
    size: int,
    seed: int,
    report: Callable[[int, int], None],
) -> WordVectors:
    """Learn vectors of the vocabulary's words from the training texts and ``unlabelled`` ones.

    Texts that are held out are not read. ``report`` is told how many words of how many at most.
    """
    lots, tokens, most = [], 0, MOST_TOKENS if unlabelled is None else 2 * MOST_TOKENS
    for part in (_own(data, seed), _others(unlabelled or (), data, text)):
        end = tokens + MOST_TOKENS
        for lot in part:
            report(min(tokens, most), most)
            lots.append(lot)
            tokens += len(lot.ids)
            if tokens >= end:
                break
    matrix, known = learn_vectors(
        lots, word_count=len(data.vocab), size=size, seed=derived_seed(seed, "vectors") % 2**32
    )
    times = sum((np.bincount(lot.ids, minlength=len(known)) for lot in lots), np.zeros(len(known)))
    words = len(data.vocab) - 2
    coverage = Coverage(
        file="learnt from " + ("the training texts" if unlabelled is None else "all texts given"),
        size=size,
        words=words,
        found=int(known.sum()),
        found_in_lower_case=0,
        token_share=float(times[known].sum() / max(times.sum(), 1)),
        damaged=0,
    )
    return WordVectors(matrix, known, coverage)


def _own(data: Prepared, seed: int) -> Iterator[TokenRows]:
    """The training texts, in a drawn order: where not all are read, files may be sorted."""
    draw = np.random.default_rng(derived_seed(seed, "texts"))
    for places in data.corpus.blocks(draw.permutation(data.training)):
        batch = data.corpus.batch(places)
        yield TokenRows(batch.ids.values.numpy(), _numbers(batch.ids.lengths))


def _others(documents: Iterable[Document], data: Prepared, text: TextConfig) -> Iterator[TokenRows]:
    """Texts without labels, by the ids of the vocabulary."""
    lot: list[str] = []
    characters = 0
    for document in documents:
        lot.append(document.text)
        characters += len(document.text)
        if characters >= _LOT:
            yield _encoded(lot, data, text)
            lot, characters = [], 0
    if lot:
        yield _encoded(lot, data, text)


def _encoded(texts: list[str], data: Prepared, text: TextConfig) -> TokenRows:
    found = encode(texts, data.vocab, text)
    return TokenRows(found.ids.astype(np.int64), found.sentence_lengths.astype(np.int64))


def _numbers(lengths: Tensor) -> np.ndarray:
    return lengths.to(torch.int64).numpy()
