from __future__ import annotations

import pytest

from regard.text.korean import ends_korean_sentence


@pytest.mark.parametrize(
    "word", ["했습니다", "좋아요", "그렇죠", "알려줘", "없다", "한다", "재밌었다", "최고이다"]
)
def test_a_verb_form_ends_a_sentence(word):
    assert ends_korean_sentence(word[-2:], "그")


@pytest.mark.parametrize("word", ["보다", "마다", "중요", "필요", "다", "요", "그리고", "a다", ""])
def test_an_ordinary_word_does_not(word):
    assert not ends_korean_sentence(word[-2:], "그")


def test_what_is_quoted_goes_on():
    assert not ends_korean_sentence("했다", "해")
    assert ends_korean_sentence("했다", "")
