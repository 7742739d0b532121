"""Rows of different lengths, stored end to end without padding."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["Ragged", "send"]


def send(values: Tensor, device: torch.device | str) -> Tensor:
    """The values on ``device``; on their way to a GPU nobody waits for them."""
    if torch.device(device).type == "cuda" and values.device.type == "cpu":
        values = values.pin_memory()  # from any other memory the host must copy along
    return values.to(device, non_blocking=True)


class _Layout:
    """Where the rows lie; shared by all ``Ragged`` of the same rows, so each part is made once."""

    __slots__ = ("_host", "_offsets", "_row_ids", "lengths")

    def __init__(self, lengths: Tensor, host: list[int] | None = None) -> None:
        self.lengths = lengths
        self._host = host
        self._offsets: Tensor | None = None
        self._row_ids: Tensor | None = None

    @property
    def host(self) -> list[int]:
        if self._host is None:
            self._host = self.lengths.tolist()
        return self._host

    @property
    def offsets(self) -> Tensor:
        if self._offsets is None:
            start = self.lengths.new_zeros(1)
            self._offsets = torch.cat([start, self.lengths.cumsum(0)])
        return self._offsets

    def row_ids(self, item_count: int) -> Tensor:
        if self._row_ids is None:
            rows = torch.arange(self.lengths.shape[0], device=self.lengths.device)
            # The count is given, so that a GPU need not be asked for the sum of the lengths.
            self._row_ids = torch.repeat_interleave(rows, self.lengths, output_size=item_count)
        return self._row_ids


class Ragged:
    """Rows of different lengths, stored end to end without padding.

    ``values`` holds the items of every row, row after row, along its first dimension;
    ``lengths``, int64 of shape (rows,), says how many items each row has. A row may be empty.
    """

    __slots__ = ("_layout", "values")

    def __init__(self, values: Tensor, lengths: Tensor) -> None:
        if lengths.ndim != 1 or lengths.dtype != torch.int64:
            found = f"{lengths.dtype} {tuple(lengths.shape)}"
            raise ValueError(f"lengths must be int64 of shape (rows,), got {found}")
        self.values = values
        self._layout = _Layout(lengths)

    @classmethod
    def from_rows(cls, rows: Sequence[Tensor]) -> Ragged:
        """Lay the given rows end to end; at least one is needed, to know the type of the items."""
        return cls(torch.cat(tuple(rows)), torch.tensor([len(row) for row in rows]))

    @classmethod
    def knowing(cls, values: Tensor, lengths: Tensor, host_lengths: list[int]) -> Ragged:
        """The same rows, whose lengths are known on the host too: nobody waits for a GPU."""
        made = cls(values, lengths)
        made._layout = _Layout(lengths, host_lengths)
        return made

    def __len__(self) -> int:
        """How many rows there are."""
        return self.lengths.shape[0]

    def __repr__(self) -> str:
        return f"Ragged({len(self)} rows, values {tuple(self.values.shape)} {self.values.dtype})"

    @property
    def lengths(self) -> Tensor:
        """How many items each row has, (rows,)."""
        return self._layout.lengths

    @property
    def host_lengths(self) -> list[int]:
        """The lengths as Python numbers; on a GPU the first call waits for the device."""
        return self._layout.host

    @property
    def offsets(self) -> Tensor:
        """Where each row begins, and at the end how many items there are, (rows + 1,)."""
        return self._layout.offsets

    @property
    def row_ids(self) -> Tensor:
        """The row each item is in, (items,)."""
        return self._layout.row_ids(self.values.shape[0])

    def rows(self) -> tuple[Tensor, ...]:
        """The items of each row, as views."""
        return self.values.split(self.host_lengths)

    def with_values(self, values: Tensor) -> Ragged:
        """The same rows, holding other items."""
        if values.shape[0] != self.values.shape[0]:
            raise ValueError(f"{values.shape[0]} items do not fill rows of {self.values.shape[0]}")
        other = Ragged.__new__(Ragged)
        other.values = values
        other._layout = self._layout
        return other

    def to(self, device: torch.device | str) -> Ragged:
        """The same rows on ``device``."""
        other = Ragged.__new__(Ragged)
        other.values = send(self.values, device)
        same = other.values.device == self.lengths.device
        other._layout = (
            self._layout if same else _Layout(send(self.lengths, device), self._layout._host)
        )
        return other
