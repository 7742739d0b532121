"""The page on speed: its code runs, and what it names is there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "records" / "speed.md").read_text(encoding="utf-8")


def test_the_code_of_the_page_runs():
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(code, "speed.md", "exec"), {})


def test_the_scripts_it_names_are_there():
    named = re.findall(r"`((?:benchmarks|scripts)/[\w./]+)`", PAGE)
    assert len(named) >= 6
    for name in named:
        assert (ROOT / name).exists() or name.startswith("benchmarks/results/"), name
