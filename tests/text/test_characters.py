from __future__ import annotations

import sys

import numpy as np
import pytest

from regard.text.characters import kind_table, kinds_of, lower_case, lower_words

EVERY_CHARACTER = [chr(code) for code in range(sys.maxunicode + 1)]


def test_the_kinds_of_a_text_can_be_read():
    assert kinds_of("He's 42, see?").tobytes() == b"Aa'a 11, aaa!"


def test_every_code_point_has_a_kind_and_the_table_cannot_be_changed():
    table = kind_table()
    assert table.shape == (sys.maxunicode + 1,)
    assert set(table.tolist()) <= set(b"Aaxk1mjcer?o!z'\"<>-d,b()\n .:;[]`*=~+#^$")
    with pytest.raises(ValueError, match="read-only"):
        table[0] = 1


def test_whatever_python_calls_a_space_has_a_kind_that_no_token_holds():
    spaces = "".join(character for character in EVERY_CHARACTER if character.isspace())
    assert set(kinds_of(spaces).tobytes()) == set(b" \n")


@pytest.mark.parametrize(
    ("character", "kind"),
    [
        *[("é", "a"), ("É", "A"), ("ß", "a"), ("ж", "a"), ("ǅ", "A"), ("ª", "x"), ("_", "x")],
        *[("א", "x"), ("م", "x"), ("न", "x"), ("ा", "m"), ("\u0301", "m"), ("٣", "1"), ("½", "1")],
        *[("한", "k"), ("ㅋ", "k"), ("漢", "c"), ("ひ", "c"), ("ー", "c"), ("𠀋", "c"), ("ไ", "c")],
        *[("\ud800", "?"), ("\udfff", "?"), ("\0", " "), ("\u200f", " "), ("\ufeff", " ")],
        *[("😀", "e"), ("🇩", "r"), ("🏽", "m"), ("\u200d", "j"), ("\ufe0f", "m"), ("€", "?")],
        *[("。", "o"), ("।", "o"), ("؟", "!"), ("…", "z"), ("„", '"'), ("«", '"'), ("’", "'")],
        *[("\u2029", "\n"), ("\x85", "\n"), ("\xa0", " "), ("\U0010ffff", "?"), ("《", "<")],
    ],
)
def test_a_character_has_the_kind_a_reader_expects(character, kind):
    assert kinds_of(character).tobytes() == kind.encode()


def test_a_windows_line_end_is_one_line_end():
    assert kinds_of("a\r\nb\rc\n\r\n").tobytes() == b"a \na\na\n \n"


def test_lower_case_goes_character_by_character_over_all_of_unicode():
    plain = [c.lower() if len(c.lower()) == 1 else c for c in EVERY_CHARACTER]
    assert list(lower_case("".join(EVERY_CHARACTER))) == plain
    assert [lower_case(character) for character in EVERY_CHARACTER] == plain


@pytest.mark.parametrize("word", ["ΟΔΟΣ", "İSTANBUL", "STRASSE", "ẞ", "Σ", "aΣ\nb"])
def test_lower_case_keeps_the_length_and_knows_no_neighbours(word):
    assert lower_case(word) == "".join(map(lower_case, word))
    assert len(lower_case(word)) == len(word)


@pytest.mark.parametrize(
    "words", [[], [""], ["A"], ["A", ""], ["ΑΣ", "İ", "\ud800X"], ["two\nLINES", "B"], ["\n"]]
)
def test_many_words_are_lowered_like_each_alone(words):
    assert lower_words(words) == [lower_case(word) for word in words]


def test_an_empty_text_has_no_kinds():
    kinds = kinds_of("")
    assert kinds.shape == (0,) and kinds.dtype == np.uint8
