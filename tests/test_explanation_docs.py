"""The code of the page on explanations runs."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "explanations.md"


def test_the_code_of_the_page_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(code, str(PAGE), "exec"), names)
    said = capsys.readouterr().out
    assert "brilliant" in said
    assert "by attention" in said
    assert str(names["page"]).startswith("<!DOCTYPE html>")
