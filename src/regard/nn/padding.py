"""Between rows stored end to end and rows filled up to the longest, for batched products."""

from __future__ import annotations

from torch import Tensor

from ..ragged import Ragged
from .positions import row_positions

__all__ = ["pad", "padded_places", "unpad"]


def pad(rows: Ragged) -> Tensor:
    """Fill every row up to the longest with zeros, (rows, longest, ...)."""
    longest, sizes = max(rows.host_lengths, default=0), rows.values.shape[1:]
    flat = rows.values.new_zeros(len(rows) * longest, *sizes)
    return flat.index_copy(0, padded_places(rows), rows.values).view(len(rows), longest, *sizes)


def unpad(padded: Tensor, rows: Ragged) -> Ragged:
    """Take the items of ``rows`` out of what was filled up like them."""
    return rows.with_values(padded.flatten(0, 1).index_select(0, padded_places(rows)))


def padded_places(rows: Ragged) -> Tensor:
    """Say where each item stands when all rows have the length of the longest, (items,)."""
    longest = max(rows.host_lengths, default=0)
    return rows.row_ids * longest + row_positions(rows)
