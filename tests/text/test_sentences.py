from __future__ import annotations

import pytest

from regard.text.sentences import (
    ABBREVIATIONS,
    BEFORE_NUMBERS,
    OFTEN_LAST,
    WORD_LISTS,
    ends_korean_sentence,
)
from regard.text.tokenize import tokenize


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in tokenize(text).sentence_spans()]


@pytest.mark.parametrize(
    "marked",
    [
        "One film.|Two films!|Three?|Four?!|Five.",
        'He said "Stop."|She did not.',
        '"It is great." she said.',
        "It was great!|i loved it.|you will too.",
        "Mr. Smith met Dr. Jones of St. Louis vs. the rest, e.g. Fig. 3 on p. 5.",
        "They sold Pitt & Co. at noon.|They sold it to Briggs & Co.|It closed.",
        "I lived in the U.S. for years.|I left the U.S.|It was time.",
        "At 5 p.m. Smith left.|At 6 p.m.|He was back.",
        "You and I.|Did you see Albert I. Jones?",
        "I said no.|Then I read no. 5 of it.",
        "Wait... what?|I mean...|Never.",
        "Well . . . what . . . no.",
        "He paid $5.00.|It was 3.5 too much.",
        "In 1984.|Then came 1985.",
        "Er kam am 3. Oktober zum 67. Fest, z.B. mit Dr. Kohl.|Das war 1990.|Gut.",
        "She works at Yahoo! in town.",
        "Mix it and -- voila! -- you have cake.",
        "He came (he was late!) and left [...] at once.",
        "It ends here.[17]|It begins there. [4]|And ends.",
        "Loved it. :)|Great place :-)|Go there.",
        "See numpy.Array and os.Path for it.",
    ],
)
def test_a_full_stop_ends_a_sentence_only_where_a_reader_stops(marked):
    """A bar stands for a space after which a sentence begins; it begins nowhere else."""
    assert sentences(marked.replace("|", " ")) == marked.split("|")


def test_a_forgotten_space_is_forgiven():
    assert sentences("The film is great.The cast is not.") == [
        "The film is great.",
        "The cast is not.",
    ]
    assert sentences("What a film!Loved it") == ["What a film!", "Loved it"]


@pytest.mark.parametrize(
    "marked",
    [
        "我们明天一起去看《摔跤吧！爸爸》好吗？|好！",
        "很好!|下次还来.|不错...吧",
        "これはペンです。|とてもいい！|「行くよ。」と言った。",
        "３．２９％以上です。|はい．|いいえ。",
        "좋아요!|다음에 또 봐요",
        "정말 재미있었어요 |또 보고 싶습니다 |최고다",
        "यह एक वाक्य है। |यह दूसरा है।",
        "هل هذا جيد؟ |نعم.",
        "ይህ ነው። |አዎ።",
        "“你好。”|他走了。",
    ],
)
def test_other_scripts_have_their_own_stops(marked):
    assert sentences(marked.replace("|", "")) == [part.strip() for part in marked.split("|")]


@pytest.mark.parametrize(
    "between", ["<br>", "<br />", "</p><p>", "<li>", "\n\n", "\r\n\r\n", "\u2029"]
)
def test_a_hard_break_ends_a_sentence_without_any_stop(between):
    assert sentences(f"One two{between}three Mr.{between}four") == ["One two", "three Mr.", "four"]


def test_an_inline_tag_breaks_nothing():
    assert sentences("This is <b>very</b> good.<i> Yes.</i>") == [
        "This is <b>very</b> good.",
        "Yes.",
    ]


def test_a_paragraph_or_a_heading_on_its_own_line_is_a_sentence():
    assert sentences("A heading\nThe text\nanother line") == [
        "A heading",
        "The text",
        "another line",
    ]
    long = "word " * 40 + "word"
    assert sentences(f"{long}\n{long}") == [long, long]


def test_a_wrapped_line_goes_on():
    """Text of a fixed width breaks a line because the next word did not fit."""
    text = (
        "This paragraph was typed into a mail reader that breaks\n"
        "every line at about sixty characters, as Unix has always\n"
        "done since the days when Terminals were eighty wide. This\n"
        "is the next sentence.\n"
        "And this is a line of its own"
    )
    assert [sentence.split()[-1] for sentence in sentences(text)] == ["wide.", "sentence.", "own"]


@pytest.mark.parametrize(
    "text",
    [
        "1.) The first item 2.) The second item",
        "1) The first item. 2) The second item.",
        "1. The first item 2. The second item",
        "a. The first item b. The second item",
        "• 9. The first item • 10. The second item",
    ],
)
def test_the_items_of_a_list_are_sentences(text):
    first, second = sentences(text)
    assert first.rstrip(".").endswith("first item") and "second" in second
    assert first + " " + second == text


def test_a_number_in_brackets_is_no_item_outside_a_list():
    assert len(sentences("It has two parts, 1) the first and 2) the second")) == 1


@pytest.mark.parametrize("text", ["", " ", "\n\n", "<br><br>", "\0", "<p></p>\u200b"])
def test_a_text_without_words_has_no_sentences(text):
    assert sentences(text) == []


@pytest.mark.parametrize("text", [".", "...", "!", "。", "•", ":)", "1.", "(", "k."])
def test_a_text_of_punctuation_is_one_sentence(text):
    assert sentences(text) == [text]


def test_the_lists_are_written_as_the_rules_look_words_up():
    words = [word for listed in WORD_LISTS for word in listed]
    assert all(word == word.lower() and 0 < len(word) < 24 for word in words)
    assert not any(word.endswith(".") for word in words)
    never, numbers, often = ABBREVIATIONS, BEFORE_NUMBERS, OFTEN_LAST
    assert never.isdisjoint(numbers) and never.isdisjoint(often) and numbers.isdisjoint(often)


@pytest.mark.parametrize(
    "word", ["했습니다", "좋아요", "그렇죠", "알려줘", "없다", "한다", "재밌었다", "최고이다"]
)
def test_a_korean_verb_form_ends_a_sentence(word):
    assert ends_korean_sentence(word[-2:], "그")


@pytest.mark.parametrize("word", ["보다", "마다", "중요", "필요", "다", "요", "그리고", "a다", ""])
def test_an_ordinary_korean_word_does_not(word):
    assert not ends_korean_sentence(word[-2:], "그")


def test_what_is_quoted_in_korean_goes_on():
    assert not ends_korean_sentence("했다", "해")
    assert ends_korean_sentence("했다", "")
