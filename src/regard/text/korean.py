"""Korean sentences, which often end in a verb form and a space alone."""

from __future__ import annotations

__all__ = ["ends_korean_sentence"]

_BEFORE_YO = frozenset("어아네세구나해고군데에예까와줘지게워내여래")
_BEFORE_DA = frozenset("니이")
_FINALS = frozenset({4, 18, 20})  # ㄴ ㅄ ㅆ, as in 한다, 없다, 했다
_FINAL_COUNT = 28  # syllables are numbered so that the final consonant changes first


def ends_korean_sentence(ending: str, following: str) -> bool:
    """Whether a word with these last two characters ends a sentence, ``following`` the next one."""
    if following in ("하", "해"):  # 했다 해도, 있다 하더라도: what was said goes on
        return False
    before, last = ending[:-1], ending[-1:]
    if last == "다":
        return before in _BEFORE_DA or _has_verb_final(before)
    return last in ("죠", "줘") or (last == "요" and before in _BEFORE_YO)


def _has_verb_final(syllable: str) -> bool:
    if not "가" <= syllable <= "힣":
        return False
    return (ord(syllable) - ord("가")) % _FINAL_COUNT in _FINALS
