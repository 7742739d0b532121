"""The rules for texts as data for the scanner in C, so that every list is written down once."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from ..kernels.scan import Scanner, ScannerRules, available
from .abbreviations import ABBREVIATIONS, BEFORE_NUMBERS, NAMES, OFTEN_LAST, ORDINALS, STARTERS
from .characters import kind_table, lower_table
from .markup import BLOCK_TAGS, ENTITIES, INLINE_TAGS
from .sentences import BEFORE_DA, BEFORE_YO

if TYPE_CHECKING:
    from .tokenize import TextConfig

__all__ = ["scanner_for"]

# In the order of the bits in scan_sentences.h.
_LISTS = (
    ABBREVIATIONS,
    BEFORE_NUMBERS,
    OFTEN_LAST,
    STARTERS,
    ORDINALS,
    NAMES,
    BEFORE_YO,
    BEFORE_DA,
)


def scanner_for(config: TextConfig) -> Scanner | None:
    """The scanner that finds what ``tokenize`` does with these settings, or nothing."""
    return _scanner() if config.cjk == "characters" and available() else None


@cache
def _scanner() -> Scanner:
    lists: Counter[str] = Counter()
    for bit, words in enumerate(_LISTS):
        lists.update(dict.fromkeys(words, 1 << bit))
    inline, block = dict.fromkeys(INLINE_TAGS, ord(" ")), dict.fromkeys(BLOCK_TAGS, ord("\f"))
    return Scanner(
        ScannerRules(
            kinds=kind_table(),
            lower=lower_table(),
            tags=inline | block,
            entities=ENTITIES,
            words=lists,
        )
    )
