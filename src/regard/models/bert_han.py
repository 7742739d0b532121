"""A Hierarchical Attention Network that reads through BERT, documents of any length.

Every word has its pieces. BERT reads the pieces of a sentence, or of as many sentences as it has
places for; the states of a word's pieces make the word's vector, and from there on it is a HAN:
words make sentences, sentences make the document. Nothing is cut: a sentence that is longer than
BERT's places is read in several windows, and many windows are read a few at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from itertools import pairwise
from typing import ClassVar, Literal, Protocol, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import embedding

from ..config import checked_settings, require
from ..data.batch import Batch, tokens_per_document
from ..data.batches import cut_runs
from ..errors import ConfigError
from ..nn.dropout import drop
from ..nn.encoders import NoEncoder
from ..nn.levels import Level, Places
from ..nn.pooling import POOLINGS, Pooled, PoolingConfig
from ..nn.rows import row_mean, take_rows
from ..ragged import Ragged, send
from ..text.pieced import PiecesOfWords
from ..text.vocab import PADDING, UNKNOWN
from .base import Impose, Model, Output, SelfLooks, check_imposed
from .bert import Bert, BertConfig
from .han import HAN, HANConfig
from .words import omit_sentences

__all__ = ["BertHAN", "BertHANConfig", "SentenceStore", "plan_windows"]

PIECES_AT_ONCE = {"cpu": 8192, "cuda": 65_536}
"""How many pieces BERT reads in one go: what bounds memory, however long a document is."""

KEY_BYTES = 16
"""How long the name is by which a sentence is known again."""


@dataclass(frozen=True)
@checked_settings
class BertHANConfig(HANConfig):
    """Words are read by BERT, sentences and documents as a Hierarchical Attention Network has it.

    ``folder`` holds the weights to start from, and then says how large BERT is; without one it is
    a network of the size that is set here, over whole words, with fresh weights.
    """

    name: ClassVar[str] = "bert-han"

    folder: str = ""  # of a BERT: config.json, model.safetensors, vocab.txt or tokenizer.json
    tuned_layers: int | None = None  # how many of BERT's last layers learn; none: all of it learns
    bert_rate: float = 5e-5  # learning rate of BERT's last layer
    layer_decay: float = 0.9  # what each layer learns at, as a share of the rate of the one above
    word_pooling: Literal["attention", "mean"] = "attention"  # of words to sentences
    places: bool = False  # whether sentences weigh by where they stand too

    bert_layers: int = 2
    bert_heads: int = 2
    bert_feed_size: int = 256
    bert_longest: int = 512  # pieces that BERT has places for, its two marks counted
    bert_segments: int = 2
    bert_dropout: float = 0.1
    bert_activation: Literal["relu", "gelu"] = "gelu"
    bert_eps: float = 1e-12
    bert_pieces: int | None = None  # how many there are; none: each word is one

    embedding_size: int = 64  # of BERT's states
    word_dropout: float = 0.0
    vector_dropout: float = 0.1
    state_dropout: float = 0.1
    sentence_dropout: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        tuned = self.tuned_layers
        require(tuned is None or tuned >= 0, f"tuned_layers must be at least 0, got {tuned}")
        require(self.bert_rate > 0, f"bert_rate must be above 0, got {self.bert_rate}")
        decay = self.layer_decay
        require(0 < decay <= 1, f"layer_decay must be above 0 and at most 1, got {decay}")
        require(
            not self.places or self.pooling in ("attention", "structured"),
            f"places change what attention weighs; pooling is {self.pooling!r}",
        )
        pieces = self.bert_pieces
        require(pieces is None or pieces >= 1, f"bert_pieces must be at least 1, got {pieces}")
        self.bert  # noqa: B018 - it checks the sizes

    @property
    def bert(self) -> BertConfig:
        """The shape of BERT."""
        return BertConfig(
            hidden_size=self.embedding_size,
            layers=self.bert_layers,
            heads=self.bert_heads,
            feed_size=self.bert_feed_size,
            longest=self.bert_longest,
            segments=self.bert_segments,
            dropout=self.bert_dropout,
            activation=self.bert_activation,
            eps=self.bert_eps,
            pooler=False,
        )

    @property
    def frozen(self) -> bool:
        """Whether BERT stays as it is."""
        return self.tuned_layers == 0

    @property
    def fixed_sentences(self) -> bool:
        """Whether the vector of a sentence is the same through all of a training."""
        return self.frozen and self.word_pooling == "mean" and self.reading == "isolated"

    def build(self, *, vocab_size: int, label_count: int) -> BertHAN:
        """Make the network, with fresh weights drawn from torch's seed."""
        return BertHAN(self, vocab_size=vocab_size, label_count=label_count)

    def build_words(self) -> Level:
        """Make the level that pools the words of a sentence, which BERT has read."""
        pooling = self.pooling if self.word_pooling == "attention" else self.word_pooling
        settings = PoolingConfig(self.attention_size, self.score, self.hops, 1)
        made = POOLINGS[pooling](self.embedding_size, settings)
        return Level(NoEncoder(self.embedding_size), made)


class SentenceStore(Protocol):
    """Keeps vectors of sentences by what the sentences say."""

    def find(self, keys: Sequence[bytes]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return the vectors, (keys, size), and which of them are known, (keys,)."""
        ...

    def add(self, keys: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        """Keep more vectors."""
        ...


class PieceEmbedding(nn.Module):
    """One vector a word: the mean of the vectors of its pieces, as they enter BERT."""

    pieces: Tensor  # of all words
    first: Tensor  # (words,), where the pieces of each begin
    lengths: Tensor  # (words,)
    start: int
    end: int

    def __init__(self, table: nn.Embedding, words: int) -> None:
        super().__init__()
        self.table = table
        self.embedding_dim = table.embedding_dim
        self.set_words(PiecesOfWords.one_each(words))

    @property
    def weight(self) -> Tensor:
        """The vectors of the pieces, (pieces, size)."""
        return self.table.weight

    def set_words(self, words: PiecesOfWords) -> None:
        """Say which pieces each word has."""
        device = self.weight.device
        first = np.cumsum(words.lengths) - words.lengths
        for name, numbers in (
            ("pieces", words.pieces),
            ("first", first),
            ("lengths", words.lengths),
        ):
            kept = torch.from_numpy(np.ascontiguousarray(numbers, dtype=np.int64)).to(device)
            self.register_buffer(name, kept, persistent=False)
        self.start, self.end = words.start, words.end

    def cut(self, ids: Tensor) -> Ragged:
        """The pieces of words, one row a word."""
        lengths = self.lengths.index_select(0, ids)
        starts = lengths.cumsum(0) - lengths
        shifts = torch.repeat_interleave(self.first.index_select(0, ids) - starts, lengths)
        places = torch.arange(len(shifts), device=ids.device) + shifts
        return Ragged(self.pieces.index_select(0, places), lengths)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the vectors of words, (words, size)."""
        pieces = self.cut(ids)
        return row_mean(pieces.with_values(embedding(pieces.values, self.weight)))


class BertHAN(HAN):
    """Classify documents by their sentences, and sentences by words that BERT has read."""

    def __init__(self, config: BertHANConfig, *, vocab_size: int, label_count: int) -> None:
        Model.__init__(self)
        self.config: BertHANConfig = config
        self.bert = config.bert.build(vocab_size=config.bert_pieces or vocab_size + 2)
        # One table with two readers: it is saved, moved and frozen as the words' alone.
        table = self.bert.embedding
        del self.bert.embedding
        object.__setattr__(self.bert, "embedding", table)
        self.embedding = PieceEmbedding(table, vocab_size)  # type: ignore[assignment]
        with torch.no_grad():
            table.weight[PADDING] = 0
        self.words = config.build_words()
        self.sentences = config.build_level(
            self.words.output_size,
            config.sentence_hidden_size or config.hidden_size,
            own=config.weighing == "sentences",
            places=Places(config.sentence_dropout) if config.places else None,
        )
        self.classify = nn.Linear(self.sentences.output_size, label_count)
        self.store: SentenceStore | None = None
        self._freeze()

    @property
    def pieces(self) -> PieceEmbedding:
        """The words by their pieces."""
        return self.embedding  # type: ignore[return-value]

    def set_words(self, words: PiecesOfWords) -> None:
        """Say which pieces each word has."""
        require(
            words.pieces.max(initial=0) < self.pieces.table.num_embeddings,
            "the words have pieces that BERT has no vectors for",
        )
        self.pieces.set_words(words)

    def set_vectors(self, vectors: Tensor, known: Tensor) -> None:
        """Refuse vectors of words: those of the pieces come with BERT."""
        raise ConfigError("bert-han starts from network.folder, and not from vectors of words")

    def take_weights(self, bert: Bert) -> None:
        """Start from the weights of another BERT of this shape."""
        given = {name: part for name, part in bert.state_dict().items() if "pooler" not in name}
        with torch.no_grad():
            self.pieces.weight.copy_(given.pop("embedding.weight"))
        self.bert.load_state_dict(given)

    def _freeze(self) -> None:
        """Ask for gradients of the layers that learn alone."""
        tuned, blocks = self.config.tuned_layers, list(self.bert.blocks)
        if tuned is None:
            return
        learning = blocks[len(blocks) - tuned :] if tuned else []
        for part in (self.embedding, self.bert):
            part.requires_grad_(False)
        for block in learning:
            block.requires_grad_(True)

    def learning_rates(self) -> Mapping[str, float]:
        """The learning rate of each part of BERT, by how the names of its weights begin."""
        config, layers = self.config, len(self.bert.blocks)
        decays = [config.layer_decay ** (layers - 1 - layer) for layer in range(layers)]
        below = config.bert_rate * config.layer_decay**layers
        rates = {f"bert.blocks.{n}.": config.bert_rate * decay for n, decay in enumerate(decays)}
        return {"embedding.": below, "bert.": below, **rates}

    def train(self, mode: bool = True) -> Self:
        """Learn or rest; a BERT that does not learn is always at rest."""
        super().train(mode)
        if self.config.frozen:
            self.bert.eval()
        return self

    def forward(self, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify every document of the batch."""
        if self.training and impose is None:
            batch = self._lose_words(omit_sentences(batch, self.config.sentence_dropout))
        return self._conclude(self._sentences(batch, impose or {}), batch, impose or {})

    def embed(self, batch: Batch) -> Ragged:
        """Return a vector a word, the mean of its pieces', (tokens, size), one row a sentence."""
        return batch.ids.with_values(self.pieces(batch.ids.values))

    def from_vectors(self, words: Ragged, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify from given word vectors, one row a sentence.

        By as much as a given vector differs from the word's own, all of its pieces are moved.
        """
        moved = words.values - self.pieces(batch.ids.values)
        pooled = self._attend_to_words(self.read(batch, moved), batch, impose or {})
        return self._conclude(pooled, batch, impose or {})

    def sentence_vectors(self, batch: Batch, impose: Impose | None = None) -> Ragged:
        """Return one vector a sentence, one row a document."""
        return Ragged(self._sentences(batch, impose or {}).vectors, batch.sentences)

    def read(self, batch: Batch, moved: Tensor | None = None) -> Ragged:
        """Return the vector of every word in its context, (tokens, size), one row a sentence.

        ``moved``, (tokens, size), is added to the vectors of each word's pieces as they enter.
        """
        pieces = self.pieces.cut(batch.ids.values)
        windows = self.windows(batch, pieces.lengths)
        words = row_mean(pieces.with_values(self._states(pieces, windows, moved)))
        return batch.ids.with_values(drop(words, self.config.vector_dropout, self.training))

    def self_attention(self, batch: Batch) -> Iterator[SelfLooks]:
        """Yield where the words look in each window; what goes to BERT's marks is left out.

        A word is asked by the mean of its pieces, and is looked at by all of them together.
        """
        pieces = self.pieces.cut(batch.ids.values)
        marks = [pieces.values.new_tensor([mark]) for mark in (self.pieces.start, self.pieces.end)]
        last = 0
        for size in self.windows(batch, pieces.lengths):
            first, last = last, last + size
            row = torch.cat([marks[0], pieces.values[first:last], marks[1]])
            alone = Ragged(row, row.new_tensor([len(row)]))
            whole = [
                layer.values.view(len(row), len(row), -1).permute(2, 0, 1)
                for layer in self.bert.weights(alone)
            ]
            inner = torch.stack(whole)[..., 1:-1, 1:-1].float()
            words, homes = torch.unique_consecutive(pieces.row_ids[first:last], return_inverse=True)
            shape = (*inner.shape[:2], len(words), size)
            asked = inner.new_zeros(shape).index_add(2, homes, inner)
            asked = asked / homes.bincount()[:, None]
            seen = asked.new_zeros(*shape[:3], len(words)).index_add(3, homes, asked)
            yield SelfLooks(words, seen)

    def windows(self, batch: Batch, lengths: Tensor) -> list[int]:
        """How many pieces BERT reads in each window; ``lengths`` are those of the words."""
        shape = batch.shape
        return plan_windows(
            lengths.cpu().numpy(),
            shape.sentence_lengths.numpy(),
            shape.sentences.numpy(),
            room=self.config.bert_longest - 2,
            flow=self.config.reading == "flow",
        )

    def _sentences(self, batch: Batch, impose: Impose) -> Pooled:
        if not self.config.fixed_sentences or "word" in impose:
            return self._attend_to_words(self.read(batch), batch, impose)
        check_imposed(impose, {"word": len(batch.ids.values), "sentence": len(batch.ids)})
        shares = 1.0 / batch.ids.lengths.clamp(min=1).to(self.pieces.weight.dtype)
        weights = batch.ids.with_values(shares.index_select(0, batch.ids.row_ids))
        vectors = drop(self._fixed_vectors(batch), self.config.vector_dropout, self.training)
        return Pooled(vectors, weights)

    def _fixed_vectors(self, batch: Batch) -> Tensor:
        """The mean of the words of each sentence, (sentences, size), from the store if it is known.

        Each distinct sentence is read once.
        """
        store, device = self.store, batch.ids.values.device
        if store is None or (self.training and self.config.word_dropout):
            return self._mean_vectors(batch)
        keys = self._keys(batch)
        found, known = store.find(keys)
        first = {key: place for place, key in reversed(list(enumerate(keys)))}
        missing = [place for key, place in first.items() if not known[place]]
        if missing:
            rows = torch.tensor(missing, device=device)
            fresh = take_rows(batch.ids, rows)
            one = torch.tensor([len(missing)], device=device)
            made = self._mean_vectors(Batch(fresh, one)).cpu().numpy()
            store.add([keys[place] for place in missing], made)
            by_key = {keys[place]: row for place, row in zip(missing, made, strict=True)}
            for place in np.flatnonzero(~known).tolist():
                found[place] = by_key[keys[place]]
        return send(torch.from_numpy(found), device)

    def _mean_vectors(self, batch: Batch) -> Tensor:
        with torch.no_grad(), torch.autocast(batch.ids.values.device.type, enabled=False):
            pieces = self.pieces.cut(batch.ids.values)
            states = self._states(pieces, self.windows(batch, pieces.lengths), None)
            return row_mean(batch.ids.with_values(row_mean(pieces.with_values(states))))

    def _keys(self, batch: Batch) -> list[bytes]:
        """What each sentence says, in few bytes."""
        pieces = self.pieces.cut(batch.ids.values)
        counts = tokens_per_document(pieces.lengths, batch.ids.lengths).cpu().numpy()
        ends = np.cumsum(counts).tolist()
        # How a word is cut off from the next matters too: a mean of words is no mean of pieces.
        marks = torch.repeat_interleave(pieces.lengths, pieces.lengths)
        content = torch.stack([pieces.values, marks], 1).int().cpu().numpy()
        return [
            blake2b(content[start:end].tobytes(), digest_size=KEY_BYTES).digest()
            for start, end in pairwise([0, *ends])
        ]

    def _states(self, pieces: Ragged, windows: Sequence[int], moved: Tensor | None) -> Tensor:
        """The state of every piece, (pieces, size), read a few windows at a time."""
        if not len(pieces.values):
            return self.pieces.weight.new_zeros(0, self.config.embedding_size)
        from torch.utils.checkpoint import checkpoint

        limit = PIECES_AT_ONCE.get(pieces.values.device.type, PIECES_AT_ONCE["cpu"])
        runs = list(cut_runs(np.array(windows), most_items=len(windows), most_total=limit))
        learns = torch.is_grad_enabled() and len(runs) > 1
        found: list[Tensor] = []
        first = 0
        for run in runs:
            lengths = windows[run]
            last = first + sum(lengths)
            given = None if moved is None else moved.index_select(0, pieces.row_ids[first:last])
            read = partial(self._read_windows, lengths=lengths)
            part = pieces.values[first:last]
            # What a long document needs to learn by is not kept, but read again.
            found.append(
                cast(Tensor, checkpoint(read, part, given, use_reentrant=False))
                if learns
                else read(part, given)
            )
            first = last
        return torch.cat(found)

    def _read_windows(
        self, pieces: Tensor, moved: Tensor | None, *, lengths: Sequence[int]
    ) -> Tensor:
        """The states of pieces, (pieces, size), that are read in windows of these lengths."""
        sizes = np.array(lengths, dtype=np.int64)
        ends = np.cumsum(sizes + 2) - 1
        homes = np.repeat(np.arange(len(sizes)), sizes)
        device = pieces.device
        starts, places, rows = (
            send(torch.from_numpy(numbers), device)
            for numbers in (ends - sizes - 1, np.arange(len(homes)) + 2 * homes + 1, sizes + 2)
        )
        marked = pieces.new_full((len(pieces) + 2 * len(sizes),), self.pieces.end)
        marked = marked.index_fill(0, starts, self.pieces.start).index_copy(0, places, pieces)
        vectors = embedding(marked, self.pieces.weight)
        if moved is not None:
            vectors = vectors.index_add(0, places, moved)
        read = self.bert.from_vectors(Ragged.knowing(vectors, rows, (sizes + 2).tolist()))
        return read.values.index_select(0, places)

    def _lose_words(self, batch: Batch) -> Batch:
        """Read a share of the words as unknown ones."""
        share = self.config.word_dropout
        if not share:
            return batch
        lost = torch.rand(batch.ids.values.shape, device=batch.ids.values.device) < share
        ids = batch.ids.with_values(batch.ids.values.masked_fill(lost, UNKNOWN))
        return replace(batch, ids=ids)


def plan_windows(
    words: NDArray[np.int64],
    sentences: NDArray[np.int64],
    documents: NDArray[np.int64],
    *,
    room: int,
    flow: bool,
) -> list[int]:
    """Say how many pieces each window has, none more than ``room``, in the order of the text.

    ``words`` has the pieces of each word, ``sentences`` the words of each sentence, ``documents``
    the sentences of each document. A window is one sentence, or with ``flow`` as many sentences of
    a document as it has room for. A longer sentence is cut at the ends of words into windows of
    about the same size; a word that has no room in one goes on in the next.
    """
    ends = np.concatenate([[0], np.cumsum(words)])[np.cumsum(sentences)]
    totals = np.diff(ends, prepend=0)
    if not flow and not (totals > room).any():
        return totals[totals > 0].tolist()
    last_words = np.cumsum(sentences)
    windows: list[int] = []
    for first, last in pairwise([0, *np.cumsum(documents).tolist()]):
        filled = 0
        for sentence in range(first, last):
            total = int(totals[sentence])
            if filled and (not flow or filled + total > room):
                windows.append(filled)
                filled = 0
            if total > room:
                end = int(last_words[sentence])
                windows += _cut_sentence(words[end - int(sentences[sentence]) : end].tolist(), room)
            else:
                filled += total
        if filled:
            windows.append(filled)
    return windows


def _cut_sentence(words: Sequence[int], room: int) -> list[int]:
    """The windows of a sentence that is longer than one of them."""
    total = sum(words)
    count = -(-total // room)
    aim = -(-total // count)
    windows: list[int] = []
    filled = 0
    for length in words:
        if filled and (filled >= aim or filled + length > room):
            windows.append(filled)
            filled = 0
        while length > room:
            windows.append(room)
            length -= room
        filled += length
    return [*windows, filled] if filled else windows
