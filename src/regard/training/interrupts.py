"""Ctrl-C as a wish that work fulfils at its next good moment."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self, TypeVar

__all__ = ["Interrupts"]

T = TypeVar("T")


class Interrupts:
    """Inside, Ctrl-C is noted, and ``heed`` raises it where nothing is half done.

    Raised wherever the program happens to be, it may fall between two lines that belong together,
    or into a finalizer, where Python drops it. Pressed again before it is heeded, it is raised at
    once. Outside the main thread, or where a program has its own idea of Ctrl-C, nothing changes.
    """

    def __init__(self) -> None:
        self.pending = False
        self.heeded = False  # whether anything was ended by hand
        self._released = False
        self._installed = False

    def __enter__(self) -> Self:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._installed = True
        return self

    def __exit__(self, *problem: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._installed = False

    def heed(self) -> None:
        """Raise ``KeyboardInterrupt`` if Ctrl-C was pressed since it was last raised."""
        if self.pending:
            self.pending, self.heeded = False, True
            raise KeyboardInterrupt

    def heeding(self, items: Iterable[T]) -> Iterator[T]:
        """Pass the items on, and heed Ctrl-C before each."""
        for item in items:
            self.heed()
            yield item

    @contextmanager
    def released(self) -> Iterator[None]:
        """Inside, Ctrl-C is raised at once: for work of others, which cannot ask."""
        self.heed()
        self._released = True
        try:
            yield
        finally:
            self._released = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.pending or self._released:
            self.pending, self.heeded = False, True
            raise KeyboardInterrupt
        self.pending = True
