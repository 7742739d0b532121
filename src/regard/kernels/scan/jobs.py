"""The structs of ``scanner.h``, field for field, and the C functions that take them."""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path

from ...errors import DataError
from ..native import Job, library, required_library, why_absent

__all__ = ["LANES", "MARGIN", "NumberJob", "Rules", "ScanJob", "Table", "call", "why_not"]

LANES = 8  # must equal LANES in scanner.h: so many characters more must be readable
MARGIN = 2  # must equal MARGIN in text.h

_INTERFACE = 1  # must equal SCANNER_INTERFACE in scanner.h
_MOST_CODES = (1 << 32) - 1  # so that a word's place fits into a slot
_NAMES = ("scan", "enter_words", "number_words")

_number = ctypes.c_int64
_pointer = ctypes.c_void_p


class Table(Job):
    """Words and their numbers."""

    _fields_ = (
        ("word_count", _number),
        ("word_room", _number),
        ("code_room", _number),
        ("slot_count", _number),
        ("codes", _pointer),
        ("starts", _pointer),
        ("slots", _pointer),
        ("values", _pointer),
    )


class Rules(Job):
    """What the scanner's rules take from Python."""

    _fields_ = (
        ("kinds", _pointer),
        ("lower", _pointer),
        ("lower_count", _number),
        ("tags", Table),
        ("entities", Table),
        ("words", Table),
    )


class ScanJob(Job):
    """Texts end to end, and room for what is found in them."""

    _fields_ = (
        ("rules", ctypes.POINTER(Rules)),
        ("text_count", _number),
        ("starts", _pointer),
        ("codes", _pointer),
        ("lowered", _pointer),
        ("kinds", _pointer),
        ("bases", _pointer),
        ("spans", _pointer),
        ("sentence_lengths", _pointer),
        ("token_counts", _pointer),
        ("sentence_counts", _pointer),
    )


class NumberJob(Job):
    """Tokens to the numbers of their words."""

    _fields_ = (
        ("table", ctypes.POINTER(Table)),
        ("grows", _number),
        ("text_count", _number),
        ("starts", _pointer),
        ("codes", _pointer),
        ("spans", _pointer),
        ("token_counts", _pointer),
        ("numbers", _pointer),
    )


def why_not() -> str:
    """Say why the functions cannot be called, or nothing where they can."""
    native = library()
    return why_absent() if native is None else _load(native.path)[1]


def call(name: str, job: Job) -> None:
    """Call a function of the scanner; other Python threads run meanwhile."""
    functions, problem = _load(required_library().path)
    if functions is None:
        raise RuntimeError(f"there is no text scanner: {problem}; ask available() first")
    if getattr(functions, f"regard_{name}")(ctypes.byref(job)):
        # Callers make the room that they ask to be filled, so only the words' sum can be too much.
        raise DataError(
            f"the text scanner's {name!r} ran out of room: all different words together "
            f"can have {_MOST_CODES:,} characters at most"
        )


@functools.cache
def _load(path: Path) -> tuple[ctypes.CDLL | None, str]:
    functions = ctypes.CDLL(os.fspath(path))
    try:
        found = functions.regard_scanner_interface()
        for name in _NAMES:
            getattr(functions, f"regard_{name}").argtypes = (_pointer,)
    except AttributeError:
        return None, "the native kernels were built before there was one; install again"
    if found != _INTERFACE:
        return None, f"the native kernels have scanner {found}, this package needs {_INTERFACE}"
    return functions, ""
