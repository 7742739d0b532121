"""Large buffers that are used again from one training step to the next.

Malloc hands large blocks back to the system, which must fill them with zeros for the next step:
at large hidden sizes that took as long as the recurrence itself. Here a buffer returns to a
shelf when its tensor is gone, and the next one that fits is taken from there.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import sys
import weakref
from collections import deque
from threading import Lock

import torch
from torch import Tensor

__all__ = ["Shelf", "empty", "release"]

_SMALLEST = 4 << 20  # bytes; malloc keeps smaller ones by itself
_PAGE = 2 << 20  # bytes of a huge page


class Shelf:
    """Keeps up to ``capacity`` bytes of buffers that nobody uses at the moment."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._idle: deque[mmap.mmap] = deque()
        self._lock = Lock()

    @property
    def idle(self) -> int:
        """How many bytes wait to be used."""
        return sum(map(len, tuple(self._idle)))

    def take(self, count: int) -> Tensor:
        """Return ``count`` floats that hold anything."""
        block = self._fitting(4 * count) or _new_block(4 * count)
        view = memoryview(block)
        # The tensor holds the view and the view the block: once the view is gone, so is every
        # tensor that shares its memory.
        weakref.finalize(view, self._give, block).atexit = False
        return torch.frombuffer(view, dtype=torch.float32, count=count)

    def clear(self) -> None:
        """Hand all that is idle back to the system."""
        self._idle.clear()

    def _fitting(self, size: int) -> mmap.mmap | None:
        with self._lock:
            fitting = [block for block in tuple(self._idle) if size <= len(block) <= 2 * size]
            if not fitting:
                return None
            block = min(fitting, key=len)
            self._idle.remove(block)
            return block

    def _give(self, block: mmap.mmap) -> None:
        # A tensor may die at any moment, even inside of ``take``: so this takes no lock.
        self._idle.append(block)
        while self.idle > self.capacity:
            self._idle.popleft()  # the one that has waited longest


def empty(*shape: int) -> Tensor:
    """Return a float tensor that holds anything, from the shelf if it is large."""
    count = math.prod(shape)
    if 4 * count < _SMALLEST or not sys.platform.startswith("linux"):
        return torch.empty(shape)
    return _SHELF.take(count).view(shape)


def release() -> None:
    """Hand the buffers that nobody uses back to the system, as after the last step."""
    _SHELF.clear()


def _new_block(size: int) -> mmap.mmap:
    whole = -(-size // _PAGE) * _PAGE
    block = mmap.mmap(-1, whole, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    # Huge pages make the first use quicker; where the system has none, plain ones do as well.
    with contextlib.suppress(OSError, AttributeError):
        block.madvise(mmap.MADV_HUGEPAGE)
    return block


_SHELF = Shelf(512 << 20)
