"""The jobs of the native kernels: the structs of ``native.h``, field for field."""

from __future__ import annotations

import ctypes

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...ragged import Ragged
from ..native import Job

__all__ = [
    "AttendJob",
    "DropJob",
    "GatherJob",
    "Layout",
    "MoveJob",
    "PoolJob",
    "ProjectJob",
    "RecurrenceJob",
    "ScoreJob",
    "check_tensor",
    "padded",
    "padded_rows",
    "sum_rows",
]

BLOCK_ROWS = 8
_LINE = 16  # floats in a cache line
_MOST_SHARES = 16
_SHARE_ITEMS = 2048

_number = ctypes.c_int64
_real = ctypes.c_float
_pointer = ctypes.c_void_p


def check_tensor(name: str, tensor: Tensor, shape: tuple[int, ...]) -> None:
    """Refuse what a kernel would misread."""
    if tensor.shape != shape or tensor.dtype != torch.float32 or tensor.device.type != "cpu":
        found = f"{tensor.dtype} {tuple(tensor.shape)} on {tensor.device}"
        raise ValueError(
            f"the native kernels need {name} as torch.float32 {shape} on cpu, got {found}"
        )


def padded(size: int) -> int:
    """Return how far apart rows of ``size`` floats should begin.

    Whole cache lines, so that vectors do not straddle two; and an odd number of them, so that
    a column does not fall into few sets of the cache.
    """
    lines = -(-size // _LINE)
    return (lines | 1) * _LINE


def padded_rows(rows: Tensor) -> Tensor:
    """Copy rows so that each begins on a cache line and ends in zeros."""
    size = rows.shape[-1]
    # Where nothing is to be added, columns that lie apart would stay so.
    return torch.constant_pad_nd(rows.detach(), (0, padded(size) - size)).contiguous()


def sum_rows(size: int) -> int:
    """Return how many rows a product of ``size`` rows writes: whole blocks."""
    return -(-size // BLOCK_ROWS) * BLOCK_ROWS


class Layout(Job):
    """Where rows lie, and how their work is shared out, whoever may do it."""

    _fields_ = (
        ("row_count", _number),
        ("item_count", _number),
        ("starts", _pointer),
        ("order", _pointer),
        ("share_count", _number),
        ("shares", _pointer),
    )

    @classmethod
    def by_length(cls, rows: Ragged, most_shares: int = _MOST_SHARES) -> Layout:
        """Order rows from longest to shortest and share out blocks of them."""
        lengths = rows.lengths.cpu().numpy()
        order = np.argsort(-lengths, kind="stable")
        layout = cls._shared(lengths, lengths[order[::BLOCK_ROWS]], most_shares)
        layout.fill(order=torch.from_numpy(order))
        return layout

    @classmethod
    def in_order(cls, rows: Ragged) -> Layout:
        """Share out single rows as they come."""
        lengths = rows.lengths.cpu().numpy()
        return cls._shared(lengths, lengths, _MOST_SHARES)

    @classmethod
    def _shared(
        cls, lengths: NDArray[np.int64], work: NDArray[np.int64], most_shares: int
    ) -> Layout:
        # In numpy, where so small a step takes a fraction of the time that torch needs for one.
        if len(lengths) and lengths.min() < 0:
            raise ValueError(f"a row cannot have {lengths.min()} items")
        starts = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        item_count = int(starts[-1])
        # The number of threads plays no part: sums made share by share keep their bits.
        count = max(1, min(_MOST_SHARES, most_shares, item_count // _SHARE_ITEMS))
        done = np.cumsum(work)
        shares = np.full(count + 1, len(work), np.int64)
        shares[0] = 0
        if count > 1:
            shares[1:-1] = np.searchsorted(done, np.arange(1, count) * done[-1] // count)
        layout = cls()
        layout.fill(row_count=len(lengths), item_count=item_count, share_count=count)
        layout.fill(starts=torch.from_numpy(starts), shares=torch.from_numpy(shares))
        return layout


class RecurrenceJob(Job):
    """A recurrence over every row."""

    _fields_ = (
        ("layout", Layout),
        ("gates", _number),
        ("hidden_size", _number),
        ("direction_count", _number),
        ("projected", _pointer),
        ("index", _pointer),
        ("weights", _pointer),
        ("biases", _pointer),
        ("gate_step", _number),
        ("states", _pointer),
        ("saved", _pointer),
        ("saved_step", _number),
        ("gradient", _pointer),
        ("weights_back", _pointer),
        ("hidden_step", _number),
        ("weights_gradient", _pointer),
        ("next_task", _number),
    )


class GatherJob(Job):
    """Sums over the items that read the same row of the projected inputs."""

    _fields_ = (
        ("recurrence", RecurrenceJob),
        ("distinct_count", _number),
        ("item_order", _pointer),
        ("firsts", _pointer),
        ("gradient", _pointer),
        ("next_task", _number),
    )


class PoolJob(Job):
    """Softmax of scores along each row, and the sum of the items it weights."""

    _fields_ = (
        ("layout", Layout),
        ("size", _number),
        ("items", _pointer),
        ("scores", _pointer),
        ("weights", _pointer),
        ("pooled", _pointer),
        ("pooled_gradient", _pointer),
        ("weights_gradient", _pointer),
        ("scores_gradient", _pointer),
        ("items_gradient", _pointer),
        ("next_task", _number),
    )


class ScoreJob(Job):
    """The scores of attention to the context, and their pooling."""

    _fields_ = (
        ("pooling", PoolJob),
        ("attention_size", _number),
        ("attention_step", _number),
        ("matrix", _pointer),
        ("bias", _pointer),
        ("query", _pointer),
        ("mixed", _pointer),
        ("matrix_back", _pointer),
        ("size_step", _number),
        ("sums", _pointer),
        ("next_task", _number),
    )


class AttendJob(Job):
    """A recurrence whose states are only looked at by attention."""

    _fields_ = (("recurrence", RecurrenceJob), ("scoring", ScoreJob), ("next_task", _number))


class ProjectJob(Job):
    """Rows times a matrix, plus a bias."""

    _fields_ = (
        ("row_count", _number),
        ("size", _number),
        ("width", _number),
        ("width_step", _number),
        ("items", _pointer),
        ("places", _pointer),
        ("matrix", _pointer),
        ("bias", _pointer),
        ("result", _pointer),
        ("next_task", _number),
    )


class MoveJob(Job):
    """Adam's moves of some rows of a table."""

    _fields_ = (
        ("row_count", _number),
        ("size", _number),
        ("places", _pointer),
        ("table", _pointer),
        ("mean", _pointer),
        ("square", _pointer),
        ("missed", _pointer),
        ("kinds", _pointer),
        ("gradient", _pointer),
        ("first_share", _real),
        ("second_share", _real),
        ("second_left", _real),
        ("rate", _real),
        ("root", _real),
        ("eps", _real),
        ("next_task", _number),
    )


class DropJob(Job):
    """Numbers of which a share becomes zero."""

    _fields_ = (
        ("count", _number),
        ("seed", _number),
        ("threshold", _number),
        ("values", _pointer),
        ("kept", _pointer),
        ("scale", _real),
        ("next_task", _number),
    )
