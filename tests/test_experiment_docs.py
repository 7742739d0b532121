"""Every experiment has a page with its command, a table and a small picture."""

import re
from pathlib import Path

import pytest

from regard.experiments import EXPERIMENTS

PAGES = Path(__file__).resolve().parents[1] / "docs" / "experiments"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_its_page_has_the_command_the_numbers_and_the_picture(name):
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert f"regard experiment {name} --seed" in page
    assert "2 CPU cores" in page and f"({name}.svg)" in page
    for column in EXPERIMENTS[name].columns:
        assert re.search(rf"\| +{re.escape(column)} \|", page)
    assert (PAGES / f"{name}.svg").stat().st_size < 100_000


def test_the_first_page_leads_to_all():
    page = (PAGES / "README.md").read_text(encoding="utf-8")
    assert [name for name in EXPERIMENTS if f"[{name}]({name}.md)" not in page] == []
