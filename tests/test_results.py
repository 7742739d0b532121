"""Figures in the docs come from files of results, and say what they were measured on."""

import json
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
RESULTS = sorted((ROOT / "benchmarks" / "results").glob("*.json"))
TABLES = runpy.run_path(str(ROOT / "scripts" / "tables"))
PAGES = sorted((ROOT / "docs").rglob("*.md"))


@pytest.mark.parametrize("path", PAGES, ids=[path.stem for path in PAGES])
def test_the_figures_of_a_page_are_those_of_the_files(path):
    """Run scripts/tables after a benchmark."""
    page = path.read_text(encoding="utf-8")
    assert TABLES["filled"](page) == page


@pytest.mark.parametrize("path", RESULTS, ids=[path.stem for path in RESULTS])
def test_a_file_names_what_it_measured_or_is_called_old(path):
    """Issue 12.8: commit, machine and date; a figure older than its code is marked."""
    found = json.loads(path.read_text(encoding="utf-8"))
    if "commit" in found:
        assert found["commit"] and found["date"] and found["machine"]["processor"]
        assert "seeds" in found or "seed" in found
    else:
        listed = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
        assert f"- `{path.name}`" in listed.split("<!-- results: older -->")[1]


def test_figures_without_a_commit_are_said_to_be_older():
    said = TABLES["origin"]("threads", {"machine": {"processor": "x"}})
    assert "**Older than the code**" in said
    known = {"machine": {"processor": "x"}, "commit": "abc", "date": "2026-11-16", "seeds": [0, 1]}
    assert TABLES["origin"]("threads", known).endswith("commit abc, 2026-11-16, seeds 0, 1.")
