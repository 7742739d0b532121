"""The README works as written, and the pages point at things that exist."""

import csv
import json
import os
import random
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([ROOT / "README.md", ROOT / "ARCHITECTURE.md", *ROOT.glob("docs/**/*.md")])


def block(kind: str) -> str:
    """The block of the README that follows the mark ``run: kind``."""
    found = re.search(rf"<!-- run: {kind} -->\n```\w*\n(.*?)```", README, re.DOTALL)
    assert found, f"the README marks no block to run as {kind}"
    return found.group(1)


def reviews(count: int) -> list[tuple[str, str]]:
    """Short reviews and their stars, by rules that a model finds at once."""
    rng = random.Random(count)
    found = []
    for _ in range(count):
        stars = rng.choice(["1", "5"])
        words = ["great", "friendly"] if stars == "5" else ["cold", "rude"]
        parts = [f"The {rng.choice(['food', 'staff', 'music'])} was {rng.choice(words)}."]
        parts += [f"We sat near the {rng.choice(['door', 'window', 'bar'])}." for _ in range(2)]
        rng.shuffle(parts)
        found.append((" ".join(parts), stars))
    return found


def test_the_commands_of_the_readme_work(tmp_path):
    for name, count in (("reviews.csv", 60), ("test.csv", 20)):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows([("review", "stars"), *reviews(count)])
    rows = [json.dumps({"id": number, "text": text}) for number, (text, _) in enumerate(reviews(5))]
    (tmp_path / "new.jsonl").write_text("\n".join(rows))
    for command in block("shell").splitlines():
        program, *arguments = shlex.split(command)
        assert program == "regard"
        done = subprocess.run(
            [sys.executable, "-m", "regard", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
    assert len((tmp_path / "predictions.jsonl").read_text().splitlines()) == 5
    for name in ("report.html", "explanations.html", "audit.html", "look.html"):
        assert "<html" in (tmp_path / name).read_text()


def test_the_python_of_the_readme_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts, labels = zip(*reviews(60), strict=True)
    names = {"texts": list(texts), "labels": list(labels)}
    exec(compile(block("python"), "README.md", "exec"), names)
    assert (tmp_path / "model" / "config.json").exists()


MADE = {"tutorial.md", "reference/commands.md"}  # by scripts/site.py, when the site is built


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert set(missing) <= MADE


def test_the_contract_names_the_tests_that_show_each_promise():
    command = [sys.executable, str(ROOT / "scripts" / "contract"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


ODD = ("minds context", "as it were", "mended", "gave way", "could not bring itself")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_are_in_plain_english(page):
    """Issue 17: phrases that readers stumbled on."""
    text = " ".join(page.read_text(encoding="utf-8").lower().split())
    assert [phrase for phrase in ODD if phrase in text] == []


def test_what_commands_say_is_in_plain_english():
    sources = [*(ROOT / "src/regard/cli").rglob("*.py"), *(ROOT / "src/regard/views").rglob("*.py")]
    said = {path.name: path.read_text(encoding="utf-8").lower() for path in sources}
    found = [(name, phrase) for name, text in said.items() for phrase in ODD if phrase in text]
    assert found == []
