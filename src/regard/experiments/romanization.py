"""Korean words in Latin letters, by the rules of the Revised Romanization of Korean (2000).

A syllable of Hangul is a number: the final counts up first, then the vowel, then the initial. What
is written where two syllables meet depends on both, as in speech. That a final ㄷ before ㅣ is
spoken *j* (해돋이 haedoji) is left out.
"""

from __future__ import annotations

__all__ = ["FINALS", "INITIALS", "VOWELS", "romanized", "syllable"]

INITIALS = [
    *("g", "kk", "n", "d", "tt", "r", "m", "b", "pp", "s"),
    *("ss", "", "j", "jj", "ch", "k", "t", "p", "h"),
]
"""What each of the nineteen initial letters sounds like, in the order of Unicode; ㅇ is silent."""

VOWELS = [
    *("a", "ae", "ya", "yae", "eo", "e", "yeo", "ye", "o", "wa", "wae"),
    *("oe", "yo", "u", "wo", "we", "wi", "yu", "eu", "ui", "i"),
]
"""What each of the twenty-one vowels sounds like, in the order of Unicode."""

FINALS = {0: "", 1: "k", 4: "n", 7: "t", 8: "l", 16: "m", 17: "p", 19: "t", 21: "ng"}
"""No final, and ㄱ ㄴ ㄷ ㄹ ㅁ ㅂ ㅅ ㅇ, by their numbers in Unicode; others are left out."""

_BEFORE_A_VOWEL = {1: "g", 7: "d", 8: "r", 17: "b", 19: "s"}  # it begins the next syllable
_BEFORE_A_NASAL = {"k": "ng", "t": "n", "p": "m"}
_FIRST = ord("가")
_FINAL_COUNT = 28


def syllable(initial: int, vowel: int, final: int) -> str:
    """Put a syllable together from the numbers of its letters."""
    return chr(_FIRST + (initial * len(VOWELS) + vowel) * _FINAL_COUNT + final)


def romanized(word: str) -> str:
    """Write a word of Hangul in Latin letters; finals are those of ``FINALS``."""
    letters = [_taken_apart(one) for one in word]
    written = []
    for place, (initial, vowel, final) in enumerate(letters):
        if place == 0:
            written.append(INITIALS[initial])
        following = letters[place + 1][0] if place + 1 < len(letters) else None
        written.append(VOWELS[vowel] + _boundary(final, following))
    return "".join(written)


def _boundary(final: int, following: int | None) -> str:
    """What is written between two vowels: a final, and the initial behind it if there is one."""
    sound = FINALS[final]
    if following is None:
        return sound
    initial = INITIALS[following]
    if not initial:
        return _BEFORE_A_VOWEL.get(final, sound)  # 설악 seorak
    if sound + initial in ("lr", "nr", "ln"):
        return "ll"  # 울릉 ulleung, 신라 silla, 별내 byeollae
    if initial == "r" and sound:
        initial = "n"  # 종로 jongno
    if initial in ("n", "m"):
        sound = _BEFORE_A_NASAL.get(sound, sound)  # 백마 baengma, 왕십리 wangsimni
    return sound + initial


def _taken_apart(one: str) -> tuple[int, int, int]:
    number, final = divmod(ord(one) - _FIRST, _FINAL_COUNT)
    initial, vowel = divmod(number, len(VOWELS))
    return initial, vowel, final
