"""What a terminal can do is read off its environment, and no text can steer it."""

import pytest

from regard.views.drawing.terminal import Terminal, printable


def test_control_codes_become_pictures_of_themselves():
    assert printable("a\x1b[31m\x07\x00\x7f\x9b\ud800") == "a␛[31m␇␀␡��"
    assert printable("a\r\nb\rc\u2028d\n") == "a\nb\nc\nd\n"
    assert printable("") == ""


@pytest.mark.parametrize(
    ("environment", "is_terminal", "depth"),
    [
        ({"COLORTERM": "truecolor", "TERM": "xterm-256color"}, True, "truecolor"),
        ({"COLORTERM": "24bit"}, True, "truecolor"),
        ({"TERM": "xterm-direct"}, True, "truecolor"),
        ({"WT_SESSION": "1"}, True, "truecolor"),
        ({"TERM": "xterm-256color"}, True, "256"),
        ({"TERM": "xterm"}, True, "bold"),
        ({}, True, "bold"),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, True, "none"),
        ({"COLORTERM": "truecolor"}, False, "none"),
        ({"COLORTERM": "truecolor", "FORCE_COLOR": "1"}, False, "truecolor"),
        ({"COLORTERM": "truecolor", "FORCE_COLOR": "0"}, False, "none"),
        ({"COLORTERM": "truecolor", "NO_COLOR": "1"}, True, "bold"),
        ({"COLORTERM": "truecolor", "NO_COLOR": ""}, True, "truecolor"),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, "bold"),
    ],
)
def test_the_environment_says_what_a_terminal_can_do(environment, is_terminal, depth):
    assert Terminal.detect(environment, is_terminal).depth == depth


@pytest.mark.parametrize(
    ("value", "dark"),
    [(None, True), ("15;0", True), ("0;15", False), ("0;7", False), ("7;8", True), ("x", True)],
)
def test_the_background_is_dark_unless_said_otherwise(value, dark):
    environment = {} if value is None else {"COLORFGBG": value}
    assert Terminal.detect(environment, True).dark is dark
