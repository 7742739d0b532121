"""Where words begin and end, by rules over the kinds of characters.

Whether a character goes on with the token before it depends on the two of them, at most two
more on either side, and for marks on the character they stand on. So one pass suffices. Words of
scripts without spaces are looked up in the dictionaries of ICU.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingExtra
from .characters import Kinds

__all__ = [
    "LETTERS",
    "PARTICLES",
    "STANDING",
    "SYLLABLES",
    "dictionary_joins",
    "join_endings",
    "katakana_joins",
    "word_spans",
]

SYLLABLES, LETTERS = b"k", b"aAxk1"
"""The kinds of characters that are parted to read Korean by syllables, and all words by letters."""
_REACH = 2  # how far to either side a rule looks
_RUN = re.compile(rb"c[cm]+")
_HIRAGANA = re.compile("[ぁ-ゖー]+")
_INFLECTED = re.compile("[ぁ-ゖ一-鿿々]")
_SMALL = "っゃゅょぁぃぅぇぉー"
_BEHIND_WORDS = (  # particles
    "は が を に の へ も と や か ね よ から まで より だけ など しか ので のに けど ほど "
    "くらい ぐらい"
)
_SHORT_WORDS = (
    "で だ です この その あの どの こと もの とき ため ここ そこ もう まだ また よく いい なに "
    "どう そう さん"
)
PARTICLES = frozenset(_BEHIND_WORDS.split())
"""Words of hiragana that stand behind others and take no ending."""
STANDING = PARTICLES | frozenset(_SHORT_WORDS.split())
"""Words of hiragana that are no endings."""
_KATAKANA = ((0x30A1, 0x30FB), (0x30FC, 0x30FF), (0x31F0, 0x3200), (0xFF66, 0xFFA0))


def _flags(kinds: bytes) -> NDArray[np.bool_]:
    """For every kind whether it is one of ``kinds``, (256,)."""
    flags = np.zeros(256, np.bool_)
    flags[list(kinds)] = True
    return flags


def _joins() -> NDArray[np.bool_]:
    """For every pair of kinds whether the second goes on with the first, (65536,)."""
    joins = np.zeros((256, 256), np.bool_)
    joins[np.ix_(list(b"aAxk1"), list(b"aAxk1"))] = True
    for kind in b".!z'`-d*=~+#^$uf":  # "...", "!?!", "--", "''", addresses and faces
        joins[kind, kind] = True
    return joins.ravel()


_JOINS = _joins()
_IS_NOTHING = _flags(b" \n\f")
_IS_MARK = _flags(b"mj")
_IS_MIDDLE = _flags(b"'.,:")
_IS_WORD = _flags(b"aAxk1")
_IS_LETTER = _flags(b"aAx")
_TAKES_APOSTROPHE = _flags(b"aAx1")  # Hangul does not: what looks like one is a quotation mark


def word_spans(
    kinds: Kinds, joined: NDArray[np.intp] | None = None, *, parted: bytes = b""
) -> NDArray[np.int32]:
    """Where each token begins and ends, (tokens, 2).

    ``joined`` are places of further characters that go on with the token before them, as a
    dictionary has it for scripts without spaces. Each character of the kinds in ``parted`` is a
    token of its own.
    """
    written = np.full(len(kinds) + 2 * _REACH, ord(" "), np.uint8)
    written[_REACH : len(kinds) + _REACH] = kinds
    marks = np.flatnonzero(_IS_MARK[written])
    bases = _with_bases(written) if len(marks) else written.copy()
    _join_middles(bases)
    if parted:
        bases[_flags(parted)[bases]] = ord("c")
    pairs = bases[:-1].astype(np.uint16) << 8
    pairs |= bases[1:]
    goes_on = _JOINS[pairs]  # goes_on[n]: character n + 1 belongs to the token of character n
    if len(marks):
        _join_marks(written, marks, goes_on)
    _join_flags(written, goes_on)
    if joined is not None:
        goes_on[joined + _REACH - 1] = True
    nothing = _IS_NOTHING[bases]
    starts = np.flatnonzero(~(goes_on | nothing[1:]))
    ends = np.flatnonzero(~(goes_on | nothing[:-1]))
    spans = np.empty((len(starts), 2), np.int32)
    spans[:, 0] = starts
    spans[:, 1] = ends
    spans -= _REACH - 1
    return spans


def _with_bases(written: Kinds) -> Kinds:
    """The kinds, but a mark has that of what it stands on; if that is nothing, of a letter."""
    is_mark = _IS_MARK[written]
    is_first = is_mark & np.concatenate(([True], _IS_NOTHING[written[:-1]]))
    places = np.where(is_mark & ~is_first, 0, np.arange(len(written)))
    return np.where(is_first, np.uint8(ord("x")), written)[np.maximum.accumulate(places)]


def _join_middles(bases: Kinds) -> None:
    """Make letters of the signs inside don't, 1,234.56, 10:30, 8/10 and U.S.A."""
    at = np.flatnonzero(_IS_MIDDLE[bases])
    if not len(at):
        return
    middle, before, after = bases[at], bases[at - 1], bases[at + 1]
    figures = (before == ord("1")) & (after == ord("1"))
    words = _TAKES_APOSTROPHE[before] & _TAKES_APOSTROPHE[after]
    joined = np.where(middle == ord("'"), words, figures)
    initials = (middle == ord(".")) & _IS_LETTER[before] & _IS_LETTER[after]
    initials &= ~(_IS_WORD[bases[at - 2]] | _IS_WORD[bases[at + 2]])
    last = at[initials] + 2  # the dot after the second letter, if there is one
    last = last[
        (bases[last] == ord(".")) & (bases[np.minimum(last + 1, len(bases) - 1)] != ord("."))
    ]
    bases[at[joined | initials]] = ord("x")
    bases[last] = ord("x")


def _join_marks(written: Kinds, marks: NDArray[np.intp], goes_on: NDArray[np.bool_]) -> None:
    goes_on[marks - 1] = ~_IS_NOTHING[written[marks - 1]]
    joiners = marks[written[marks] == ord("j")]
    goes_on[joiners] |= written[joiners + 1] == ord("e")


def _join_flags(written: Kinds, goes_on: NDArray[np.bool_]) -> None:
    """Join regional indicators two by two."""
    at = np.flatnonzero(written == ord("r"))
    if not len(at):
        return
    order = np.arange(len(at))
    is_first = np.concatenate(([True], np.diff(at) != 1))
    since_first = order - np.maximum.accumulate(np.where(is_first, order, 0))
    goes_on[at[since_first % 2 == 1] - 1] = True


def dictionary_joins(text: str, kinds: Kinds) -> NDArray[np.intp]:
    """The places of the characters that go on with the word before them."""
    try:
        from icu4py.breakers import WordBreaker
    except ImportError as error:
        raise MissingExtra("icu4py", None, "cjk='icu'") from error
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


def katakana_joins(text: str) -> NDArray[np.intp]:
    """The places of the letters of katakana that follow another: they write one foreign word.

    Dictionaries hold few of these words, and cut the others at odd places.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    found = np.zeros(len(codes) + 1, np.bool_)
    for start, end in _KATAKANA:
        found[1:] |= (codes >= start) & (codes < end)
    return np.flatnonzero(found[1:] & found[:-1])


def join_endings(text: str, spans: NDArray[np.int32]) -> NDArray[np.int32]:
    """Put the endings of Japanese verbs and adjectives to their words, (words, 2).

    Dictionaries cut 眠れません into four. An ending is one or two letters of hiragana that are no
    particle and no word of their own, behind kanji or hiragana; a small っ never begins a word.
    """
    if not _HIRAGANA.search(text):
        return spans
    found: list[list[int]] = []
    pieces = spans.tolist()
    for place, (start, end) in enumerate(pieces):
        following = text[end] if place + 1 < len(pieces) and pieces[place + 1][0] == end else ""
        if found and found[-1][1] == start:
            before, piece = text[found[-1][0] : start], text[start:end]
            if _is_ending(piece, before, following):
                found[-1][1] = end
                continue
        found.append([start, end])
    return np.array(found, np.int32).reshape(-1, 2)


def _is_ending(piece: str, before: str, following: str) -> bool:
    if not (_HIRAGANA.fullmatch(piece) and _INFLECTED.fullmatch(before[-1])):
        return False
    if piece[0] in _SMALL:
        return True
    if len(piece) > 2 or before in PARTICLES:
        return False
    return following == "っ" or piece not in STANDING


def _characters(written: str) -> NDArray[np.intp]:
    """The place of the character that each UTF-16 unit, which ICU counts, belongs to."""
    wide = np.array([ord(character) > 0xFFFF for character in written])
    return np.repeat(np.arange(len(written)), 1 + wide)
