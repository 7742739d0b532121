"""How evenly attention spreads its weight: entropy, beside that of uniform weights."""

from __future__ import annotations

import torch
from torch import Tensor

from ..explain.answers import Answers
from ..explain.attention import pooling_layer, shares
from ..models.base import Attention
from ..nn.rows import row_sum
from ..ragged import Ragged
from ..records.look import Spread

__all__ = ["SpreadTally", "entropies"]

BINS = 20
UNIFORM = 0.99
"""From this evenness on, weights are as good as uniform."""


def entropies(weights: Ragged) -> Tensor:
    """Return the entropy of each row of shares, in nats, (rows,); an empty row has none."""
    logs = torch.where(weights.values > 0, weights.values, 1.0).log()
    return -row_sum(weights.with_values(weights.values * logs))


class SpreadTally:
    """Counts how even the attention is, batch by batch."""

    def __init__(self) -> None:
        self._found: dict[str, list[Tensor]] = {}  # (rows, 2): entropy, items

    def add(self, answers: Answers) -> None:
        """Look at the attention of one batch."""
        for level, over in (("word", "token"), ("sentence", "sentence")):
            layer = pooling_layer(answers, over)
            if layer is not None:
                self._found.setdefault(level, []).append(_rows(layer))

    def spreads(self) -> tuple[Spread, ...]:
        """Return what was counted, one record a level; none for a level without rows."""
        found = ((level, torch.cat(parts)) for level, parts in self._found.items())
        return tuple(_spread(level, rows) for level, rows in found if len(rows))


def _rows(layer: Attention) -> Tensor:
    """Entropy and item count of each row that leaves a choice; of several hops the mean."""
    weights = shares(layer)
    mean = weights.with_values(weights.values.mean(1))
    pairs = torch.stack([entropies(mean), mean.lengths.double()], dim=1)
    return pairs[mean.lengths > 1]


def _spread(level: str, rows: Tensor) -> Spread:
    entropy, items = rows.unbind(1)
    evenness = (entropy / items.log()).clamp(0, 1)
    return Spread(
        level=level,
        rows=len(rows),
        mean_items=float(items.mean()),
        effective_items=float(entropy.exp().mean()),
        evenness=float(evenness.mean()),
        uniform_rows=float((evenness >= UNIFORM).double().mean()),
        bins=tuple(torch.histc(evenness, BINS, 0.0, 1.0).long().tolist()),
    )
