"""What a classifier that reads through BERT starts from: the folder of a BERT."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from ..data.sentence_store import StoredSentences, cache_folder
from ..models.base import Model, ModelConfig
from ..models.bert import Bert
from ..models.bert_han import BertHAN, BertHANConfig
from ..models.ensemble import Ensemble
from ..text.pieced import PiecedVocab
from ..text.pieces import WordPieces
from ..text.tokenize import TextConfig
from ..text.vocab import Vocab
from .bert_folder import load_bert

__all__ = ["Pretrained", "know_words", "read_pretrained"]


@dataclass(frozen=True, eq=False)
class Pretrained:
    """A BERT, its pieces, and the settings of a network of its size."""

    bert: Bert
    pieces: WordPieces
    network: BertHANConfig

    def build_vocab(self, counts: Mapping[str, int], text: TextConfig) -> PiecedVocab:
        """Make the vocabulary of the words that were counted."""
        return PiecedVocab.of(counts, text, self.pieces)

    def start(self, model: Model, vocab: Vocab) -> None:
        """Give a fresh network the weights of BERT."""
        assert isinstance(model, BertHAN)
        model.take_weights(self.bert)
        know_words(model, vocab)


def read_pretrained(network: ModelConfig) -> Pretrained | None:
    """Read the BERT that the settings name; nothing where they name none."""
    if not isinstance(network, BertHANConfig) or not network.folder:
        return None
    bert, pieces = load_bert(Path(network.folder).expanduser())
    shape = bert.config
    sized = replace(
        network,
        embedding_size=shape.hidden_size,
        bert_layers=shape.layers,
        bert_heads=shape.heads,
        bert_feed_size=shape.feed_size,
        bert_longest=shape.longest,
        bert_segments=shape.segments,
        bert_activation=shape.activation,
        bert_eps=shape.eps,
        bert_pieces=bert.vocab_size,
    )
    return Pretrained(bert, pieces, sized)


def know_words(model: Model, vocab: Vocab) -> None:
    """Tell a network that reads through BERT the pieces of the words; others need none.

    Where the vectors of its sentences never change, it may keep them on disk.
    """
    if isinstance(model, Ensemble):
        for member in model.members:
            know_words(cast(Model, member), vocab)
    if isinstance(model, BertHAN) and isinstance(vocab, PiecedVocab):
        model.set_words(vocab.table)
        if model.config.fixed_sentences:
            model.store = _open_store(model)


def _open_store(model: BertHAN) -> StoredSentences | None:
    """The store of this BERT, by the digest of its weights; none where nothing can be written."""
    marks = (model.config.bert, model.pieces.start, model.pieces.end)
    digest = hashlib.sha256(repr(marks).encode())
    parts = {"embedding": model.pieces.weight, **dict(model.bert.named_parameters())}
    for name in sorted(parts):
        digest.update(name.encode())
        digest.update(parts[name].detach().cpu().numpy().tobytes())
    folder = cache_folder() / "sentences" / digest.hexdigest()[:32]
    try:
        return StoredSentences(folder, model.config.embedding_size)
    except OSError as problem:
        warnings.warn(f"sentence vectors cannot be kept in {folder} ({problem})", stacklevel=2)
        return None
