"""The page about models names what there is, and its code runs."""

import dataclasses
import re
from pathlib import Path

import pytest

from regard.models import MODELS
from regard.nn.attention import SCORES
from regard.nn.pooling import POOLINGS

PAGE = (Path(__file__).parent.parent / "docs" / "models.md").read_text(encoding="utf-8")


def test_its_code_runs():
    """003-13: the parts are used in a network of one's own, in order, in one go."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 2
    exec(compile("\n".join(blocks), "docs/models.md", "exec"), {})


@pytest.mark.parametrize("names", [MODELS, SCORES, POOLINGS], ids=["models", "scores", "poolings"])
def test_it_names_every_choice(names):
    assert [name for name in names if f"`{name}`" not in PAGE] == []


def test_it_names_every_setting():
    names = {field.name for kind in MODELS.values() for field in dataclasses.fields(kind)}
    assert sorted(name for name in names if f"`{name}" not in PAGE) == []
