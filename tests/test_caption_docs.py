"""The page about captions names what there is, and its code runs."""

import re
from pathlib import Path

import pytest

from regard.models.show_attend_tell import BACKBONES
from regard.nn.decoding.memory import CHOICES

PAGE = (Path(__file__).parent.parent / "docs" / "captions.md").read_text(encoding="utf-8")


def test_its_code_runs(tmp_path, monkeypatch):
    pytest.importorskip("PIL", reason="the extra images is not installed")
    pytest.importorskip("sacrebleu", reason="the extra images is not installed")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(code, "docs/captions.md", "exec"), {})
    assert (tmp_path / "model" / "card.md").exists()


def test_it_names_every_choice():
    assert [name for name in (*CHOICES, *BACKBONES) if f"`{name}`" not in PAGE] == []
