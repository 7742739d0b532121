"""Rows with hidden pieces, for a network that is taught to fill in gaps.

As Devlin et al. (2019) have it: some 15 in 100 pieces are asked for, of which most are hidden,
some replaced by a random piece and some left; and half of the rows go on with another text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..config import checked_settings, require
from ..ragged import Ragged, send
from ..text.document import cut_stream
from ..text.pieces import WordPieces
from .batches import places_in_row, places_of_rows
from .rows import RowFiles, Rows

__all__ = ["UNASKED", "MaskedBatch", "MaskingConfig", "RowsToMask", "encode_texts"]

UNASKED = -100
"""Stands for the answer where a row is one text, and nobody asks whether another follows."""
_AROUND = 3  # special pieces of a row of two texts
_SLACK = 16  # pieces that a word may have


@dataclass(frozen=True)
@checked_settings
class MaskingConfig:
    """What is hidden from the network, and how long its rows are."""

    longest: int = 128  # pieces of a row, the special ones counted
    share: float = 0.15  # of the pieces that are asked for
    hidden: float = 0.8  # of those, shown as [MASK]
    random: float = 0.1  # of those, shown as another piece; the rest are shown as they are
    whole_words: bool = False  # ask for all pieces of a word or for none
    next_sentence: bool = True  # also ask whether the second half of a row follows the first

    def __post_init__(self) -> None:
        require(self.longest >= 8, f"longest must be at least 8, got {self.longest}")
        require(0 < self.share < 1, f"share must lie between 0 and 1, got {self.share}")
        for name in ("hidden", "random"):
            value = getattr(self, name)
            require(0 <= value <= 1, f"{name} must be from 0 to 1, got {value}")
        require(self.hidden + self.random <= 1, "hidden and random must be 1 together at most")


@dataclass(frozen=True, slots=True, eq=False)
class MaskedBatch:
    """Rows with hidden pieces, and what was there."""

    ids: Ragged  # int64
    segments: Tensor  # (items,), 0 in the first text of a row, 1 in the second
    asked: Tensor  # places of the pieces that are asked for, among all items
    wanted: Tensor  # what they are, as many
    follows: Tensor  # (rows,): 0 the second text follows, 1 it is another, or ``UNASKED``

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.ids)

    @property
    def token_count(self) -> int:
        """How many pieces all rows have together."""
        return self.ids.values.shape[0]

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The numbers the batch is made of, from which it can be known again."""
        ids = (self.ids.values, self.ids.lengths)
        return (*ids, self.segments, self.asked, self.wanted, self.follows)

    def to(self, device: torch.device | str) -> MaskedBatch:
        """The same batch on ``device``."""
        return replace(
            self,
            ids=self.ids.to(device),
            segments=send(self.segments, device),
            asked=send(self.asked, device),
            wanted=send(self.wanted, device),
            follows=send(self.follows, device),
        )


def encode_texts(texts: Iterable[str], pieces: WordPieces, folder: Path) -> Rows:
    """Write the ids of texts to files as they come, a row a text."""
    with RowFiles(folder, ("pieces",), "int32") as files:
        for block in cut_stream(texts, len):
            rows = pieces.ids(block)
            files.add("pieces", np.concatenate([np.zeros(0, np.int32), *rows]), [*map(len, rows)])
    return Rows.map(folder, "pieces", "int32")


class RowsToMask:
    """Texts cut into rows of about the same length each, whose pieces can be hidden."""

    def __init__(self, texts: Rows, pieces: WordPieces, config: MaskingConfig) -> None:
        self._items, self._pieces, self._config = texts.items, pieces, config
        special = {pieces.padding, pieces.unknown, pieces.start, pieces.end, pieces.mask}
        self._ordinary = np.setdiff1d(np.arange(len(pieces)), sorted(special))
        self._marks = np.zeros(len(pieces), dtype=bool)
        self._marks[[pieces.start, pieces.end]] = True
        room = config.longest - _AROUND
        # Rows end with a word, so those of a long text are cut a little shorter than there is room.
        fair = np.where(texts.lengths > room, room - min(_SLACK, room // 4), room)
        counts = -(-texts.lengths // fair)
        self._texts = np.repeat(np.arange(len(texts)), counts)  # the text of each row
        within = places_in_row(counts)
        lengths, counts = texts.lengths[self._texts], counts[self._texts]
        ends = texts.starts[self._texts + 1]
        starts = texts.starts[self._texts] + within * lengths // counts
        stops = texts.starts[self._texts] + (within + 1) * lengths // counts
        at_words = self._to_word_starts(starts, ends, moving=within > 0)
        until_words = self._to_word_starts(stops, ends, moving=stops < ends)
        # A word of very many pieces can overfill a row or leave none to the next: it is cut too.
        sizes = until_words - at_words
        heaped = np.zeros(len(texts), dtype=bool)
        heaped[self._texts[(sizes > room) | (sizes == 0)]] = True
        self._starts = np.where(heaped[self._texts], starts, at_words)
        self._lengths = np.where(heaped[self._texts], stops, until_words) - self._starts

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many pieces each row has, the special ones counted, (rows,)."""
        return self._lengths + _AROUND

    def batch(self, rows: NDArray[np.int64], random: np.random.Generator) -> MaskedBatch:
        """Gather some rows, and hide pieces of them as the generator draws."""
        firsts, cuts, seconds, rest, follows = self._halves(rows, random)
        lengths = 2 + cuts + np.where(rest > 0, rest + 1, 0)
        begin = np.cumsum(lengths) - lengths
        ids = np.full(int(lengths.sum()), self._pieces.end, dtype=np.int64)
        ids[begin] = self._pieces.start
        ids[places_of_rows(begin + 1, cuts)] = self._items[places_of_rows(firsts, cuts)]
        ids[places_of_rows(begin + cuts + 2, rest)] = self._items[places_of_rows(seconds, rest)]
        segments = places_in_row(lengths) >= np.repeat(cuts + 2, lengths)
        asked = self._draw(ids, random)
        wanted = ids[asked]
        self._hide(ids, asked, random)
        values, sizes = torch.from_numpy(ids), torch.from_numpy(lengths)
        return MaskedBatch(
            Ragged.knowing(values, sizes, lengths.tolist()),
            torch.from_numpy(segments.astype(np.int64)),
            torch.from_numpy(asked),
            torch.from_numpy(wanted),
            torch.from_numpy(follows),
        )

    def _halves(
        self, rows: NDArray[np.int64], random: np.random.Generator
    ) -> tuple[NDArray[np.int64], ...]:
        """Where both texts of each row begin, how long they are, and whether one follows."""
        starts, lengths = self._starts[rows], self._lengths[rows]
        follows = np.full(len(rows), UNASKED, dtype=np.int64)
        if not self._config.next_sentence:
            return starts, lengths, starts, np.zeros_like(lengths), follows
        cuts = self._cut(starts, lengths, random)
        others = random.integers(len(self._starts), size=len(rows))
        other_starts, other_lengths = self._starts[others], self._lengths[others]
        other_cuts = self._cut(other_starts, other_lengths, random)
        rest, theirs = lengths - cuts, other_lengths - other_cuts
        swapped = random.random(len(rows)) < 0.5
        swapped &= (self._texts[others] != self._texts[rows]) & (theirs > 0) & (rest > 0)
        seconds = np.where(swapped, other_starts + other_cuts, starts + cuts)
        follows[rest > 0] = swapped[rest > 0]
        rest = np.where(swapped, np.minimum(rest, theirs), rest)
        return starts, cuts, seconds, rest, follows

    def _cut(
        self, starts: NDArray[np.int64], lengths: NDArray[np.int64], random: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw where rows are cut in two, at the start of a word; the length: they are not."""
        drawn = 1 + (random.random(len(lengths)) * (lengths - 1)).astype(np.int64)
        places = np.minimum(drawn, lengths)
        ends = starts + lengths
        return self._to_word_starts(starts + places, ends, moving=places < lengths) - starts

    def _to_word_starts(
        self, places: NDArray[np.int64], ends: NDArray[np.int64], *, moving: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Move places to the start of the next word, or to the end of their text."""
        moved, left = places.copy(), np.flatnonzero(moving & (places < ends))
        while len(left):
            left = left[self._pieces.continues[self._items[moved[left]]]]
            moved[left] += 1
            left = left[moved[left] < ends[left]]
        return moved

    def _draw(self, ids: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
        """The places of the pieces that are asked for; one at least, where there is any."""
        special = self._marks[ids]
        if self._config.whole_words:
            words = np.cumsum(special | ~self._pieces.continues[ids]) - 1
            draws = random.random(int(words[-1]) + 1 if len(words) else 0)[words]
        else:
            draws = random.random(len(ids))
        draws[special] = 2.0
        asked = np.flatnonzero(draws < self._config.share)
        if not len(asked) and not special.all():
            asked = np.flatnonzero(draws == draws.min())
        return asked

    def _hide(
        self, ids: NDArray[np.int64], asked: NDArray[np.int64], random: np.random.Generator
    ) -> None:
        """Show most of the pieces that are asked for as something else, in place."""
        fate, config = random.random(len(asked)), self._config
        others = random.choice(self._ordinary, len(asked)) if len(self._ordinary) else ids[asked]
        hidden, replaced = fate < config.hidden, fate < config.hidden + config.random
        shown = np.where(hidden, self._pieces.mask, np.where(replaced, others, ids[asked]))
        ids[asked] = shown
