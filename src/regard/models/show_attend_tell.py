"""Show, attend and tell: a network looks at a picture, a decoder writes about it, cell by cell.

Xu et al., "Show, attend and tell: neural image caption generation with visual attention" (2015).
A Transformer can stand in the place of their LSTM: it looks at the cells in every layer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from ..config import checked_settings, require, require_counts, require_one_of, require_shares
from ..data.pictures import PictureBatch
from ..data.targets import TargetBatch
from ..nn.decoding.decoders import DECODERS
from ..nn.decoding.memory import CHOICES, ChoiceName, LookConfig
from ..nn.decoding.stacks import BridgeConfig, LinearBridge
from ..nn.decoding.transformer import TransformerDecoder
from ..nn.decoding.writing import (
    DecoderConfig,
    EncodedSource,
    NextPiece,
    RecurrentDecoder,
    State,
    Written,
    write_freely,
)
from ..nn.dropout import drop
from ..nn.pictures import EfficientNetLite0, FineEfficientNetLite0, SmallCNN
from ..nn.rows import row_sum
from ..nn.transformer import BlockConfig
from ..ragged import Ragged
from .base import Attention, Output, WritingModel

__all__ = [
    "BACKBONES",
    "PICTURE_PRESETS",
    "CaptionBatch",
    "ShowAttendTell",
    "ShowAttendTellConfig",
]

CaptionBatch = TargetBatch[PictureBatch]
"""Pictures, and for each the ids to be written about it, the end counted."""

BACKBONES: dict[str, type[EfficientNetLite0]] = {
    "efficientnet-lite0": EfficientNetLite0,
    "efficientnet-lite0-fine": FineEfficientNetLite0,
}
"""Every network whose weights come from a file and are used as they are, by its name."""

_MOST_CELLS = 4096
_FOCUSED = 1 / 4  # of the cells, which a look may be spread over at no price


@dataclass(frozen=True)
@checked_settings
class ShowAttendTellConfig:
    """How a network looks at pictures and writes about them."""

    name: ClassVar[str] = "show-attend-tell"

    # All but the first need a file of weights.
    encoder: Literal["cnn", "efficientnet-lite0", "efficientnet-lite0-fine"] = "cnn"
    side: int = 96  # pixels of the square that each picture is scaled to
    channels: int = 64  # cnn: features of a cell
    halvings: int = 4  # cnn: how often a side is halved; it has side / 2 ** halvings cells then
    alone: bool = False  # cnn: a cell sees its own square, and nothing around it

    embedding_size: int = 128
    memory_size: int = 256  # of what is known about a cell
    hidden_size: int = 256
    attention_size: int = 128
    decoder: Literal["xu", "bahdanau", "luong", "transformer"] = "xu"  # bahdanau: without a gate
    layers: int = 3  # transformer: each looks back at the words, then at the cells
    heads: int = 8  # transformer
    feed_size: int = 1024  # transformer: of the net that sees each word by itself
    opening: Literal["mean", "nothing"] = "mean"  # what is known of a picture before the first look
    feeding: bool = True  # luong: what was seen at a word is known at the next
    informed: bool = False  # xu, bahdanau: a look knows the word before, as luong's always does
    attention: ChoiceName = "soft"  # hard: one cell a word; mean: all cells alike, to compare with
    evenness: float = 0.0  # the price of looking at some cells more than at others, word by word
    focus: float = 0.0  # the price of looks that are spread over more than a quarter of the cells
    reward: float = 1.0  # hard: how much the choice of cells is moved by what it brought
    curiosity: float = 0.01  # hard: how much it is worth not to choose the same cell always
    dropout: float = 0.1
    unseen: float = 0.0  # share of the cells that cannot be looked at in training, drawn each time
    missed: float = 0.0  # share of the cells that a word, or a head, overlooks in training

    def __post_init__(self) -> None:
        sizes = ("side", "channels", "halvings", "embedding_size", "memory_size", "hidden_size")
        require_counts(self, *sizes, "attention_size", "layers", "heads", "feed_size")
        require_shares(self, "dropout", "unseen", "missed")
        for name in ("evenness", "focus", "reward", "curiosity"):
            value = getattr(self, name)
            require(value >= 0, f"{name} must be at least 0, got {value}")
        require_one_of("attention", self.attention, CHOICES)
        if self.decoder == "transformer":
            self._check_transformer()
        step = self.cell
        require(
            self.side % step == 0 and 1 <= self.grid**2 <= _MOST_CELLS,
            f"side must be a multiple of {step}, with {_MOST_CELLS:,} cells at most, "
            f"got {self.side}",
        )

    def _check_transformer(self) -> None:
        """Refuse what needs a decoder that looks once a word."""
        require(self.layers <= 100, f"layers must be from 1 to 100, got {self.layers}")
        assert self.block  # which says whether the heads share the columns evenly
        require(
            self.attention != "hard" and not self.evenness and not self.focus,
            "the decoder transformer looks softly or at the mean, in several heads at once: "
            "attention=hard, evenness and focus are for the others",
        )

    @property
    def block(self) -> BlockConfig:
        """The shape of a transformer's blocks."""
        sizes = self.hidden_size, self.heads, self.feed_size
        return BlockConfig(*sizes, dropout=self.dropout, missed=self.missed)

    @property
    def cell(self) -> int:
        """How many pixels wide and high a cell is."""
        if self.encoder in BACKBONES:
            return BACKBONES[self.encoder].cell
        return int(2 ** min(self.halvings, 16))

    @property
    def grid(self) -> int:
        """How many cells a picture has on each side."""
        return self.side // self.cell

    @property
    def attends(self) -> bool:
        """Whether the network chooses where it looks."""
        return self.attention != "mean"

    def build(self, *, target_size: int) -> ShowAttendTell:
        """Make the network for a vocabulary, with fresh weights drawn from torch's seed."""
        return ShowAttendTell(self, target_size=target_size)


PICTURE_PRESETS: dict[str, ShowAttendTellConfig] = {
    "show-attend-tell": ShowAttendTellConfig(),
    "pretrained": ShowAttendTellConfig(
        encoder="efficientnet-lite0",
        side=224,
        embedding_size=256,
        memory_size=512,
        hidden_size=512,
        attention_size=256,
        dropout=0.4,
        unseen=0.5,
    ),
}
"""Settings to start from: a network from scratch, and one that starts from known features."""


def draw_places(grid: int, size: int, *, waves: int = 2, scale: float = 0.3) -> Tensor:
    """Draw a vector for each cell of a grid, (cells, size), so that cells nearby have similar ones.

    They mix a few cosines along the rows and along the columns: the first tells one end from the
    other, the second the middle from both.
    """
    steps = (torch.arange(grid) + 0.5) / grid
    along = torch.cos(math.pi * steps[:, None] * torch.arange(1, waves + 1))  # (grid, waves)
    both = torch.cat([along.repeat_interleave(grid, 0), along.repeat(grid, 1)], 1)
    return scale * both @ torch.randn(both.shape[1], size)


class ShowAttendTell(WritingModel[PictureBatch]):
    """Write about pictures, a token at a time, and look at their cells."""

    def __init__(self, config: ShowAttendTellConfig, *, target_size: int) -> None:
        super().__init__()
        self.config = config
        if config.encoder == "cnn":
            self.encoder = SmallCNN(config.channels, config.halvings, alone=config.alone)
            channels = config.channels
        else:
            channels = BACKBONES[config.encoder].channels  # what comes in are its features
        self.project = nn.Linear(channels, config.memory_size)
        # A feature says what is there; where it is, nothing but this would say.
        self.places = nn.Parameter(draw_places(config.grid, config.memory_size))
        self.decoder: RecurrentDecoder | TransformerDecoder
        if config.decoder == "transformer":
            self.given = nn.Linear(config.memory_size, config.hidden_size)
            self.decoder = TransformerDecoder(
                config.block, vocab_size=target_size, layers=config.layers, positions="sinusoidal"
            )
            return
        if config.opening == "mean":
            self.bridge = LinearBridge(
                BridgeConfig(config.memory_size, config.hidden_size, layers=1, cell="lstm")
            )
        self.decoder = DECODERS[config.decoder](
            DecoderConfig(
                vocab_size=target_size,
                embedding_size=config.embedding_size,
                hidden_size=config.hidden_size,
                memory_size=config.memory_size,
                cell="lstm",
                dropout=config.dropout,
                feeding=config.feeding,
                informed=config.informed,
                look=LookConfig(
                    "additive",
                    config.attention_size,
                    choice=config.attention,
                    missed=config.missed,
                ),
            )
        )

    def forward(self, batch: CaptionBatch, forcing: float = 1.0) -> Output:
        """Score every token of the targets, (target ids, words).

        In training nobody asks where a transformer looks, and it does not say.
        """
        written = self._write(batch, forcing)
        if written.weights is None:
            return Output(written.logits)
        cross = Attention("cross", by="step", over="region", weights=written.weights)
        return Output(written.logits, (cross,), self._penalty(written, batch.target))

    def start(self, source: PictureBatch) -> State:
        """Look at the pictures; return where the decoder starts to write about them."""
        if isinstance(self.decoder, TransformerDecoder):
            return self.decoder.start(self._seen(source))
        state = self.decoder.start(self.encode(source))
        if not self.training or not self.config.unseen:
            return state
        assert state.memory is not None  # every decoder here looks
        draws = torch.rand(state.memory.absent.shape, device=state.memory.absent.device)
        unseen = draws < self.config.unseen
        return replace(state, memory=replace(state.memory, absent=state.memory.absent | unseen))

    def step(self, state: State, previous: Tensor) -> NextPiece:
        """Read the token before, (rows,), and write the next."""
        return self.decoder.step(state, previous)

    def encode(self, source: PictureBatch) -> EncodedSource:
        """Make a vector of every cell, and a mean of all, for a recurrent decoder."""
        assert isinstance(self.decoder, RecurrentDecoder)
        memory = self._cells(source)
        summary = memory.mean(1)
        if self.config.opening == "mean":
            carries = self.bridge(((summary, summary),))
        else:
            carries = self.decoder.stack.zeros(len(source))
        return EncodedSource(Ragged(memory.flatten(0, 1), source.item_counts), summary, carries)

    def _cells(self, source: PictureBatch) -> Tensor:
        """Make a vector of every cell, (pictures, cells, size), row by row from the top left."""
        values = source.values
        maps = self.encoder(values) if self.config.encoder == "cnn" else values
        cells = maps.to(self.project.weight.dtype).flatten(2).transpose(1, 2)
        # A feature is dropped in all cells: what is missing in some would be found in the others.
        ones = cells.new_ones(len(cells), 1, cells.shape[2])
        cells = cells * drop(ones, self.config.dropout, self.training)
        found: Tensor = torch.relu(self.project(cells)) + self.places
        return found

    def _seen(self, source: PictureBatch) -> Ragged:
        """What a transformer is given of each picture: the cells that it can look at.

        Where it is to look at the mean, that stands in the place of every cell.
        """
        cells = self._cells(source)
        seen = torch.ones(cells.shape[:2], dtype=torch.bool, device=cells.device)
        if self.training and self.config.unseen:
            draws = torch.rand(seen.shape, device=cells.device)
            # One cell is always seen.
            seen = (draws >= self.config.unseen) | (draws == draws.max(1, keepdim=True).values)
        lengths = seen.sum(1)
        if self.config.attention == "mean":
            mean = (seen[:, None].to(cells.dtype) @ cells) / lengths[:, None, None]
            cells = mean.expand_as(cells)
        return Ragged(self.given(cells[seen]), lengths)

    def _write(self, batch: CaptionBatch, forcing: float) -> Written:
        """Write captions that are known."""
        if isinstance(self.decoder, RecurrentDecoder):
            return self.decoder.write(self.start(batch.source), batch.previous, forcing)
        if forcing < 1:
            return write_freely(self.decoder, self.start(batch.source), batch.previous, forcing)
        seen = self._seen(batch.source)
        return self.decoder.write(seen, batch.previous, weigh=not self.training)

    def _penalty(self, written: Written, target: Ragged) -> Tensor | None:
        """What the settings charge for where the network looked, a picture on average."""
        config, parts = self.config, []
        if not config.evenness and not config.focus and config.attention != "hard":
            return None
        assert written.weights is not None
        weights = written.weights.values.view(-1, config.grid**2)  # (steps, cells)
        if config.evenness:
            looked = row_sum(target.with_values(weights))  # (pictures, cells)
            share = target.lengths[:, None] / weights.shape[1]
            parts.append(config.evenness * (share - looked).square().sum(1).mean())
        if config.focus:
            free = math.log(weights.shape[1] * _FOCUSED)
            spread = -(weights * weights.clamp(min=1e-9).log()).sum(1)
            parts.append(config.focus * (spread - free).relu().mean())
        if config.attention == "hard" and self.training:
            parts.append(self._exploration(weights, written, target))
        return sum(parts[1:], parts[0]) if parts else None

    def _exploration(self, weights: Tensor, written: Written, target: Ragged) -> Tensor:
        """REINFORCE: cells that were drawn become likelier as far as they made the words likely.

        What a picture's words are likelier by than those of the others in its batch is the reward,
        a token on average; so nothing needs to be remembered from batch to batch.
        """
        assert written.chosen is not None
        counts = target.lengths.to(weights.dtype)
        with torch.no_grad():
            likely = torch.log_softmax(written.logits.float(), 1)
            told = likely.gather(1, target.values[:, None])[:, 0]
            rewards = row_sum(target.with_values(told)) / counts
            others = (rewards.sum() - rewards) / max(1, len(rewards) - 1)
        logs = torch.log(weights.clamp(min=1e-9))
        drawn = logs.gather(1, written.chosen[:, None])[:, 0]
        moved = row_sum(target.with_values(drawn)) * (rewards - others)
        entropy = row_sum(target.with_values(-(weights * logs).sum(1)))
        return -(self.config.reward * moved + self.config.curiosity * entropy).mean()
