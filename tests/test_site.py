"""The site is built strictly, offline, and with every page that a user looks for."""

import importlib.machinery
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from regard.explain.methods import METHODS

ROOT = Path(__file__).resolve().parents[1]
SESSION = ROOT / "scripts" / "session"


def load(path):
    loader = importlib.machinery.SourceFileLoader(path.stem, str(path))
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.stem, loader))
    loader.exec_module(made)
    return made


@pytest.mark.slow
def test_the_site_is_built_strictly_and_asks_nobody(tmp_path):
    pytest.importorskip("mkdocs", reason="needs the extra docs")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr
    pages = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.html")}
    wanted = ("tutorial", "session", "choose", "cookbook", "glossary", "reference/python")
    assert {f"{name}.html" for name in (*wanted, "reference/commands")} <= pages
    for name in pages:
        text = (tmp_path / name).read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|iframe)[^>]* src="(https?:[^"]+)"', text)
        loaded += re.findall(r'<link[^>]* rel="stylesheet"[^>]* href="(https?:[^"]+)"', text)
        assert not loaded, name
    assert "predict_proba" in (tmp_path / "reference/python.html").read_text(encoding="utf-8")
    assert "--abstain-below" in (tmp_path / "reference/commands.html").read_text(encoding="utf-8")


def test_every_page_is_in_the_navigation():
    """A page that nobody is led to is not found."""
    listed = re.findall(r"^ +- (?:[\w ]+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert pages - set(listed) == set() and len(listed) == len(set(listed))


def test_every_method_of_explanation_is_listed_with_what_it_is_for():
    page = (ROOT / "docs" / "explanations.md").read_text(encoding="utf-8")
    assert [name for name in METHODS if f"`{name}`" not in page] == []


def test_the_session_needs_few_commands_and_no_flag_twice():
    """Issue 17: from an Excel export to a sent page in at most six, as they are recorded."""
    commands = load(SESSION).COMMANDS
    recorded = re.findall(r"^\$ (.*)$", (ROOT / "docs" / "session.md").read_text("utf-8"), re.M)
    assert recorded == list(commands) and len(commands) <= 6
    flags = [word for one in commands for word in shlex.split(one) if word.startswith("--")]
    assert [flag for flag in set(flags) - {"--out"} if flags.count(flag) > 1] == []
    assert commands[-1].endswith(".html")


@pytest.mark.slow
def test_the_session_goes_as_it_is_recorded(tmp_path):
    session = load(SESSION)
    session.prepare(tmp_path)
    for command in session.COMMANDS:
        session.run(command, tmp_path)
    page = (tmp_path / "erklaerung.html").read_text(encoding="utf-8")
    assert "Frühstück" in page and "http" not in page.replace("http-equiv", "")
    answers = (tmp_path / "antworten.csv").read_bytes().decode("cp1252")
    assert answers.startswith("Nr;Text;predicted;") and "Frühstück" in answers
