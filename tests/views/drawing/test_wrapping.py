"""Lines that fit, broken where lines may be broken."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from regard.views.drawing.wrapping import Styled, break_lines


def lines(text: str, width: int) -> list[str]:
    return [
        "".join(part.text for part in line) for line in break_lines([Styled(text, None)], width)
    ]


@given(
    st.lists(st.text("abcdef", min_size=1, max_size=9), min_size=1, max_size=30),
    st.integers(10, 40),
)
def test_plain_words_are_wrapped_as_the_standard_library_does(words, width):
    text = " ".join(words)
    assert lines(text, width) == textwrap.wrap(text, width)


@given(st.text(st.sampled_from("ab 漢。é\u0301🙂\n"), max_size=60), st.integers(2, 12))
def test_nothing_but_spaces_and_breaks_is_lost(text, width):
    found = lines(text, width)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(cell_len(line) <= width for line in found)


def test_line_breaks_and_indentation_stay():
    assert lines("a\n\n   b c\n", 20) == ["a", "", "   b c"]


def test_a_long_word_is_broken_anywhere_but_before_an_accent():
    assert lines("abcdefgh", 3) == ["abc", "def", "gh"]
    assert lines("abce\u0301fg", 4) == ["abce\u0301", "fg"]
    assert lines("\u0301。。", 2) == ["\u0301。", "。"]


def test_chinese_is_broken_between_letters_but_not_before_a_full_stop():
    assert lines("漢字漢字", 4) == ["漢字", "漢字"]
    assert lines("漢字。字", 4) == ["漢", "字。", "字"]


def test_a_mark_stays_with_its_word_across_styles():
    found = break_lines([Styled("one two", "plain"), Styled("!", "loud")], 6)
    assert [[part.text for part in line] for line in found] == [["one"], ["two", "!"]]
    assert [part.style for part in found[1]] == ["plain", "loud"]


def test_a_no_break_space_holds():
    assert lines("aa bb\u00a0cc", 6) == ["aa", "bb\u00a0cc"]


@pytest.mark.parametrize("text", ["", " ", "\t"])
def test_nothing_gives_no_lines(text):
    assert lines(text, 10) == []


def test_any_measure_will_do():
    found = break_lines([Styled("aaa bb c", None)], 30.0, lambda text: 10.0 * len(text))
    assert ["".join(part.text for part in line) for line in found] == ["aaa", "bb", "c"]
