"""A small BERT of random weights in a folder, for tests of what reads through one."""

from pathlib import Path

import torch

from regard.estimators.bert_folder import save_bert
from regard.models.bert import BertConfig
from regard.text.pieces import PiecesConfig, WordPieces

__all__ = ["small_bert"]


def small_bert(folder: Path, texts: list[str], *, longest: int = 32, size: int = 90) -> Path:
    """Write a BERT whose pieces are those of the texts; long words fall to several."""
    pieces = WordPieces.from_texts(lambda: texts, PiecesConfig(size=size))
    torch.manual_seed(3)
    shape = BertConfig(hidden_size=16, layers=2, heads=2, feed_size=32, longest=longest)
    save_bert(folder, shape.build(vocab_size=len(pieces)), pieces)
    return folder
