"""How an exported folder reads texts: to the numbers that its model takes, with NumPy alone.

This file and those it needs are copied into the folder (``export/onnx_folder.py``), so it must not
import anything of ours but ``text``, and what that needs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .document import Tokens, cut_tokens
from .tokenize import TextConfig
from .vocab import Vocab

__all__ = ["Read", "Reader"]


@dataclass(frozen=True)
class Read:
    """Texts as the model takes them, and where the words of each stand in it."""

    inputs: dict[str, NDArray[np.int64]]
    texts: list[Tokens]  # .words(), .spans, .sentence_spans()


class Reader:
    """Reads texts as the model was trained to."""

    def __init__(self, folder: str | Path) -> None:
        """Read vocab.txt and config.json of an exported folder."""
        config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
        self.labels: list[str | int] = config["labels"]
        self.multilabel: bool = config["multilabel"]
        self._caps = {"sentences": config["max_sentences"], "tokens": config["max_words"]}
        names = ("lowercase", "cjk", "hangul", "reading", "unknown")
        text = TextConfig(**{name: config[name] for name in names})
        self._vocab = Vocab.load(Path(folder) / "vocab.txt", text)

    def read(self, texts: Sequence[str]) -> Read:
        """Find the sentences and words of texts, and the ids of the words."""
        found = self._vocab.encode(texts)
        tokens = cut_tokens(texts, found)
        ids, lengths = found.ids, found.sentence_lengths
        if any(self._caps.values()):
            tokens = [text.truncated(**self._caps) for text in tokens]
            ids = self._vocab.ids([word for text in tokens for word in text.words()])
            lengths = np.concatenate([np.zeros(0, np.int32), *(one.per_sentence for one in tokens)])
        inputs = {
            "word_ids": ids.astype(np.int64),
            "sentence_lengths": lengths.astype(np.int64),
            "document_lengths": np.array([len(one.per_sentence) for one in tokens], np.int64),
        }
        return Read(inputs, tokens)
