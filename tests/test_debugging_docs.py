"""The code of the page on debugging runs, and its commands have the options it names."""

import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from regard.cli.main import app

PAGE = Path(__file__).resolve().parents[1] / "docs" / "debugging.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_code_of_the_page_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(code, str(PAGE), "exec"), names)
    assert capsys.readouterr().out.startswith("40 ")
    assert str(names["page"]).startswith("<!DOCTYPE html>")


def test_the_commands_of_the_page_have_those_options():
    for command in ("look", "diff"):
        section = TEXT.split(f"## `regard {command}`")[1].split("\n## ")[0]
        (line,) = [part for part in section.splitlines() if part.startswith(f"regard {command}")]
        assert shlex.split(line)[1] == command
        shown = CliRunner().invoke(app, [command, "--help"]).output
        for option in set(re.findall(r"--[a-z-]+", section)):
            assert option in shown, option
