from __future__ import annotations

import random
import sys

import numpy as np
import pytest

from regard.errors import MissingExtra
from regard.text.characters import kinds_of
from regard.text.tokenize import TextConfig, tokenize
from regard.text.words import word_spans

NOTHING, WORD, MARKS = b" \n\f", b"aAxk1", b"mj"


def plain_word_spans(kinds: bytes) -> list[tuple[int, int]]:
    """The rules said again, one character after the other, as a scanner would apply them."""
    bases = bases_of(kinds)
    padded = "  " + joined_middles(bases).decode() + "  "
    spans: list[tuple[int, int]] = []
    flag = False  # the last token is half a flag
    for place, kind in enumerate(kinds):
        if kind in NOTHING:
            flag = False
            continue
        before, here = padded[place + 1], padded[place + 2]
        if place == 0 or kinds[place - 1] in NOTHING:
            goes_on = False
        elif kind in MARKS or kinds[place - 1 : place + 1] == b"je":
            goes_on = True
        elif kind == ord("r"):
            goes_on = flag
        else:
            both_words = before in "aAxk1" and here in "aAxk1"
            goes_on = both_words or (before == here and here in ".!z'`-d*=~+#^$uf")
        flag = kind == ord("r") and not goes_on
        spans.append((spans.pop()[0] if goes_on else place, place + 1))
    return spans


def bases_of(kinds: bytes) -> bytes:
    bases = bytearray()
    for place, kind in enumerate(kinds):
        if kind in MARKS:
            follows_nothing = place == 0 or kinds[place - 1] in NOTHING
            kind = ord("x") if follows_nothing else bases[-1]
        bases.append(kind)
    return bytes(bases)


def joined_middles(bases: bytes) -> bytes:
    padded = b"  " + bases + b"   "
    result = bytearray(padded)
    for place in range(2, len(bases) + 2):
        far_before, before, middle, after, far_after, beyond = padded[place - 2 : place + 4]
        if middle == ord("'") and before in b"aAx1" and after in b"aAx1":
            result[place] = ord("x")
        if middle in b".,:" and before == after == ord("1"):
            result[place] = ord("x")
        single = far_before not in WORD and far_after not in WORD
        if middle == ord(".") and before in b"aAx" and after in b"aAx" and single:
            result[place] = ord("x")
            if far_after == ord(".") and beyond != ord("."):
                result[place + 2] = ord("x")
    return bytes(result[2 : len(bases) + 2])


@pytest.mark.parametrize("seed", range(40))
def test_a_plain_scanner_finds_the_same_words(seed):
    """One pass over the kinds suffices, so the same rules can be written in any language."""
    generator = random.Random(seed)
    for _ in range(100):
        weighted = "aaaaAx1k   \n\fmmjjeerr....''',,::--!!zocuf~(\"?"
        kinds = "".join(generator.choices(weighted, k=generator.randrange(30))).encode()
        found = word_spans(np.frombuffer(kinds, np.uint8))
        assert found.dtype == np.int32
        assert list(map(tuple, found.tolist())) == plain_word_spans(kinds), kinds


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \t\n\0\u200b\ufeff", []),
        ("a", ["a"]),
        ("don't can’t 'n' dogs'", ["don't", "can’t", "'", "n", "'", "dogs", "'"]),
        ("a well-known fact", ["a", "well", "-", "known", "fact"]),
        ("It cost $1,234.56!", ["It", "cost", "$", "1,234.56", "!"]),
        ("8/10 at 10:30, 3.", ["8/10", "at", "10:30", ",", "3", "."]),
        ("U.S.A. and e.g. this.", ["U.S.A.", "and", "e.g.", "this", "."]),
        ("So bad... Why?!! --", ["So", "bad", "...", "Why", "?!!", "--"]),
        ("end.Start a.b", ["end", ".", "Start", "a.b"]),
        ("snake_case 3rd B2B", ["snake_case", "3rd", "B2B"]),
        ("``quoted''", ["``", "quoted", "''"]),
        ("中文。", ["中", "文", "。"]),
        ("カラオケabc", [*"カラオケ", "abc"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("한국어 문장입니다.", ["한국어", "문장입니다", "."]),
        ("'미만'이라는", ["'", "미만", "'", "이라는"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("שלום, עולם!", ["שלום", ",", "עולם", "!"]),
        ("مرحبا\u200f بالعالم؟", ["مرحبا", "بالعالم", "؟"]),
        ("نمی\u200cخواهم", ["نمی\u200cخواهم"]),
        ("e\u0301te\u0301 l\u0301'a", ["e\u0301te\u0301", "l\u0301'a"]),
        ("ex\u00adample", ["ex\u00adample"]),
        ("\u0301a", ["\u0301a"]),
        ("a\ud800b", ["a", "\ud800", "b"]),
        ("a\0b", ["a", "b"]),
    ],
)
def test_words_are_what_a_reader_would_say(text, words):
    assert tokenize(text).words() == words


@pytest.mark.parametrize("emoji", ["👩‍👩‍👧‍👦", "👍🏽", "❤️", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "👩🏽‍🚀", "🇩🇪"])
def test_an_emoji_of_many_characters_is_one_token(emoji):
    assert tokenize(f"a {emoji}{emoji}!").words() == ["a", emoji, emoji, "!"]


def test_flags_are_counted_two_by_two():
    letters = "🇩🇪🇫🇷🇮"
    assert tokenize(letters + " " + letters).words() == ["🇩🇪", "🇫🇷", "🇮"] * 2


def test_places_given_as_joined_go_on_with_the_token_before():
    spans = word_spans(kinds_of("漢字語 x"), np.array([1]))
    assert spans.tolist() == [[0, 2], [2, 3], [4, 5]]


def test_syllables_are_tokens_where_hangul_is_parted():
    text = "영화가 don't 3D로 재밌었다 ㅋㅋ! 또 봄."
    parted = tokenize(text, TextConfig(hangul="syllables"))
    assert parted.words() == [*"영화가", "don't", "3D", *"로재밌었다ㅋㅋ!또봄."]
    whole = tokenize(text)
    assert whole.words() == ["영화가", "don't", "3D로", "재밌었다", "ㅋㅋ", "!", "또", "봄", "."]
    ends = [
        tokens.spans[np.cumsum(tokens.per_sentence) - 1, 1].tolist() for tokens in (parted, whole)
    ]
    assert ends[0] == ends[1], "sentences end where they did"


ICU = TextConfig(cjk="icu")


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "icu4py", None)
    monkeypatch.setitem(sys.modules, "icu4py.breakers", None)
    with pytest.raises(MissingExtra, match=r"pip install icu4py$"):
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
