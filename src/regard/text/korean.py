"""Korean sentences, which often end in a verb form and a space alone."""

from __future__ import annotations

__all__ = ["BEFORE_DA", "BEFORE_YO", "ends_korean_sentence"]

_SYLLABLES = [chr(code) for code in range(ord("가"), ord("힣") + 1)]
_FINALS = (4, 18, 20)  # ㄴ ㅄ ㅆ, as in 한다, 없다, 했다
_FINAL_COUNT = 28  # syllables are numbered so that the final consonant changes first

BEFORE_YO = frozenset("어아네세구나해고군데에예까와줘지게워내여래")
"""Syllables that make a verb form with 요 behind them."""

BEFORE_DA = frozenset("니이").union(*(_SYLLABLES[final::_FINAL_COUNT] for final in _FINALS))
"""Syllables that make a verb form with 다 behind them."""


def ends_korean_sentence(ending: str, following: str) -> bool:
    """Whether a word with these last two characters ends a sentence, ``following`` the next one."""
    if following in ("하", "해"):  # 했다 해도, 있다 하더라도: what was said goes on
        return False
    before, last = ending[:-1], ending[-1:]
    if last == "다":
        return before in BEFORE_DA
    return last in ("죠", "줘") or (last == "요" and before in BEFORE_YO)
