"""The page about BERT names what there is, and its code runs."""

import dataclasses
import re
from pathlib import Path

import pytest

from regard.data.masking import MaskingConfig
from regard.estimators.bert_usages import USAGES
from regard.models.bert import BertConfig
from regard.models.tuned_bert import TuningConfig
from regard.text.pieces import PiecesConfig

PAGE = (Path(__file__).parent.parent / "docs" / "bert.md").read_text(encoding="utf-8")


def test_its_code_runs(tmp_path, monkeypatch):
    """As written, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(code, "docs/bert.md", "exec"), {})
    assert (tmp_path / "model" / "card.md").exists()


@pytest.mark.parametrize("kind", [BertConfig, PiecesConfig, MaskingConfig, TuningConfig])
def test_it_names_every_setting(kind):
    """None is left for a reader to find in the code."""
    names = [field.name for field in dataclasses.fields(kind)]
    assert [name for name in names if f"`{name}`" not in PAGE] == []


def test_it_names_every_task_and_estimator():
    """With its columns and scores."""
    assert [name for name in USAGES if f"`{name}`" not in PAGE] == []
    assert [one.__name__ for one in USAGES.values() if f"`{one.__name__}`" not in PAGE] == []
