"""The command as a whole: help, version, exit codes, errors in one line."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import regard
from regard.cli.main import app
from support.cli_files import COLUMNS

COMMANDS = [
    "demo",
    "train",
    "evaluate",
    "predict",
    "translate",
    "caption",
    "explain",
    "audit",
    "look",
    "diff",
    "compare",
    "search",
    "info",
    "serve",
    "export",
    "experiment",
]


def process(*arguments, **options):
    """Run the command in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(Path(regard.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, "-m", "regard", *map(str, arguments)],
        capture_output=True,
        env=environment,
        **options,
    )


def test_help_lists_every_command(shell):
    listed = shell("--help")
    assert listed.code == 0
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", listed.out, re.MULTILINE), name
    assert [command.callback.__name__ for command in app.registered_commands] == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_is_explained(shell, command):
    shown = shell(command, "--help")
    assert shown.code == 0 and not shown.err
    options = [line for line in shown.out.splitlines() if re.match(r"^  -", line)]
    bare = [line for line in options if re.fullmatch(r"\s+\S+( [A-Z.=|]+)?\s*", line)]
    # What does not fit beside a long option stands on the line below.
    for line in bare:
        below = shown.out.splitlines()[shown.out.splitlines().index(line) + 1]
        assert re.match(r"^\s{10,}\S", below), line


def test_the_version_is_printed(shell):
    assert shell("--version").out == f"regard {regard.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["trian"],
        ["train"],
        ["train", "data.csv"],
        ["train", "data.csv", "--out", "m", "--epochs", "many"],
        ["train", "data.csv", "--out", "m", "--no-such-option"],
        ["predict", "model"],
        ["predict", "model", "data.csv", "--abstain-below", "2"],
        ["explain", "model"],
        ["explain", "model", "data.csv", "--text", "a"],
        ["explain", "model", "--text", "a", "--limit", "0"],
    ],
)
def test_wrong_usage_ends_with_2_and_no_traceback(shell, arguments):
    ran = shell(*arguments)
    assert ran.code == 2 and not ran.out
    assert "Traceback" not in ran.err and ran.err.strip()


def test_nothing_asked_shows_the_help(shell):
    ran = shell()
    assert "Usage: regard" in ran.out + ran.err and "Traceback" not in ran.err


def test_a_users_error_is_one_line_and_1(tmp_path):
    """In a process of its own: nothing else on either stream."""
    ran = process("train", tmp_path / "nothing.csv", "--out", tmp_path / "model")
    assert ran.returncode == 1 and ran.stdout == b""
    assert ran.stderr.decode().startswith("error: there is no file ")
    assert ran.stderr.count(b"\n") == 1


def test_of_an_endless_error_both_ends_are_said(shell, project):
    """Issue 10: what was given may be a whole file; what to do stands at the end."""
    told = shell("look", project.model, project.test, *COLUMNS, "--word", "\u202e" * 5000)
    assert told.code == 1 and len(told.err) < 1000
    assert told.err.startswith("error: the model knows no word ")
    assert told.err.endswith("; choose a word of the training texts\n")


def test_a_pipe_that_closes_early_is_no_error(project):
    """``regard predict ... | head -1`` prints one line and complains of nothing."""
    command = f"{sys.executable} -m regard predict {project.model} {project.new} | head -1"
    ran = subprocess.run(
        command,
        shell=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(regard.__file__).parents[1])},
    )
    assert ran.stdout.count(b"\n") == 1
    assert b"Traceback" not in ran.stderr and b"Exception" not in ran.stderr


def test_what_a_terminal_cannot_show_is_no_error(project):
    """An ASCII terminal, and an argument that is no UTF-8."""
    ran = subprocess.run(
        [sys.executable, "-m", "regard", "explain", str(project.model), "--text", b"caf\xe9 great"],
        capture_output=True,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(regard.__file__).parents[1]),
            "PYTHONIOENCODING": "ascii",
        },
    )
    assert ran.returncode == 0, ran.stderr
    assert b"great" in ran.stdout


def test_a_warning_is_one_line_and_quiet_silences_it(shell, project, tmp_path):
    """A file of an old encoding: read, and said so."""
    data = tmp_path / "latin.csv"
    data.write_bytes("text\nun café brillant\n".encode("cp1252"))
    ran = process("predict", project.model, data)
    warned = [line for line in ran.stderr.decode().splitlines() if line.startswith("warning")]
    assert len(warned) == 1 and warned[0].startswith(
        f"warning: {data}:2: not UTF-8; read as cp1252"
    )
    assert "café" in json.loads(ran.stdout)["text"]
    # Here every warning is an error, unless it was silenced.
    assert shell("predict", project.model, data, "--quiet").code == 0


def test_a_file_that_may_not_be_written_is_one_line(shell, project, tmp_path):
    (blocked := tmp_path / "a file").write_text("")
    ran = shell("predict", project.model, project.new, "--out", blocked / "out.jsonl")
    assert "a file" in ran.error


def in_a_shell(line, *arguments):
    """Run a line of the shell in which ``$regard`` is the command and ``$1`` the first argument."""
    command = f"{sys.executable} -m regard"
    environment = {**os.environ, "PYTHONPATH": str(Path(regard.__file__).parents[1])}
    return subprocess.run(
        ["bash", "-c", line.replace("$regard", command), "bash", *map(str, arguments)],
        capture_output=True,
        env=environment,
    )


def test_closed_streams_never_end_up_in_a_file(project, tmp_path):
    """What is printed would go into the file that got the number of a closed stream."""
    open_, closed = tmp_path / "open.jsonl", tmp_path / "closed.jsonl"
    in_a_shell('$regard predict "$1" "$2" --out "$3"', project.model, project.new, open_)
    ran = in_a_shell(
        '$regard predict "$1" "$2" --out "$3" <&- >&- 2>&-', project.model, project.new, closed
    )
    assert ran.returncode == 0 and not ran.stdout + ran.stderr
    assert closed.read_bytes() == open_.read_bytes() and closed.read_bytes().count(b"\n") == 25


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("$regard --version >&-", "standard output: Bad file descriptor"),
        ("$regard --version >/dev/full", "standard output: No space left on device"),
        ('$regard predict "$1" - <&-', "standard input is closed; give a file in the place of -"),
        ('$regard predict "$1" "$2" >/dev/full', "standard output: No space left on device"),
    ],
)
def test_a_stream_that_cannot_be_used_is_one_line(project, line, told):
    ran = in_a_shell(line, project.model, project.new)
    assert ran.returncode == 1 and not ran.stdout
    assert ran.stderr.decode() == f"error: {told}\n"


def test_an_error_that_nobody_can_read_still_has_its_code(project):
    ran = in_a_shell("$regard predict none none.csv 2>&-")
    assert ran.returncode == 1 and not ran.stdout + ran.stderr


def test_whoever_reads_the_first_line_alone_sees_no_complaint():
    ran = in_a_shell("$regard experiment list | head -1")
    assert ran.stdout.count(b"\n") == 1 and not ran.stderr
