"""The page on training: its code runs, and its table is that of the settings."""

import re
from dataclasses import fields
from pathlib import Path

from regard.training.config import TrainingConfig

PAGE = Path(__file__).resolve().parents[1] / "docs" / "training.md"


def test_the_code_of_the_page_runs(capsys):
    names = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(code, str(PAGE), "exec"), names)
    *_, last = capsys.readouterr().out.strip().split("\n")
    assert last.startswith("epoch 3: 0.")


def test_the_table_lists_every_setting_with_its_default():
    page = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `([^`]*)` \|", page, re.MULTILINE)
    assert rows == [(field.name, str(field.default)) for field in fields(TrainingConfig)]
