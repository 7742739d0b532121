"""The text is cut for drawing, and nothing of it is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.records.explanation import Decision, Explanation
from regard.records.weights import Weights
from regard.views.drawing.wrapping import is_right_to_left
from regard.views.explanation.passages import passages

ALPHABET = st.sampled_from("ab .!?\n\t<>/\"'&é漢。\u05d0\ud800\x00🙂")


def lines(explanation):
    found = passages(explanation, explanation.decisions[0])
    return ["".join(stretch.text for stretch in passage.stretches) for passage in found]


def kinds(explanation, kind):
    found = passages(explanation, explanation.decisions[0])
    return [
        stretch.text for passage in found for stretch in passage.stretches if stretch.kind == kind
    ]


@given(st.text(ALPHABET, max_size=60), st.booleans(), st.integers(0, 60))
def test_all_stretches_joined_are_the_text(explain, text, flat, cut):
    made = explain(text, flat=flat, unread_from=min(cut, len(text)), unknown=("a",))
    assert "".join(lines(made)) == text


@given(st.text(ALPHABET, max_size=60))
def test_every_weighed_word_is_drawn_once(explain, text):
    """001-23: offsets map back to the raw text."""
    made = explain(text)
    words = made.decisions[0].level("word")
    drawn = [
        stretch
        for passage in passages(made, made.decisions[0])
        for stretch in passage.stretches
        if stretch.kind == "word"
    ]
    assert [stretch.word for stretch in drawn] == list(range(len(words)))
    assert [stretch.text for stretch in drawn] == [text[a:b] for a, b in words.pieces]


def test_a_sentence_keeps_its_quotes_and_its_indentation(explain):
    made = explain('He said so. "Oh no! What?"\n\n    Then he left.')
    assert lines(made) == ["He said so. ", '"Oh no! ', 'What?"\n\n', "    Then he left."]


def test_tags_are_told_from_the_text(explain):
    made = explain("One.<br /><br />Two < three > one. <b>Four</b>.")
    assert kinds(made, "tag") == ["<br />", "<br />", "<b>", "</b>"]
    assert lines(made)[0] == "One.<br /><br />"


def test_what_a_cap_cut_off_has_its_own_line(explain):
    text = "One here. Two here. Three here. Four here."
    made = explain(text, unread_from=text.index("Three"))
    assert lines(made) == ["One here. ", "Two here. ", "Three here. Four here."]
    found = passages(made, made.decisions[0])
    assert [passage.sentence for passage in found] == [0, 1, None]
    assert kinds(made, "unread") == ["Three here. Four here."]


def test_what_a_cap_cut_off_inside_a_sentence_stays_in_its_line():
    text = "a b c d. e f g."
    words = Weights("word", ((0, 1), (2, 3), (9, 10), (11, 12)), (0.5,) * 4, by="sentence")
    sentences = Weights("sentence", ((0, 3), (9, 12)), (0.5, 0.5))
    made = Explanation(
        text, "attention", (Decision("x", 1.0, (words, sentences)),), unread=((4, 8), (13, 15))
    )
    assert lines(made) == ["a b c d. ", "e f ", "g."]
    assert kinds(made, "unread") == ["c d.", "g."]


def test_unknown_words_are_marked_even_where_words_have_no_weights():
    sentences = Weights("sentence", ((0, 7),), (1.0,))
    made = Explanation(
        "odd zig", "attention", (Decision("x", 1.0, (sentences,)),), unknown=((4, 7),)
    )
    (passage,) = passages(made, made.decisions[0])
    assert [(stretch.text, stretch.unknown) for stretch in passage.stretches] == [
        ("odd ", False),
        ("zig", True),
    ]


def test_a_text_without_words_is_one_line(explain):
    assert lines(explain("  \n ")) == ["  \n "]
    assert lines(explain("")) == [""]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", ["<" * 200_000, "<a" * 100_000, "<!--" * 50_000, " " * 200_000])
def test_odd_texts_take_no_longer_than_others(text):
    made = Explanation(text, "attention", (Decision("x", 1.0, ()),))
    assert "".join(lines(made)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", False), ("12, abc", False), ("12, אבג", True), ("«العربية» x", True), ("漢", False)],
)
def test_the_first_letter_with_a_direction_decides(text, expected):
    assert is_right_to_left(text) is expected
