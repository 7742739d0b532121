"""From many texts straight to the ids of their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..kernels.scan import Encoded
from .tokenize import TextConfig, scanner_for, tokenize

if TYPE_CHECKING:
    from .vocab import Numbering, Vocab

__all__ = ["Encoded", "encode"]


def encode(texts: Sequence[str], words: Vocab | Numbering, config: TextConfig) -> Encoded:
    """Find the tokens of each text, as ``tokenize`` does, and the ids of their words."""
    scanner = scanner_for(config)
    if scanner is None:
        return _encode_plainly(texts, words, config)
    return scanner.scan(texts, words.search)


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
