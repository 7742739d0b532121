"""Where sentences end, by rules over the kinds of characters.

First what cannot be doubted: a tag that ends a block, a blank line, a line that was not merely
wrapped, an ideographic full stop. Then the full stop, which may also belong to an abbreviation,
an initial, an ordinal or a list. Every rule looks a bounded way back and ahead.

The lists of words, all in lower case, hold several languages at once, so a text need not say which
it is in; a word that is an abbreviation here and an ordinary last word there is left out or asks
for more evidence.
"""

from __future__ import annotations

import re

from .characters import Kinds, lower_case

__all__ = [
    "ABBREVIATIONS",
    "BEFORE_NUMBERS",
    "NAMES",
    "OFTEN_LAST",
    "ORDINALS",
    "STARTERS",
    "WORD_LISTS",
    "ends_korean_sentence",
    "sentence_ends",
]


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


ABBREVIATIONS = _words(
    "mr mrs ms messrs dr drs prof rev pres gov sen gen col maj capt cpt lt sgt cmdr adm st ste "
    "mt vs viz cf ca e.g i.e eg ie resp approx figs vols pp eds al nos ps p.s pvt assoc rs n° "
    # German
    "fr hr bzw bspw evtl ggf inkl exkl sog vgl z.b z.t d.h u.a o.ä i.d.r s.o s.u nr geb gest "
    "dipl std "
    # French, Spanish, Italian, Dutch, Danish, Polish, Slovak, Russian
    "mme mlle mgr sra srta dra lic dott avv sig dhr mevr bijv skt np tzn tzw napr "
    "проф ул гг кв пгт им см"
)
"""A full stop after one of these never ends the sentence."""

BEFORE_NUMBERS = _words(
    "no art abs abb fig vol sec ch bd tel ext min max p núm pág стр jan feb mar apr jun jul aug "
    "sep sept set oct okt nov dec dez ago lun"
)
"""A full stop after one of these does not end the sentence if a figure follows."""

OFTEN_LAST = _words(
    "co inc ltd corp bros jr sr etc ect ecc dept ave blvd rd hwy apt avg oz lb lbs ed ing mag voc "
    "tues thur thurs usw mio mrd tsd chr enz пр"
)
"""A full stop after one of these ends the sentence only if the next word often begins one."""

STARTERS = _words(
    "a an the this that these those there here i he she it we you they my his her its our "
    "your their but and so if when while after before as at in on for from to with by of not "
    "no yes what who why how where which is are was were do does did can could would should "
    "will may might have has had all some many most one every each both just now then also "
    "even only once however although though because since "
    "der die das ein eine er sie es wir ich ihr sein seine ihre dieser diese dieses im am auf "
    "mit nach bei von zu aus und aber doch wenn als da dort hier auch nur wie was wer wo man"
)
"""Words that often begin a sentence and hardly ever a name."""

ORDINALS = _words(
    "am im der die das dem den des vom zum zur beim bis ab seit und oder ein eine einem einen "
    "einer vor januar februar märz april mai juni juli august september oktober november dezember "
    "jahrhundert jahrhunderts"
)
"""Beside one of these a short number with a full stop is an ordinal: am 3. Oktober."""

NAMES = frozenset({"yahoo", "jeopardy"})
"""Names that end in an exclamation mark."""

# Wherever a sentence might end. A pattern takes all that it looks at, but for a bounded rest.
# The first line is all of the first characters, so that every other is passed over quickly.
_PLACE = re.compile(
    rb"""(?=[.!zo\n\fb)kf])(?:
         ([.!z]+(?:\ \.(?!\.))*)                        # 1: . ?! ... and . . .
         ([\"'`)\]m]*(?:\ ?\[1{1,3}\]|\ f+(?=\ ))*)     # 2: what closes: quotes, [17], :-)
         ([\ \n\f]*)                                    # 3: the gap behind
      | (o[o!.m]*[\"'`)>m]*)                            # 4: an ideographic full stop
      | ([\n\f][\ \n\f]*)                               # 5: the end of a line
      | (b)                                             # 6: a bullet
      | (\))                                            # 7: the end of 2)
      | (k~*(?=\ ))                                     # 8: the end of a Korean word
      | (f+\ *)                                         # 9: a face
    )""",
    re.VERBOSE,
)
_OPENERS = re.compile(rb"(?:[\-d]{1,3} )?[\"'`(<\[m\-db]{0,8}")
_LEAD = re.compile(rb"[ \n\f\"'`(<\[m\-db]{0,16}")
_ITEM = re.compile(rb"(?:1{1,2}|a)(?:\.\)|[.)])(?:[ \n\f]|\Z)")
_ACRONYM = re.compile(rb"[aA]{1,3}(?:\.[aA]{1,3})+")  # U.S.A, p.m, Ph.D
_BRACKET = re.compile(rb"[<>\n\f]")
_BRACKET_REACH = 40  # how far ahead a title or a quotation may close
_WORD_REACH = 24  # longer than any word of the lists
_NARROW, _WIDE = 40, 120  # a line between these lengths may have been wrapped
_NOTHING = frozenset(b" \n\f")
_IN_WORD = frozenset(b"aAxk1me.")
_LETTERS = frozenset(b"aAxk")
_UNSPACED = frozenset(b"ck")
_FIGURE, _UPPER, _LOWER, _DOT, _MARK = b"1Aa.!"

# Korean sentences often end in a verb form and a space alone.
_SYLLABLES = [chr(code) for code in range(ord("가"), ord("힣") + 1)]
_FINALS = (4, 18, 20)  # ㄴ ㅄ ㅆ, as in 한다, 없다, 했다
_FINAL_COUNT = 28  # syllables are numbered so that the final consonant changes first

BEFORE_YO = frozenset("어아네세구나해고군데에예까와줘지게워내여래")
"""Syllables that make a verb form with 요 behind them."""

BEFORE_DA = frozenset("니이").union(*(_SYLLABLES[final::_FINAL_COUNT] for final in _FINALS))
"""Syllables that make a verb form with 다 behind them."""

WORD_LISTS = (
    *(ABBREVIATIONS, BEFORE_NUMBERS, OFTEN_LAST, STARTERS, ORDINALS, NAMES),
    *(BEFORE_YO, BEFORE_DA),
)
"""All lists, in the order of the bits in ``kernels/scan/sentences.h``."""


def sentence_ends(text: str, kinds: Kinds) -> list[int]:
    """The places where a sentence ends, rising; what follows the last is one more sentence."""
    return _Walk(text, kinds.tobytes()).ends()


class _Walk:
    """One walk through a text, and what the rules may ask of the place it has come to.

    A rule returns where the sentence ends, or 0 where it does not.
    """

    def __init__(self, text: str, kinds: bytes) -> None:
        self.text = text
        self.kinds = kinds
        first = len(kinds) - len(kinds.lstrip())
        self.sentence = first  # where the current sentence begins
        self.line = first  # where the current line begins

    def ends(self) -> list[int]:
        stop, line, bracket = 3, 5, 7
        rules = {stop: self._stop, 4: self._full, line: self._line, 6: self._bullet}
        rules |= {8: self._korean, 9: self._face}
        ends = []
        for place in _PLACE.finditer(self.kinds):
            kind = place.lastindex or stop
            if kind in (stop, bracket) and (item := self._item_before(place)):
                ends.append(item)
                self.sentence = item
            if kind != bracket and (end := rules[kind](place)):
                ends.append(end)
                self.sentence = place.end()
            if kind == line or (kind == stop and _is_line_end(place[stop])):
                self.line = place.end()
        return ends

    def _stop(self, place: re.Match[bytes]) -> int:
        start, stop = place.span(1)
        close, gap = place.span(3)
        if close == gap < len(self.kinds):
            return close if self._ends_unspaced(start, stop, close) else 0
        if self._ends_spaced(place):
            return close
        return close if _is_line_end(place[3]) and not self._is_wrapped(close, gap) else 0

    def _ends_unspaced(self, start: int, stop: int, close: int) -> bool:
        """Whether a stop with no space behind ends the sentence: 很好!下次, great.The."""
        before, after = self.kinds[start - 1] if start else 0, self.kinds[close]
        single = stop - start == 1
        if before in _UNSPACED and after in _UNSPACED:
            return single or self.kinds[start] == _MARK
        if before != _LOWER or after != _UPPER or stop != close:
            return False
        if self.kinds[start] == _MARK:
            return True
        following = self._word_after(close)
        behind = close + len(following)
        return single and following in STARTERS and self.kinds[behind : behind + 1] == b" "

    def _ends_spaced(self, place: re.Match[bytes]) -> bool:
        start, stop = place.span(1)
        close, gap = place.span(3)
        following = self._skip_openers(gap)
        after = self.kinds[following] if following < len(self.kinds) else 0
        if after in b",;:)" or (start and self.kinds[start - 1] in b"([<"):
            return False
        if after == _LOWER and (following > gap or close > stop):
            return False  # "This is great." she said
        single = stop - start == 1
        if self.kinds[start] == _MARK:
            return not (single and after == _LOWER and self._word_before(start) in NAMES)
        if not single or self.kinds[start] != _DOT:
            return after != _LOWER  # ...
        return self._dot_ends(start, following, after)

    def _dot_ends(self, dot: int, following: int, after: int) -> bool:
        word = self._word_before(dot)
        first = dot - len(word)
        is_alone = first == 0 or self.kinds[first - 1] in b" \n\f\"'`(["
        if not word:
            return after != _LOWER or is_alone
        if word in ABBREVIATIONS:
            return False
        written = self.kinds[first:dot]
        if not written.strip(b"1"):
            return after != _LOWER and self._number_ends(word, first, following)
        if after == _FIGURE and word in BEFORE_NUMBERS:
            return False
        is_initial = is_alone and written in (b"A", b"a")
        if is_initial or word in OFTEN_LAST or _ACRONYM.fullmatch(written):
            is_item = is_initial and self._lead() >= first
            return not is_item and after == _UPPER and self._word_after(following) in STARTERS
        is_ordinary = len(word) > 2 or word in STARTERS
        return after != _LOWER or (is_ordinary and word not in BEFORE_NUMBERS)

    def _number_ends(self, word: str, first: int, following: int) -> bool:
        if len(word) <= 3 and self._lead() >= first:
            return False  # 1. The first item
        if len(word) > 2:
            return True
        return not {self._word_before(first - 1), self._word_after(following)} & ORDINALS

    def _full(self, place: re.Match[bytes]) -> int:
        start, end = place.span()
        if self.kinds[start - 1 : start] == self.kinds[end : end + 1] == b"1":
            return 0  # ３．２９
        bracket = _BRACKET.search(self.kinds, end, end + _BRACKET_REACH)
        if bracket and bracket[0] == b">":
            return 0  # inside a title or a quotation
        following = self.text[end : end + 1]
        is_quoted = following == "と" and self.kinds[end - 1] in b'>"'
        return 0 if is_quoted or following in ("、", "，", ",") else end

    def _line(self, place: re.Match[bytes]) -> int:
        return 0 if self._is_wrapped(*place.span()) else place.start()

    def _is_wrapped(self, end: int, following: int) -> bool:
        """Whether a line that ends here goes on in the next, as text of a fixed width does.

        Such a line ends because the next word would not have fitted in the width, which is at
        least the length of the next line.
        """
        kinds, length = self.kinds, end - self.line
        if kinds.count(b"\n", end, following) != 1 or kinds.find(b"\f", end, following) >= 0:
            return False
        if not _NARROW <= length <= _WIDE or following == len(kinds) or kinds[following] in b"b-d":
            return False
        if _ITEM.match(kinds, following):
            return False
        next_line = _distance(kinds, b"\n", following, _WIDE + 1)
        next_word = _distance(kinds, b" ", following, _NARROW)
        return kinds[following] == _LOWER or length + 1 + next_word >= next_line

    def _bullet(self, place: re.Match[bytes]) -> int:
        start = place.start()
        is_end = start >= self._lead() and self.kinds[start - 1] in _NOTHING
        return start if is_end else 0

    def _item_before(self, place: re.Match[bytes]) -> int:
        """Where an item of a list begins whose number or letter a dot or a bracket ends, or 0."""
        kinds, start = self.kinds, place.start() - 1
        if start > 1 and kinds[start - 1] == kinds[start] == _FIGURE:
            start -= 1
        if start < 1 or kinds[start] not in b"1a" or kinds[start - 1] not in _NOTHING:
            return 0
        # Only in a list, which the sentence shows by beginning with an item.
        lead = self._lead()
        is_item = start > lead and _ITEM.match(kinds, start) and _ITEM.match(kinds, lead)
        return start if is_item else 0

    def _korean(self, place: re.Match[bytes]) -> int:
        last, end = place.span()
        ending = self.text[max(self.sentence, last - 1) : last + 1]
        is_end = end - last > 1 or ends_korean_sentence(ending, self.text[end + 1 : end + 2])
        return end if is_end else 0

    def _face(self, place: re.Match[bytes]) -> int:
        start, end = place.span()
        is_end = self.kinds[end - 1] in _NOTHING and self.kinds[end : end + 1] == b"A"
        return start + len(place[0].rstrip()) if is_end else 0

    def _lead(self) -> int:
        """Where the first word of the current sentence begins."""
        found = _LEAD.match(self.kinds, self.sentence)
        return found.end() if found else self.sentence

    def _skip_openers(self, place: int) -> int:
        """Where the dash, quotation marks and brackets that begin at ``place`` are over."""
        found = _OPENERS.match(self.kinds, place)
        return found.end() if found else place

    def _word_before(self, end: int) -> str:
        start, lowest = end, max(self.sentence, end - _WORD_REACH)
        while start > lowest and self.kinds[start - 1] in _IN_WORD:
            start -= 1
        return lower_case(self.text[start:end])

    def _word_after(self, start: int) -> str:
        end, highest = start, min(len(self.kinds), start + _WORD_REACH)
        while end < highest and self.kinds[end] in _LETTERS:
            end += 1
        return lower_case(self.text[start:end])


def _is_line_end(gap: bytes) -> bool:
    return b"\n" in gap or b"\f" in gap


def _distance(kinds: bytes, kind: bytes, start: int, reach: int) -> int:
    """How far ahead the next ``kind`` is, or the text's end, but not farther than ``reach``."""
    found = kinds.find(kind, start, start + reach)
    return (found if found >= 0 else min(len(kinds), start + reach)) - start


def ends_korean_sentence(ending: str, following: str) -> bool:
    """Whether a word with these last two characters ends a sentence, ``following`` the next one."""
    if following in ("하", "해"):  # 했다 해도, 있다 하더라도: what was said goes on
        return False
    before, last = ending[:-1], ending[-1:]
    if last == "다":
        return before in BEFORE_DA
    return last in ("죠", "줘") or (last == "요" and before in BEFORE_YO)
