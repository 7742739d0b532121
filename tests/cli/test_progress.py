"""What a command says while it works."""

import io
from contextlib import redirect_stderr

import pytest

from regard.cli.progress import counted, say
from support.screens import Screen


@pytest.fixture(autouse=True)
def colours(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.mark.parametrize("stream", [Screen, io.StringIO])
def test_quiet_is_silent(stream):
    with redirect_stderr(stream()) as written:
        assert list(counted([1, 2], "reading", quiet=True)) == [1, 2]
        say("a word", quiet=True)
    assert written.getvalue() == ""


def test_items_are_counted_on_a_terminal_and_passed_on():
    with redirect_stderr(Screen()) as screen:
        assert list(counted(iter(range(3)), "reading")) == [0, 1, 2]
    assert "reading" in screen.plain()


def test_items_are_passed_on_silently_elsewhere():
    with redirect_stderr(io.StringIO()) as log:
        assert list(counted(iter(range(3)), "reading")) == [0, 1, 2]
    assert log.getvalue() == ""


def test_what_is_said_goes_to_standard_error(capsys):
    say("a word")
    assert capsys.readouterr() == ("", "a word\n")
