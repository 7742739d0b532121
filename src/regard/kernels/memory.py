"""Memory that is kept from one training step to the next."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator

__all__ = ["kept_memory"]

# Parameters of glibc's mallopt, from malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -3, -4
_KEPT = (1 << 31) - 1  # bytes: the most that mallopt takes
_LARGEST_THRESHOLD = 32 << 20  # bytes: where malloc's own adjustment ends
_USUAL_MMAP_MAX = 65536


@contextlib.contextmanager
def kept_memory() -> Iterator[None]:
    """Let the process keep what it frees while the block runs, and hand it back at the end.

    Otherwise malloc returns each large tensor to the system, which must fill it with zeros again
    for the next step: a tenth of the time at large hidden sizes. It does nothing where malloc is
    not glibc's or was told by the environment what to do.
    """
    library = _glibc()
    if library is None:
        yield
        return
    library.mallopt(_MMAP_MAX, 0)
    library.mallopt(_TRIM_THRESHOLD, _KEPT)
    try:
        yield
    finally:
        library.mallopt(_MMAP_MAX, _USUAL_MMAP_MAX)
        library.mallopt(_MMAP_THRESHOLD, _LARGEST_THRESHOLD)
        library.mallopt(_TRIM_THRESHOLD, 2 * _LARGEST_THRESHOLD)
        library.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    told = any(name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in os.environ)
    if told or os.name != "posix":
        return None
    library = ctypes.CDLL(None)
    ours = all(hasattr(library, name) for name in ("gnu_get_libc_version", "mallopt"))
    return library if ours else None
