"""Korean sentences, which often end in a verb form and a space alone."""

from __future__ import annotations

__all__ = ["ends_korean_sentence"]

_FORMS = frozenset(
    "어요 아요 네요 세요 구요 나요 해요 고요 군요 데요 에요 예요 까요 와요 줘요 지요 게요 워요 내요 "
    "여요 래요 니다 이다".split()
)
_SYLLABLES = frozenset("죠줘")
_FINALS = frozenset({4, 18, 20})  # ㄴ ㅄ ㅆ, as in 한다, 없다, 했다
_FIRST_SYLLABLE, _LAST_SYLLABLE, _FINAL_COUNT = 0xAC00, 0xD7A3, 28


def ends_korean_sentence(ending: str, following: str) -> bool:
    """Whether a word with these last two characters is a sentence's verb, ``following`` the next."""
    if following in "하해":  # 했다 해도, 있다 하더라도: the verb is quoted
        return False
    if ending in _FORMS or ending[-1:] in _SYLLABLES:
        return True
    if len(ending) < 2 or ending[1] != "다":
        return False
    code = ord(ending[0])
    is_syllable = _FIRST_SYLLABLE <= code <= _LAST_SYLLABLE
    return is_syllable and (code - _FIRST_SYLLABLE) % _FINAL_COUNT in _FINALS
