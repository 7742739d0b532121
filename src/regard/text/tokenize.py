"""From a text to its tokens: sentences and words together.

The rules are written down here and in the files that this one calls; where there is the scanner
in C, it takes their tables and lists as data and finds the same, much faster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..config import checked_settings, require_counts, require_one_of
from ..errors import MissingExtra
from ..kernels.scan import Scanner, ScannerRules, available
from .characters import is_hangul, kind_table, kinds_of, lower_table
from .document import Tokens, cut_tokens
from .markup import BLOCK_TAGS, ENTITIES, INLINE_TAGS, mask_markup
from .sentences import WORD_LISTS, sentence_ends
from .words import (
    LETTERS,
    SYLLABLES,
    dictionary_joins,
    join_endings,
    katakana_joins,
    word_spans,
)

__all__ = [
    "MOST_UNSEEN",
    "TextConfig",
    "join_words",
    "scanner_for",
    "settle_hangul",
    "share_of_new",
    "tokenize",
    "tokenize_many",
]


@dataclass(frozen=True)
@checked_settings
class TextConfig:
    """How texts become tokens and tokens become ids."""

    lowercase: bool = True
    """The vocabulary sees words in lower case; the text itself is never altered."""
    min_count: int | None = None
    """A word that the training texts hold fewer times is out of the vocabulary. Usually 2; 1 where
    the texts are few or short, so that many of their words occur but once."""
    max_size: int | None = None
    """At most so many words, the most frequent ones; padding and out-of-vocabulary not counted."""
    max_sentences: int | None = None
    """At most so many sentences of a document; what is cut is reported."""
    max_words: int | None = None
    """At most so many words of a sentence; what is cut is reported."""
    cjk: Literal["characters", "icu"] = "characters"
    """Scripts without spaces: one token a character, or words from ICU's dictionaries."""
    hangul: Literal["auto", "words", "syllables"] = "auto"
    """Korean: one token a word, or a syllable; a classifier looks at its texts to choose."""
    reading: Literal["auto", "words", "letters"] = "auto"
    """A token is a word, or each of its letters and figures; a classifier of texts of few words
    tries both, as names are mostly new and known by their letters."""
    unknown: Literal["auto", "one", "alike", "nearest"] = "auto"
    """Words out of the vocabulary: one word for all of them, or each as the known word that begins
    alike, or as the one whose letters are nearest, where there is one. A classifier of words
    chooses one of these two."""

    def __post_init__(self) -> None:
        require_one_of("cjk", self.cjk, ("characters", "icu"))
        require_counts(self, "min_count", "max_size", "max_sentences", "max_words")

    @property
    def token(self) -> str:
        """What most tokens are, as it is called."""
        return {LETTERS: "letter", SYLLABLES: "syllable"}.get(self.parted, "word")

    @property
    def parted(self) -> bytes:
        """The kinds of characters that are tokens of their own, beside those without spaces."""
        if self.reading == "letters":
            return LETTERS
        return SYLLABLES if self.hangul == "syllables" else b""


_DEFAULT = TextConfig()
_UNSPACED = np.frombuffer(b"ck", np.uint8)  # letters that may each be a token in any texts


def tokenize(text: str, config: TextConfig = _DEFAULT) -> Tokens:
    """Find the words of ``text``, sentence by sentence; nothing is cut or altered.

    Tags are passed over, punctuation is kept. A text without words has no sentences.
    """
    kinds = kinds_of(text)
    mask_markup(text, kinds)
    joined = dictionary_joins(text, kinds) if config.cjk == "icu" else None
    spans = word_spans(kinds, joined, parted=config.parted)
    return Tokens(text, spans, _per_sentence(spans, sentence_ends(text, kinds)))


def tokenize_many(texts: Sequence[str], config: TextConfig = _DEFAULT) -> list[Tokens]:
    """Do as ``tokenize`` for each text, but much faster where there is the scanner in C."""
    scanner = scanner_for(config)
    if scanner is None:
        return [tokenize(text, config) for text in texts]
    return cut_tokens(texts, scanner.scan(texts))


def join_words(tokens: Tokens, config: TextConfig = _DEFAULT) -> Tokens:
    """Say which tokens make up each word, where a model reads letters, characters or syllables.

    Chinese, Japanese, Thai and the like have the words of ICU's dictionaries, Korean those between
    spaces. Without ICU, which some systems lack, the former have a word a character. Of a text of
    one word that is read by letters these are seen: there is nothing else to tell apart.
    """
    by_letters = config.parted == LETTERS
    if tokens.text.isascii() and not by_letters:
        return tokens
    kinds = kinds_of(tokens.text)
    if not by_letters and not np.isin(kinds, _UNSPACED).any():
        return tokens
    mask_markup(tokens.text, kinds)
    joined = katakana_joins(tokens.text)
    with suppress(MissingExtra):
        joined = np.concatenate([joined, dictionary_joins(tokens.text, kinds)])
    starts = join_endings(tokens.text, word_spans(kinds, joined))[:, 0]
    words = np.searchsorted(starts, tokens.spans[:, 0], side="right")
    homes = np.repeat(np.arange(len(tokens.per_sentence)), tokens.per_sentence)
    begins = (np.diff(words, prepend=-1) != 0) | (np.diff(homes, prepend=-1) != 0)
    if begins.all():
        return tokens
    per_word = np.diff(np.flatnonzero(begins), append=len(tokens)).astype(np.int32)
    if by_letters and len(per_word) == 1:
        return replace(tokens, spelt=True)
    return replace(tokens, per_word=per_word)


def _per_sentence(spans: NDArray[np.int32], ends: list[int]) -> NDArray[np.int32]:
    """How many tokens begin before each end and after the one before; none has zero."""
    edges = np.zeros(len(ends) + 2, np.int32)
    edges[1:-1] = np.searchsorted(spans[:, 0], ends)
    edges[-1] = len(spans)
    counts = edges[1:] - edges[:-1]
    return counts[counts > 0]


def scanner_for(config: TextConfig) -> Scanner | None:
    """The scanner that finds what ``tokenize`` does with these settings, or nothing."""
    if config.cjk != "characters" or not available():
        return None
    return _scanner(config.parted)


@cache
def _scanner(parted: bytes) -> Scanner:
    lists: Counter[str] = Counter()
    for bit, words in enumerate(WORD_LISTS):
        lists.update(dict.fromkeys(words, 1 << bit))
    inline, block = dict.fromkeys(INLINE_TAGS, ord(" ")), dict.fromkeys(BLOCK_TAGS, ord("\f"))
    return Scanner(
        ScannerRules(
            kinds=kind_table(),
            lower=lower_table(),
            tags=inline | block,
            entities=ENTITIES,
            words=lists,
            parted=parted,
        )
    )


MOST_UNSEEN = 0.1
"""The share of words that may be new to who has read half of the texts."""


def share_of_new(words: Sequence[str]) -> float:
    """Return how many words of the second half of some texts the first half does not have."""
    known = set(words[: len(words) // 2])
    later = words[len(words) // 2 :]
    return sum(word not in known for word in later) / max(len(later), 1)


def settle_hangul(texts: Sequence[str], config: TextConfig) -> TextConfig:
    """Choose what is a token of Korean by some texts, where the settings leave it open.

    A Korean word carries endings, so most of those in a text may be met for the first time, and
    all that are unknown look alike; syllables are few and known. Other texts stay as they are.
    """
    if config.hangul != "auto":
        return config
    words = [token for tokens in tokenize_many(texts, config) for token in tokens.words()]
    korean = [word for word in words if is_hangul(word)]
    parted = len(korean) > len(words) / 2 and share_of_new(korean) > MOST_UNSEEN
    return replace(config, hangul="syllables") if parted else config
