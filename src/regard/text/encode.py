"""From many texts straight to the ids of their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .document import Tokens, cut_tokens
from .numbering import Numbering
from .scanning import scanner_for
from .tokenize import TextConfig, tokenize
from .vocab import Vocab

__all__ = ["Encoded", "encode"]


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Texts as ids laid end to end, and where each token stands in its own text."""

    ids: NDArray[np.int32]  # (tokens,)
    spans: NDArray[np.int32]  # (tokens, 2)
    lengths: NDArray[np.int64]  # (texts,), tokens in each
    sentence_lengths: NDArray[np.int32]  # (sentences,), none is zero
    sentences: NDArray[np.int64]  # (texts,), sentences in each

    def __len__(self) -> int:
        """How many texts there are."""
        return len(self.lengths)

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text; ``texts`` are those that were encoded."""
        return cut_tokens(
            texts,
            self.spans,
            lengths=self.lengths,
            sentence_lengths=self.sentence_lengths,
            sentences=self.sentences,
        )


def encode(texts: Sequence[str], words: Vocab | Numbering, config: TextConfig) -> Encoded:
    """Find the tokens of each text, as ``tokenize`` does, and the ids of their words."""
    scanner = scanner_for(config)
    if scanner is None:
        return _encode_plainly(texts, words, config)
    found = scanner.scan(texts, words.search)
    return Encoded(
        ids=found.ids,
        spans=found.spans,
        lengths=found.lengths,
        sentence_lengths=found.sentence_lengths,
        sentences=found.sentences,
    )


def _encode_plainly(texts: Sequence[str], words: Vocab | Numbering, config: TextConfig) -> Encoded:
    found = [tokenize(text, config) for text in texts]
    return Encoded(
        ids=words.ids([word for tokens in found for word in tokens.words()]),
        spans=np.concatenate([np.empty((0, 2), np.int32), *(tokens.spans for tokens in found)]),
        lengths=np.array([len(tokens) for tokens in found], np.int64),
        sentence_lengths=np.concatenate(
            [np.empty(0, np.int32), *(tokens.per_sentence for tokens in found)]
        ),
        sentences=np.array([len(tokens.per_sentence) for tokens in found], np.int64),
    )
