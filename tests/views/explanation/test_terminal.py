"""The terminal view: colours where there are some, lines that fit, nothing that steers."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from regard.records.explanation import Decision
from regard.records.weights import Weights
from regard.views.drawing.terminal import Terminal
from regard.views.explanation.terminal import render

CODES = re.compile(r"\x1b\[[\d;]*m")
REVIEW = "I sat there. It was brilliant, Zorblax!\n\nThe end<br />dragged on and on."
DEPTHS = ["truecolor", "256", "bold", "none"]


def plain(text: str) -> str:
    return CODES.sub("", text)


@pytest.mark.parametrize("depth", DEPTHS)
def test_every_word_of_the_text_is_there(explain, depth):
    """001-23: terminal rendering, an unknown word as it is written."""
    drawn = plain(render(explain(REVIEW, unknown=("Zorblax",)), Terminal(60, depth)))
    for word in re.findall(r"\w+", REVIEW):
        assert word in drawn
    assert "not in the vocabulary" in drawn


@settings(max_examples=80)
@given(
    st.text(
        st.sampled_from("ab é漢字。かな한글🙂\u0301 \n\t.!<b>\x1b\x07\x9b\ud800\u2028\r"),
        max_size=80,
    ),
    st.integers(24, 100),
    st.sampled_from(DEPTHS),
)
def test_no_line_is_wider_than_the_terminal(explain, text, width, depth):
    drawn = render(explain(text, unknown=("a",)), Terminal(width, depth))
    head, *lines = plain(drawn).split("\n")
    assert head.startswith("positive")
    assert max(cell_len(line) for line in lines) <= width


@given(st.text(st.characters(), max_size=40))
def test_a_text_cannot_steer_the_terminal(explain, text):
    made = explain(text, labels=(text or "x", "y"))
    drawn = plain(render(made, Terminal(80, "truecolor")))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]", drawn)


def test_colours_are_true_where_there_are_any(explain):
    drawn = render(explain(REVIEW), Terminal(80, "truecolor"))
    assert "\x1b[48;2;" in drawn
    assert "\x1b[38;2;86;180;233m" in drawn  # the blue of a sentence's bar
    few = render(explain(REVIEW), Terminal(80, "256"))
    assert "\x1b[48;5;" in few
    assert ";2;" not in few


def test_without_colours_heavy_words_are_bold(explain):
    made = explain(REVIEW)
    drawn = render(made, Terminal(80, "bold"))
    assert re.search(rf"\x1b\[1(;7)?m{made.words(1)[0].text}\x1b\[0m", drawn)
    assert "38;" not in drawn
    assert "48;" not in drawn


def test_without_any_codes_heavy_words_are_starred(explain):
    made = explain(REVIEW)
    drawn = render(made, Terminal(80, "none"))
    assert f"*{made.words(1)[0].text}*" in drawn
    assert "\x1b" not in drawn


def test_a_light_terminal_gets_light_shades(explain):
    dark = render(explain(REVIEW), Terminal(80, "truecolor"))
    light = render(explain(REVIEW), Terminal(80, "truecolor", dark=False))
    assert dark != light
    assert plain(dark) == plain(light)


def test_bars_follow_the_weights(explain):
    made = explain(REVIEW)
    lines = [line for line in plain(render(made, Terminal(100))).split("\n") if "%" in line[:7]]
    lengths = [line[7:12].count("█") for line in lines]
    values = made.decisions[0].level("sentence").values
    assert len(lines) == len(values)
    assert lengths.index(max(lengths)) == values.index(max(values))


@pytest.mark.parametrize("amounts", [(0.9999, 0.0001), (0.5, 0.5)])
def test_a_number_of_any_width_leaves_the_bars_in_one_column(explain, amounts):
    """ ">99.9 %" is wider than what the column was made for."""
    made = explain("First. Second.")
    words, sentences = made.decisions[0].weights
    decision = replace(made.decisions[0], weights=(words, replace(sentences, values=amounts)))
    lines = plain(render(replace(made, decisions=(decision,)), Terminal(80))).split("\n")
    texts = [line for line in lines if "First." in line or "Second." in line]
    assert len({line.index("First." if "First." in line else "Second.") for line in texts}) == 1
    scores = Weights.from_scores("sentence", sentences.pieces, (123.456, -1.0), unit="log-odds")
    decision = replace(decision, weights=(words, scores))
    lines = plain(render(replace(made, decisions=(decision,)), Terminal(80))).split("\n")
    assert [line[:9] for line in lines if "%" not in line and " █" in line] == ["+123.456 "]
    assert any(line.startswith("  -1.000 ▏") for line in lines)


@pytest.mark.parametrize("depth", DEPTHS)
def test_what_speaks_against_the_label_is_listed_and_marked_apart(scored, depth):
    drawn = render(scored(REVIEW), Terminal(200, depth))
    (heaviest,) = [line for line in drawn.split("\n") if line.startswith("Heaviest words")]
    (against,) = [line for line in drawn.split("\n") if line.startswith("Speaks against it")]
    assert "-0." not in heaviest and "+" not in against
    assert against.startswith("Speaks against it: I\u00a0-0.900")
    marked = {
        "none": "~I~",
        "bold": "\x1b[3;7mI\x1b",
        "truecolor": "48;2;150;140;240;",  # the colour of what speaks against
        "256": "48;5;",
    }
    assert marked[depth] in drawn
    assert "What speaks against positive is" in plain(drawn)


def test_nothing_is_said_of_what_speaks_against_where_no_sign_is_known(explain):
    assert "gainst" not in plain(render(explain(REVIEW), Terminal(200)))


def test_probabilities_and_truth_are_said(explain):
    labels = [f"topic {number}" for number in range(20)]
    made = replace(explain("One word.", labels=labels), true_labels=("topic 1",))
    drawn = plain(render(made, Terminal(80)))
    assert f"{100 * made.probability:5.1f} %" in drawn
    assert "and 12 more labels" in drawn
    assert "✗ true label topic 1" in drawn


def test_the_unread_part_is_said_to_be(explain):
    drawn = plain(render(explain(REVIEW, unread_from=REVIEW.index("The end")), Terminal(80)))
    assert re.search(r"not read The end", drawn)
    assert "A length cap kept" in drawn


def test_an_empty_text_and_missing_levels_are_drawn(explain):
    assert "no words to read" in plain(render(explain(""), Terminal(80)))
    made = explain(REVIEW)
    words, sentences = made.decisions[0].weights
    for weights in ((words,), (sentences,), ()):
        drawn = plain(render(replace(made, decisions=(Decision("x", 0.9, weights),)), Terminal(80)))
        assert "brilliant" in drawn
