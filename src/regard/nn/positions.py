"""Where an item stands in its row, as numbers and as vectors; and who may look at whom."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..ragged import Ragged

__all__ = ["ReadOrder", "causal_mask", "read_order", "row_positions", "sinusoids"]


def row_positions(rows: Ragged) -> Tensor:
    """Number the items of each row from 0, (items,)."""
    items = torch.arange(rows.values.shape[0], device=rows.lengths.device)
    return items - rows.offsets.index_select(0, rows.row_ids)


def sinusoids(positions: Tensor, size: int) -> Tensor:
    """Describe positions by sines and cosines of falling frequency, (positions, size).

    As in Vaswani et al. (2017), sines first and then cosines; there is no largest position.
    """
    pairs = torch.arange((size + 1) // 2, device=positions.device, dtype=torch.float64)
    frequencies = 10_000.0 ** (-2 * pairs / size)
    angles = positions.to(torch.float64)[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], 1)[:, :size].float()


def causal_mask(length: int, device: torch.device | str = "cpu") -> Tensor:
    """Say which items, (length, length), each item may look at: itself and those before it."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


@dataclass(frozen=True, slots=True, eq=False)
class ReadOrder:
    """In which order the items of rows are read, and where each is read last."""

    items: Ragged  # the numbers of the items, in the order they are read
    last: Tensor  # (items,), places in that order


def read_order(rows: Ragged, *, backward: bool = False, times: int = 1) -> ReadOrder:
    """Order the items of each row to be read so many times, forward or backward."""
    lengths = rows.lengths * times
    read_count = rows.values.shape[0] * times
    read = Ragged(torch.arange(read_count, device=lengths.device), lengths)
    own = rows.lengths.index_select(0, read.row_ids)
    ahead = row_positions(read) % own
    starts = rows.offsets.index_select(0, read.row_ids)
    items = read.with_values(starts + (own - 1 - ahead if backward else ahead))
    places = torch.empty_like(items.values[: rows.values.shape[0]])
    final = row_positions(read) >= own * (times - 1)
    places[items.values[final]] = read.values[final]
    return ReadOrder(items, places)
