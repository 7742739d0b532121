"""The compiled kernels: finding them, choosing their version, running their jobs on threads."""

from __future__ import annotations

import ctypes
import functools
import importlib.machinery
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

__all__ = ["SWITCH", "Library", "library", "why_absent"]

SWITCH = "REGARD_KERNELS"
"""The environment variable that turns the kernels off (``0``) or names the best level to use."""

_INTERFACE = 1  # must equal INTERFACE in native.h
_OUT_OF_MEMORY = 1
_ABSENT = "not compiled (no C compiler when the package was installed)"


class Library:
    """The compiled kernels, one version for each instruction set."""

    def __init__(self, path: Path) -> None:
        self._functions = ctypes.CDLL(os.fspath(path))
        found = self._functions.regard_interface()
        if found != _INTERFACE:
            raise OSError(f"{path.name} was built for interface {found}, not {_INTERFACE}")
        self._functions.regard_level_name.restype = ctypes.c_char_p
        count = self._functions.regard_level_count()
        working = [n for n in range(count) if self._functions.regard_level_works(n)]
        self._levels = {self._functions.regard_level_name(n).decode(): n for n in working}
        self._widths = {n: self._functions.regard_level_width(n) for n in working}

    @property
    def levels(self) -> tuple[str, ...]:
        """The instruction sets this processor has a version for, best last."""
        return tuple(self._levels)

    def level_for(self, size: int) -> int:
        """Return the best level whose vectors are no wider than ``size``."""
        ceiling = self._levels.get(os.environ.get(SWITCH, ""), max(self._widths))
        return max(n for n, width in self._widths.items() if width <= size and n <= ceiling)

    def level_name(self, size: int) -> str:
        """Return the name of the level that vectors of ``size`` are computed with."""
        level = self.level_for(size)
        return next(name for name, number in self._levels.items() if number == level)

    def function(self, name: str) -> Callable[..., int]:
        """Return a function of the library by its name."""
        return getattr(self._functions, f"regard_{name}")

    def run(self, name: str, job: ctypes.Structure, *, level: int, threads: int) -> None:
        """Do all tasks of a job, together with ``threads - 1`` others."""
        function, reference = self.function(name), ctypes.byref(job)
        # The job travels with each call: should this thread be interrupted, the memory it
        # points at must outlive the others.
        others = [
            _pool(os.getpid(), threads - 1).submit(_call, function, level, job)
            for _ in range(threads - 1)
        ]
        failures = function(level, reference)
        for other in others:
            # Tasks are taken by whoever comes first: one who has not started finds none left.
            if not other.cancel():
                failures |= other.result()
        if failures == _OUT_OF_MEMORY:
            raise MemoryError(f"no memory for the buffers of the native kernel {name!r}")


def library() -> Library | None:
    """Return the compiled kernels, or nothing where there are none or they are switched off."""
    return None if os.environ.get(SWITCH) == "0" else _load()[0]


def why_absent() -> str:
    """Say why ``library`` returned nothing."""
    return f"switched off by {SWITCH}=0" if os.environ.get(SWITCH) == "0" else _load()[1]


@functools.cache
def _load() -> tuple[Library | None, str]:
    reason = _ABSENT
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        path = Path(__file__).with_name(f"_native{suffix}")
        if path.exists():
            try:
                return Library(path), ""
            except (OSError, AttributeError) as error:
                reason = f"not loaded ({error})"
    return None, reason


@functools.cache
def _pool(process: int, size: int) -> ThreadPoolExecutor:
    # Threads do not survive a fork: a child process has another number, so it gets a new pool.
    return ThreadPoolExecutor(size, thread_name_prefix="regard-kernels")


def _call(function: Callable[..., int], level: int, job: ctypes.Structure) -> int:
    return function(level, ctypes.byref(job))
