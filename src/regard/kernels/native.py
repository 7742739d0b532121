"""The compiled kernels: finding them, choosing their version, running their jobs on threads."""

from __future__ import annotations

import ctypes
import functools
import importlib.machinery
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    Memory = NDArray[np.generic] | Tensor

__all__ = [
    "SWITCH",
    "Job",
    "Library",
    "library",
    "prepare_for_forks",
    "required_library",
    "why_absent",
]

SWITCH = "REGARD_KERNELS"
"""The environment variable that turns the kernels off (0) or names the best instructions to use."""

_INTERFACE = 9  # must equal INTERFACE in native.h
_OUT_OF_MEMORY = 1
_HOME = os.getpid()
_NUMBERS = (int, float)

_number, _pointer = ctypes.c_int64, ctypes.c_void_p
# Arguments must be declared: ctypes would pass undeclared addresses as 32 bits.
_HELPERS = {
    "interface": (),
    "instructions_count": (),
    "instructions_name": (_number,),
    "instructions_width": (_number,),
    "instructions_works": (_number,),
    "add_shares": (_pointer, _number, _number),
    "check_index": (_pointer, _number, _number),
    "group_items": (_pointer, _number, _number, _pointer, _pointer),
    "find_distinct": (_pointer, _number, _number, _pointer, _pointer, _pointer, _pointer),
}
_KERNELS = (
    "forward",
    "backward",
    "gather",
    "attend",
    "project",
    "move",
    "drop",
    "pool",
    "pool_back",
    "pool_context",
    "pool_context_back",
)


class Job(ctypes.Structure):
    """A struct that keeps alive what it points at."""

    def fill(self, **fields: Memory | ctypes.Structure | float | None) -> None:
        """Set fields; an array or tensor is set as the address of its memory."""
        kept = self.__dict__.setdefault("kept", [])
        for name, value in fields.items():
            if value is None or isinstance(value, _NUMBERS):
                setattr(self, name, value)
                continue
            kept.append(value)
            memory = value if isinstance(value, ctypes.Structure) else _address(name, value)
            setattr(self, name, memory)


def _address(name: str, value: Memory) -> int:
    """Where the numbers lie; C would misread them if they did not lie one after the other."""
    if isinstance(value, np.ndarray):
        if value.flags.c_contiguous:
            return value.ctypes.data
    elif value.is_contiguous() and value.is_cpu:
        return value.data_ptr()
    raise ValueError(f"{name} does not lie in memory item after item")


class Library:
    """The compiled kernels, one version for each instruction set."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._functions = ctypes.CDLL(os.fspath(path))
        if (found := self.call("interface")) != _INTERFACE:
            raise OSError(
                f"{path.name} has interface {found}, this package needs {_INTERFACE}; "
                "install it again"
            )
        for name in _KERNELS:
            getattr(self._functions, f"regard_{name}").argtypes = (_number, _pointer)
        names = self._functions.regard_instructions_name
        names.argtypes, names.restype = (_number,), ctypes.c_char_p
        working = [
            n for n in range(self.call("instructions_count")) if self.call("instructions_works", n)
        ]
        self._sets = {names(n).decode(): n for n in working}
        self._widths = {n: self.call("instructions_width", n) for n in working}

    @property
    def instruction_sets(self) -> tuple[str, ...]:
        """The instruction sets this processor has a version for, best last."""
        return tuple(self._sets)

    def instructions_for(self, size: int) -> int:
        """Return the number of the best set whose vectors are no wider than ``size``."""
        ceiling = self._sets.get(os.environ.get(SWITCH, ""), max(self._widths))
        return max(n for n, width in self._widths.items() if width <= size and n <= ceiling)

    def instructions_name(self, size: int) -> str:
        """Return the name of the instructions that vectors of ``size`` are computed with."""
        instructions = self.instructions_for(size)
        return next(name for name, number in self._sets.items() if number == instructions)

    def call(self, name: str, *arguments: int) -> int:
        """Call a function that is not cut into tasks; addresses are passed as numbers."""
        function = getattr(self._functions, f"regard_{name}")
        function.argtypes = _HELPERS[name]
        return function(*arguments)

    def run(self, name: str, job: ctypes.Structure, *, instructions: int, threads: int) -> None:
        """Do all tasks of a job, together with ``threads - 1`` others."""
        prepare_for_forks()
        if threads == 1:
            failures = self._work(name, instructions, job)
        elif team := _team():
            kernel = ctypes.cast(getattr(self._functions, f"regard_{name}"), _pointer)
            call = _Call(kernel, instructions, ctypes.addressof(job), 0)
            team(ctypes.cast(self._functions.regard_work, _pointer), ctypes.byref(call), threads, 0)
            failures = call.failures
        else:
            failures = self._run_in_pool(name, instructions, job, threads)
        if failures == _OUT_OF_MEMORY:
            raise MemoryError(f"no memory for the buffers of the native kernel {name!r}")
        if failures:
            raise RuntimeError(f"the native kernel {name!r} failed with {failures}")

    def _run_in_pool(
        self, name: str, instructions: int, job: ctypes.Structure, threads: int
    ) -> int:
        # The job itself is handed on, not its address: should the thread that waits be
        # interrupted, the memory must outlive those who still work.
        pool = _pool(os.getpid(), threads - 1)
        others = [pool.submit(self._work, name, instructions, job) for _ in range(threads - 1)]
        failures = self._work(name, instructions, job)
        for other in others:
            # Tasks are taken by whoever comes first: one who has not started finds none left.
            if not other.cancel():
                failures |= other.result()
        return failures

    def _work(self, name: str, instructions: int, job: ctypes.Structure) -> int:
        return getattr(self._functions, f"regard_{name}")(instructions, ctypes.byref(job))


class _Call(ctypes.Structure):
    """A kernel and its instructions, as ``struct call`` in native.h."""

    _fields_ = [
        ("kernel", _pointer),
        ("instructions", _number),
        ("job", _pointer),
        ("failures", _number),
    ]


def library() -> Library | None:
    """Return the compiled kernels, or nothing where there are none or they are switched off."""
    choice = os.environ.get(SWITCH, "")
    if choice == "0":
        return None
    found, reason = _load()
    if choice not in ("", "1") and (found is None or choice not in found.instruction_sets):
        _refuse(choice, found.instruction_sets if found else (), reason)
    return found


def _refuse(choice: str, known: Sequence[str], reason: str) -> NoReturn:
    if not known:
        raise ConfigError(
            f"{SWITCH}={choice} asks for native kernels, which are {reason}; unset it to do without"
        )
    raise ConfigError(
        f"{SWITCH} cannot be {choice!r}; it turns native kernels off (0) or on (1), "
        f"or names the best instructions to use: {', '.join(known)}"
    )


def required_library() -> Library:
    """Return the compiled kernels for a call that was made without asking whether there are any."""
    found = library()
    if found is None:
        raise RuntimeError(f"there are no native kernels: {why_absent()}; ask available() first")
    return found


def why_absent() -> str:
    """Say why ``library`` returned nothing."""
    return f"switched off by {SWITCH}=0" if os.environ.get(SWITCH) == "0" else _load()[1]


@functools.cache
def _load() -> tuple[Library | None, str]:
    reason = "not compiled: there was no C compiler when the package was installed"
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        path = Path(__file__).with_name(f"_native{suffix}")
        if path.exists():
            try:
                return Library(path), ""
            except (OSError, AttributeError) as error:
                reason = f"not loaded: {error}"
    return None, reason


@functools.cache
def prepare_for_forks() -> None:
    """Let children of this process compute on one thread; call it where threads are used.

    Those of torch do not survive a fork: a child that calls on them waits for ever, in torch's
    own operations too. A child that wants more must be spawned.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_use_one_thread)


def _use_one_thread() -> None:
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def _team() -> Callable[..., None] | None:
    """Return what runs a function on torch's own threads, where that is best.

    After each operation they stay awake for milliseconds, waiting for the next: threads of our
    own would have to share the cores with them. But they also wait awake for each other, which
    on a crowded machine takes the core from the one waited for. And they do not survive a fork:
    whoever calls on them in a child waits forever.
    """
    child = os.getpid() != _HOME or multiprocessing.parent_process() is not None
    return None if child or _crowded(int(time.monotonic())) else _openmp()


@functools.lru_cache(1)
def _crowded(second: int) -> bool:
    """Say whether more wants to run than there are cores; the system is asked once a second."""
    return os.getloadavg()[0] > (os.cpu_count() or 1) + 1


@functools.cache
def _openmp() -> Callable[..., None] | None:
    try:
        loaded = ctypes.CDLL("libgomp.so.1", mode=os.RTLD_NOLOAD)
    except (OSError, AttributeError):  # torch has another runtime, or the system has no such mode
        return None
    parallel = loaded.GOMP_parallel
    parallel.argtypes = (_pointer, _pointer, ctypes.c_uint, ctypes.c_uint)
    parallel.restype = None
    return parallel


@functools.cache
def _pool(process: int, size: int) -> ThreadPoolExecutor:
    # Threads do not survive a fork: a child has another process number, so it makes its own.
    return ThreadPoolExecutor(size, thread_name_prefix=f"regard-{process}")
