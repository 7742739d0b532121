"""What a command says while it works."""

import io
import re
from contextlib import redirect_stderr

import pytest
from typer.testing import CliRunner

from regard.cli.main import app
from regard.cli.progress import counted, say
from regard.training import progress
from support.cli_files import COLUMNS
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


def test_quick_work_is_silent_elsewhere():
    with redirect_stderr(io.StringIO()) as log:
        assert list(counted(iter(range(3)), "reading")) == [0, 1, 2]
    assert log.getvalue() == ""


def test_slow_work_has_one_line_elsewhere(monkeypatch):
    monkeypatch.setattr(progress, "LONG", 0.0)
    with redirect_stderr(io.StringIO()) as log:
        assert list(counted(iter(range(3)), "reading")) == [0, 1, 2]
    assert log.getvalue() == "reading, 1 done\n"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["predict"], "predicted"),
        (["evaluate", *COLUMNS], "evaluated"),
        (["explain"], "explained"),
        (["look", *COLUMNS, "--limit", 5], "looked through"),
        (["audit", *COLUMNS, "--limit", 3, "--no-needle"], "audited"),
    ],
)
def test_every_command_says_how_far_it_is(project, monkeypatch, command, shown):
    monkeypatch.setattr(progress, "LONG", 0.0)
    name, *options = command
    data = project.new if name in ("predict", "explain") else project.test
    ran = CliRunner().invoke(app, [name, *map(str, [project.model, data, *options])])
    assert ran.exit_code == 0, ran.output
    assert re.search(rf"^{shown}, 1( of \d+)? done", ran.stderr, re.MULTILINE)
    assert len(re.findall(rf"^{shown}, ", ran.stderr, re.MULTILINE)) == 1


def test_what_is_said_goes_to_standard_error(capsys):
    say("a word")
    assert capsys.readouterr() == ("", "a word\n")
