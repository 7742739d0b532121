"""Every example runs as it stands, and is short enough to read."""

import re
import runpy
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

EXPECTED = {
    "add_numbers.py": r"right: (9\d|100) of 100",
    "attention_lstm.py": r"right on (9\d|100)% of 300 new series\n(.*\n){5}step 5 0\.[5-9]",
    "classify_reviews.py": r"right on (9\d|100)% of 100 new reviews\nmacro F1 (0\.9|1\.0)",
    "own_network.py": r"\['rain' 'sun'\]",
    "translate_french.py": r"(?s)BLEU +(9\d|100).*\|tok:13a\|.*yellow .* jaune.*flower .* fleur ",
    "stand_alone_attention.py": r"step 300: off by 0\.0\d\d\nanswer 0\.\d+; weights \[0",
}
ELSEWHERE = {"label_with_spark.py"}  # run by tests/scale/test_spark.py, where there is Spark


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_it_is_short_and_says_how_to_run_it(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") < 60
    assert f"python examples/{path.name}" in text


def test_all_of_them_are_run():
    assert {path.name for path in EXAMPLES} == EXPECTED.keys() | ELSEWHERE


@pytest.mark.parametrize("path", [ROOT / "examples" / name for name in EXPECTED], ids=EXPECTED)
def test_it_prints_what_it_promises(path, tmp_path, monkeypatch, capsys):
    """003-06: those that add numbers and weigh the steps of a series among them."""
    """002-18, 004-05: among them French to English, with BLEU and words that change places."""
    takes_folder = "[FOLDER]" in path.read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "argv", [str(path), *([str(tmp_path)] if takes_folder else [])])
    with torch.random.fork_rng():
        runpy.run_path(str(path), run_name="__main__")
    assert re.search(EXPECTED[path.name], capsys.readouterr().out)
    if takes_folder:
        assert (tmp_path / "model" / "config.json").exists()
        assert "<html" in (tmp_path / "explanation.html").read_text(encoding="utf-8")
