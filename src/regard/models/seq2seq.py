"""Sequence to sequence: an encoder reads, a decoder writes, and attention says where it looked.

The decoders are those of Sutskever et al. (2014) and Cho et al. (2014), which know of the source
what its last state holds, and those of Bahdanau et al. (2015), Luong et al. (2015) and Xu et al.
(2015), which look at all of it at every step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor, nn

from ..config import checked_settings, require, require_counts, require_one_of, require_shares
from ..data.batch import Batch
from ..data.pairs import PairBatch
from ..nn.attention import SCORES
from ..nn.decoding.decoders import DECODERS, DecoderName
from ..nn.decoding.memory import WINDOWS, LookConfig
from ..nn.decoding.stacks import BRIDGES, BridgeConfig, BridgeName
from ..nn.decoding.writing import DecoderConfig, EncodedSource, NextPiece, State
from ..nn.dropout import drop
from ..nn.encoders import RecurrentEncoder
from ..nn.positions import read_order
from ..nn.recurrence import CELLS, CellName
from .base import Attention, Output, PairModel
from .words import WordEmbedding

__all__ = ["PRESETS", "Seq2Seq", "Seq2SeqConfig"]


@dataclass(frozen=True)
@checked_settings
class Seq2SeqConfig:
    """How a network reads and writes; the sizes are those of the notes."""

    name: ClassVar[str] = "seq2seq"

    embedding_size: int = 256
    hidden_size: int = 512  # of the encoder's state, in each direction
    cell: CellName = "gru"
    layers: int = 2
    directions: int = 2  # of the encoder
    dropout: float = 0.1

    bridge: BridgeName = "linear"  # copy: the decoder is as wide as all directions together
    decoder: DecoderName = "luong"  # sutskever and cho: without attention
    score: str = "general"  # dot, general, general_diag, concat, additive, location, context
    attention_size: int = 256  # of the score's hidden layer
    feeding: bool = True  # luong: what was seen at a step is read at the next
    window: Literal["global", "monotonic", "predictive"] = "global"
    reach: int = 10  # items to either side of a window's middle

    reverse_source: bool = False  # read the source from its end
    repeat_source: int = 1  # read it so many times
    tied: Literal["none", "output", "all"] = "none"  # one table to read and write; all: sources too

    def __post_init__(self) -> None:
        sizes = ("embedding_size", "hidden_size", "attention_size", "layers", "reach")
        require_counts(self, *sizes, "repeat_source")
        repeats = self.repeat_source
        require(repeats <= 100, f"repeat_source must be from 1 to 100, got {repeats}")
        require(self.layers <= 100, f"layers must be from 1 to 100, got {self.layers}")
        require(self.directions in (1, 2), f"directions must be 1 or 2, got {self.directions}")
        require_shares(self, "dropout")
        require_one_of("cell", self.cell, CELLS)
        require_one_of("bridge", self.bridge, BRIDGES)
        require_one_of("decoder", self.decoder, DECODERS)
        require_one_of("score", self.score, SCORES)
        require_one_of("window", self.window, WINDOWS)
        require_one_of("tied", self.tied, ("none", "output", "all"))
        require(
            self.decoder != "sutskever" or self.bridge != "none",
            "with decoder 'sutskever' and bridge 'none' nothing of the source would be known; "
            "choose bridge 'copy' or 'linear', or another decoder",
        )

    @property
    def attends(self) -> bool:
        """Whether the decoder looks at the source, and so can say where."""
        return self.decoder in ("luong", "bahdanau", "xu")

    @property
    def decoder_size(self) -> int:
        """How wide the decoder's state is."""
        return self.hidden_size * (self.directions if self.bridge == "copy" else 1)

    def build(self, *, source_size: int, target_size: int) -> Seq2Seq:
        """Make the network for two vocabularies, with fresh weights drawn from torch's seed."""
        return Seq2Seq(self, source_size=source_size, target_size=target_size)


PRESETS: dict[str, Seq2SeqConfig] = {
    "notes": Seq2SeqConfig(
        embedding_size=256,
        hidden_size=512,
        layers=2,
        directions=2,
        dropout=0.1,
        bridge="linear",
        decoder="luong",
        score="dot",
        feeding=False,
    ),
    "small": Seq2SeqConfig(embedding_size=64, hidden_size=128, layers=1, attention_size=128),
    "addition": Seq2SeqConfig(
        embedding_size=32, hidden_size=128, layers=1, attention_size=128, dropout=0.0
    ),
}
"""Settings to start from: those of the notes, small ones, and for adding numbers."""


class Seq2Seq(PairModel):
    """Write about sources, a token at a time."""

    def __init__(self, config: Seq2SeqConfig, *, source_size: int, target_size: int) -> None:
        super().__init__()
        require(
            config.tied != "all" or source_size == target_size,
            f"tied='all' needs one vocabulary, got {source_size} and {target_size} words",
        )
        self.config = config
        self.encoder = RecurrentEncoder(
            config.embedding_size,
            config.hidden_size,
            cell=config.cell,
            layers=config.layers,
            directions=config.directions,
            dropout=config.dropout,
        )
        end_size, hidden_size = self.encoder.output_size, config.decoder_size
        self.bridge = BRIDGES[config.bridge](
            BridgeConfig(end_size, hidden_size, config.layers, config.cell)
        )
        # Scores that multiply number by number need memory and state to be equally wide.
        narrow = SCORES[config.score].same_size and config.attends
        memory_size = hidden_size if narrow else end_size
        self.narrow = None if memory_size == end_size else nn.Linear(end_size, memory_size)
        self.decoder = DECODERS[config.decoder](
            DecoderConfig(
                vocab_size=target_size,
                embedding_size=config.embedding_size,
                hidden_size=hidden_size,
                memory_size=memory_size,
                cell=config.cell,
                layers=config.layers,
                dropout=config.dropout,
                tied=config.tied != "none",
                feeding=config.feeding,
                look=LookConfig(config.score, config.attention_size, config.window, config.reach),
            )
        )
        self.sources = (
            None if config.tied == "all" else WordEmbedding(source_size, config.embedding_size)
        )

    @property
    def embedding(self) -> nn.Embedding:
        """The vectors that sources are read by."""
        return self.sources or self.decoder.embedding

    def forward(self, batch: PairBatch, forcing: float = 1.0) -> Output:
        """Score every token of the targets, (target ids, words)."""
        written = self.decoder.write(self.start(batch.source), batch.previous, forcing)
        if written.weights is None:
            return Output(written.logits)
        cross = Attention("cross", by="step", over="token", weights=written.weights)
        return Output(written.logits, (cross,))

    def start(self, source: Batch) -> State:
        """Read the sources; return where the decoder starts to write about them."""
        read = self.encode(source)
        return self.decoder.start(read)

    def step(self, state: State, previous: Tensor) -> NextPiece:
        """Read the token before, (rows,), and write the next."""
        return self.decoder.step(state, previous)

    def encode(self, source: Batch) -> EncodedSource:
        """Read the sources: a vector for every token, and what is known at the end."""
        ids, config = source.by_document, self.config
        order = read_order(ids, backward=config.reverse_source, times=config.repeat_source)
        read = ids.values.index_select(0, order.items.values)
        words = drop(self.embedding(read), config.dropout, self.training)
        reading = self.encoder.read(order.items.with_values(words))
        # However it was read, the memory holds one item for each token, in the text's order.
        memory = reading.states.values.index_select(0, order.last)
        if self.narrow is not None:
            memory = self.narrow(memory)
        return EncodedSource(
            memory=ids.with_values(memory),
            summary=reading.ends[-1][0],
            carries=self.bridge(reading.ends),
        )
