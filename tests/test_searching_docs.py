"""The examples of the page on searching work."""

import re
from pathlib import Path

import pytest

from regard.scale.search import OneOf, SettingsSearch, read_space
from support.reviews import reviews

PAGE = (Path(__file__).parents[1] / "docs" / "searching.md").read_text(encoding="utf-8")


def block(kind):
    return re.search(rf"<!-- run: {kind} -->\n```\w*\n(.*?)```", PAGE, re.DOTALL).group(1)


def test_the_file_of_the_page_is_a_space_that_can_be_tried(tmp_path):
    path = tmp_path / "search.toml"
    path.write_text(block("toml"))
    space = read_space(path)
    assert space["network.layers"] == OneOf(("1", "2"))
    assert space["training.batch_size"] == OneOf((32,))
    SettingsSearch([], folder=tmp_path, space=space)  # checks every value


def test_the_python_of_the_page_works(tmp_path, monkeypatch):
    pytest.importorskip("optuna", reason="needs the extra search")
    monkeypatch.chdir(tmp_path)
    texts, labels = reviews(40)
    exec(compile(block("python"), "searching.md", "exec"), {"texts": texts, "labels": labels})
    assert (tmp_path / "search" / "trials.sqlite").exists()
