from __future__ import annotations

import sys

import pytest

from regard.errors import MissingExtra
from regard.text.tokenize import TextConfig, tokenize

ICU = TextConfig(cjk="icu")


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "icu4py", None)
    monkeypatch.setitem(sys.modules, "icu4py.breakers", None)
    with pytest.raises(MissingExtra, match=r"regard\[cjk\]"):
        tokenize("漢字", ICU)


def test_characters_are_joined_to_the_words_of_the_dictionary():
    pytest.importorskip("icu4py")
    assert tokenize("我们喜欢电影。", ICU).words() == ["我们", "喜欢", "电影", "。"]
    assert tokenize("ภาษาไทย", ICU).words() == ["ภาษา", "ไทย"]


def test_other_words_and_sentences_stay_as_they_are():
    pytest.importorskip("icu4py")
    text = "I don't 我们 <br> 8/10 한국어. Yes! \ud800"
    by_characters, by_dictionary = tokenize(text).words(), tokenize(text, ICU).words()
    assert by_dictionary == [*by_characters[:2], "我们", *by_characters[4:]]
    assert len(tokenize(text, ICU).per_sentence) == len(tokenize(text).per_sentence)


@pytest.mark.parametrize("wide", ["𠀋", "𠀋𠮷", "a𠀋b𠮷"])
def test_characters_beyond_sixteen_bits_shift_nothing(wide):
    """The dictionaries count UTF-16 units, of which such a character takes two."""
    pytest.importorskip("icu4py")
    words = tokenize(wide + "我们喜欢电影", ICU).words()
    assert "".join(words) == wide + "我们喜欢电影"
    assert words[-3:] == ["我们", "喜欢", "电影"]


def test_an_empty_text_and_a_text_without_such_scripts_need_no_joining():
    pytest.importorskip("icu4py")
    assert tokenize("", ICU).words() == []
    assert tokenize("plain words", ICU).words() == ["plain", "words"]
