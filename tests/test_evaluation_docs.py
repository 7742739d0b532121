import json
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "evaluation.md"


def test_the_code_of_the_page_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, str(PAGE), "exec"), {})
    *said, last = capsys.readouterr().out.strip().split("\n")
    assert said[0].startswith("Right on 83.3 % of 6 documents")
    assert json.loads(last)["accuracy"] == 5 / 6
