"""Words of scripts without spaces, found in the dictionaries of ICU (the extra ``cjk``)."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingExtra
from .characters import Kinds

__all__ = ["dictionary_joins"]

_RUN = re.compile(rb"c[cm]+")


def dictionary_joins(text: str, kinds: Kinds) -> NDArray[np.intp]:
    """The places of the characters that go on with the word before them."""
    try:
        from icu4py.breakers import WordBreaker
    except ImportError as error:
        raise MissingExtra("icu4py", "cjk", "cjk='icu'") from error
    joined: list[NDArray[np.intp]] = [np.empty(0, np.intp)]
    for run in _RUN.finditer(kinds.tobytes()):
        written = text[run.start() : run.end()]
        starts = _characters(written)[
            [start for start, _ in WordBreaker(written, "und").segments()]
        ]
        goes_on = np.ones(len(written), np.bool_)
        goes_on[starts] = False
        goes_on[0] = False
        joined.append(np.flatnonzero(goes_on) + run.start())
    return np.concatenate(joined)


def _characters(written: str) -> NDArray[np.intp]:
    """The place of the character that each UTF-16 unit, which ICU counts, belongs to."""
    wide = np.array([ord(character) > 0xFFFF for character in written])
    return np.repeat(np.arange(len(written)), 1 + wide)
