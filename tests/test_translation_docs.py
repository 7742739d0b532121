"""The page about translating names what there is, and its code runs."""

import dataclasses
import re
from pathlib import Path

import pytest

from regard.nn.decoding.decoders import DECODERS
from regard.tasks.generate import FORCINGS
from regard.text.units import KINDS, UnitsConfig

PAGE = (Path(__file__).parent.parent / "docs" / "translation.md").read_text(encoding="utf-8")


def test_its_code_runs(tmp_path, monkeypatch):
    pytest.importorskip("sacrebleu", reason="the extra translate is not installed")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(code, "docs/translation.md", "exec"), {})
    assert (tmp_path / "model" / "card.md").exists()


@pytest.mark.parametrize("names", [DECODERS, KINDS, FORCINGS], ids=["decoders", "units", "forcing"])
def test_it_names_every_choice(names):
    assert [name for name in names if f"`{name}`" not in PAGE] == []


def test_it_names_every_setting_of_the_units():
    names = [field.name for field in dataclasses.fields(UnitsConfig)]
    assert [name for name in names if f"`{name}`" not in PAGE] == []
