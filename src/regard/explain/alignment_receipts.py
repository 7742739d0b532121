"""Whether a translator needs what it looked at: it is asked again without it.

Those pieces of the source that a written piece looked at most become unknown words, and the
probability of that piece, told all before it, is asked for again; then the same with as many
random pieces, and with all of them. A piece that is as likely with the whole source unknown
follows from what was written before it: what it loses is rounding, and proves nothing.

Pieces are not left out, because all behind them would then stand elsewhere, and a network that
counts loses its place whatever is missing. A set that is taken away says something about every
written piece, so that one row of versions serves all.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from ..data.pairs import EncodedPairs
from ..models.base import PairModel
from ..nn.dropout import in_evaluation
from ..records.alignment import (
    Alignment,
    AlignmentReceipt,
    WrittenReceipt,
    belonging,
    count_effective,
)
from ..records.explanation import (
    CHANCE,
    ERROR_RATE,
    FAITHFUL,
    LEAST_LEAD,
    NOT_MEASURED,
    TOO_SHORT,
    UNDECIDED,
    WEAK,
    Judgement,
)
from ..text.units import START, Units
from ..text.vocab import PADDING, UNKNOWN, CutText, cut_texts
from ..training.devices import device_of
from .rankings import Floats
from .verdicts import SHUFFLES

__all__ = ["REACH", "SETS", "Likely", "measure_receipt", "with_alignment_receipts"]

MOST_CHOICES = 4096
"""Up to so many ways to choose a set for each written piece, all are compared."""
SETS = 60
"""How many random sets of source pieces are taken away; where there are fewer, all."""
FEWEST_SETS = 20
"""How many of each size where pieces lose sets of several sizes, at least."""
REACH = 0.6
"""What share of the most that a set of as many pieces can cost makes an alignment faithful."""
BATCH_PIECES = 4096
"""How many pieces the versions that are asked about together may have; bounds the memory."""

Mask = NDArray[np.bool_]
Likely = Callable[[Mask], Floats]
"""The probability of each written piece without the items of each version, (versions, pieces)."""


@torch.no_grad()
def with_alignment_receipts(
    model: PairModel,
    units: tuple[Units, Units],
    alignments: Sequence[Alignment],
    *,
    seed: int = 0,
) -> list[Alignment]:
    """Return the alignments, of pieces or of whole words, with a receipt each.

    ``units`` are those of the sources and of the targets. What is drawn for one alignment does
    not depend on the others.
    """
    sources = cut_texts([one.source for one in alignments], units[0])
    targets = cut_texts([one.target for one in alignments], units[1])
    with in_evaluation(model):
        return [
            replace(one, receipt=_Inquiry(model, one, source, target).receipt(seed))
            for one, source, target in zip(alignments, sources, targets, strict=True)
        ]


class _Inquiry:
    """What is asked about one alignment."""

    def __init__(
        self, model: PairModel, alignment: Alignment, source: CutText, target: CutText
    ) -> None:
        self._model, self._source, self._target = model, source, target
        self._weights = alignment.weights
        self._columns = _members(source, alignment.source_spans)  # (pieces, columns)
        self._rows = _members(target, alignment.target_spans)  # (pieces, rows)
        # What was copied or cut may not be what the network would be told to write.
        self._known = bool(self._rows.any(0).all()) and bool(self._columns.any(0).all())

    def receipt(self, seed: int) -> AlignmentReceipt:
        if not self._known:
            return AlignmentReceipt(Judgement("piece", NOT_MEASURED))
        return measure_receipt(self._weights, self._likely, seed=seed)

    def _likely(self, gone: Mask) -> Floats:
        """The probability of each row without the columns of each version, (versions, rows)."""
        # Versions are asked once, however many rows looked at the same pieces.
        distinct, places = np.unique(gone, axis=0, return_inverse=True)
        lost = distinct.astype(np.float64) @ self._columns.T.astype(np.float64) > 0
        step = max(1, BATCH_PIECES // (len(self._source.ids) + len(self._target.ids) + 1))
        logs = [self._logs(lost[first : first + step]) for first in range(0, len(lost), step)]
        by_rows: Floats = np.exp(np.concatenate(logs) @ self._rows)  # a word's is their product
        return by_rows[places.ravel()]

    def _logs(self, lost: Mask) -> Floats:
        """The log-probability of each piece of the target in each version, (versions, pieces)."""
        sources = [np.where(row, UNKNOWN, self._source.ids) for row in lost]
        pairs = EncodedPairs(sources, [self._target.ids] * len(lost))
        device = device_of(self._model)
        batch = pairs.batch(np.arange(len(lost))).to(device)
        logits = self._model(batch).logits.float()
        # As where the network writes on its own: what stands for nothing is never written.
        logits[:, [PADDING, START]] = -math.inf
        logs = torch.log_softmax(logits, 1).gather(1, batch.target.values[:, None])[:, 0]
        found: Floats = logs.double().cpu().numpy().reshape(len(lost), -1)
        return found[:, :-1]  # the end is no piece of the text


def measure_receipt(
    weights: NDArray[np.float32], likely: Likely, *, share: float | None = None, seed: int = 0
) -> AlignmentReceipt:
    """Ask whether written pieces need the items they looked at most, by their weights.

    ``weights`` are (written pieces, items), and ``likely`` asks the network again. Without a
    ``share`` every piece loses as many items, those that a piece looked at on average; with one
    each piece loses the items that hold this share of its weight, half of all at most. Every piece
    is asked about without any item as well, and the verdict is of those that need the items.
    """
    row_count, column_count = weights.shape
    if not row_count or not column_count:
        return AlignmentReceipt(Judgement("piece", NOT_MEASURED))
    if column_count < 2:
        return AlignmentReceipt(Judgement("piece", TOO_SHORT))
    draw = np.random.default_rng([seed, row_count, column_count])
    if share is None:
        mean = round(float(count_effective(weights).mean()))
        counts = np.full(row_count, max(1, min(mean, column_count // 2)))
        sets = _sets(column_count, int(counts[0]), draw)[:, None]  # (sets, sizes, columns)
    else:
        counts = _holding(weights, share, most=column_count // 2)
        sets = _nested(column_count, np.unique(counts), draw)
    own = _heaviest(weights, counts)  # (rows, columns)
    ends = np.repeat([[False], [True]], column_count, axis=1)  # nothing is gone, and everything
    asked = likely(np.concatenate([ends, own, sets.reshape(-1, column_count)]))  # (versions, rows)
    start, blind, without = asked[0], asked[1], asked[2 : 2 + row_count].diagonal()
    by_size = asked[2 + row_count :].reshape(*sets.shape[:2], row_count)
    sizes = np.searchsorted(np.unique(counts), counts)
    random = by_size[:, sizes, np.arange(row_count)]  # (sets, rows), each of the row's own size
    drops, others = start - without, start - random  # (rows,), (sets, rows)
    # Where all sets were tried, what was looked at is one of them.
    tried_all = share is None and len(others) < SETS
    every = others if tried_all else np.concatenate([drops[None], others])
    p_values = (every >= drops - 1e-9).mean(0)
    columns = [start, without, random.mean(0), p_values, blind]
    written = tuple(WrittenReceipt(*map(float, row)) for row in zip(*columns, strict=True))
    decided = np.array([one.decided for one in written])
    if not decided.any():
        judged = Judgement("piece", UNDECIDED, sets=len(others))
        return AlignmentReceipt(judged, written, round(float(counts.mean())))
    taken = round(float(counts[decided].mean()))
    drops, others, every = drops[decided], others[:, decided], every[:, decided]
    better = float((others > others.mean(0)).mean())
    return AlignmentReceipt(_judge(drops, others, every, draw), written, taken, better)


def _judge(drops: Floats, others: Floats, every: Floats, draw: np.random.Generator) -> Judgement:
    """Compare what is lost without what was looked at, (rows,), with what goes with random sets.

    ``others`` are those sets, (sets, rows), and ``every`` has what was looked at among them.
    """
    shuffled = _shuffled_means(every, draw)
    p_value = float((shuffled >= drops.mean() - 1e-9).mean())
    lead = float(drops.mean() - others.mean())
    most = float(every.max(0).mean())
    verdict = CHANCE
    if p_value <= ERROR_RATE and lead >= LEAST_LEAD:
        verdict = FAITHFUL if drops.mean() >= REACH * most else WEAK
    elif p_value > ERROR_RATE and len(drops) * math.log(len(every)) < -math.log(ERROR_RATE):
        # There are so few ways to choose that none could be told from luck.
        verdict = TOO_SHORT
    return Judgement("piece", verdict, p_value, None, lead, len(others), len(shuffled))


def _shuffled_means(every: Floats, draw: np.random.Generator) -> Floats:
    """What all rows lose on average where each takes one of the sets by chance, (choices,).

    ``every`` is what each row loses without each set, (sets, rows). All choices where they are few;
    else ``SHUFFLES`` of them, and one that stands for the choice that was made.
    """
    set_count, row_count = every.shape
    if row_count * math.log(set_count) <= math.log(MOST_CHOICES):
        picks = np.array(list(itertools.product(range(set_count), repeat=row_count)))
        return _mean_of_rows(every, picks)
    picks = draw.integers(set_count, size=(SHUFFLES, row_count))
    return np.append(_mean_of_rows(every, picks), np.inf)


def _mean_of_rows(every: Floats, picks: NDArray[np.int64]) -> Floats:
    """The mean over the rows of what each loses without the set that is picked for it."""
    means: Floats = every[picks, np.arange(picks.shape[1])].mean(1)
    return means


def _members(pieces: CutText, spans: Sequence[tuple[int, int]]) -> Mask:
    """Which row or column each piece belongs to, (pieces, spans): itself, or a whole word."""
    own = [(int(start), int(end)) for start, end in pieces.tokens.spans.tolist()]
    if own == list(spans):
        return np.eye(len(own), dtype=bool)
    return belonging(own, spans) > 0


def _heaviest(weights: NDArray[np.float32], counts: NDArray[np.int64]) -> Mask:
    """The columns that each row looked at most, as many as its count, (rows, columns)."""
    order = np.argsort(-weights, axis=1, kind="stable")
    ranks = np.argsort(order, axis=1, kind="stable")
    found: Mask = ranks < counts[:, None]
    return found


def _holding(weights: NDArray[np.float32], share: float, *, most: int) -> NDArray[np.int64]:
    """How many of the heaviest columns of each row hold a share of its weight, (rows,).

    Rounded up to a few sizes, so that rows can be compared with the same random sets.
    """
    sums = np.cumsum(-np.sort(-weights.astype(np.float64), axis=1), axis=1)
    needed = (sums < share * sums[:, -1:]).sum(1) + 1
    sizes = np.unique(np.rint(2.0 ** (np.arange(40) / 2)).astype(np.int64))  # 1, 2, 3, 4, 6, 8, 11
    counts: NDArray[np.int64] = np.minimum(sizes[np.searchsorted(sizes, needed)], max(1, most))
    return counts


def _nested(column_count: int, sizes: NDArray[np.int64], draw: np.random.Generator) -> Mask:
    """Random sets of columns in each of the sizes, (sets, sizes, columns)."""
    count = max(FEWEST_SETS, SETS // len(sizes))
    ranks = draw.permuted(np.tile(np.arange(column_count), (count, 1)), axis=1)
    found: Mask = ranks[:, None] < sizes[:, None]
    return found


def _sets(column_count: int, taken: int, draw: np.random.Generator) -> Mask:
    """All sets of so many columns where they are few, else as many as ``SETS`` at random."""
    if math.comb(column_count, taken) < SETS:
        chosen = np.array(list(itertools.combinations(range(column_count), taken)))
    else:
        rows = np.tile(np.arange(column_count), (SETS, 1))
        chosen = draw.permuted(rows, axis=1)[:, :taken]
    found = np.zeros((len(chosen), column_count), dtype=bool)
    np.put_along_axis(found, chosen, True, axis=1)
    return found
