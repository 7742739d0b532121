"""The walk that ARCHITECTURE.md lists, from a CSV row to a page, followed on a real run."""

import re
import sys
import threading
from pathlib import Path

import pytest

import regard
from regard.cli.main import main
from support.native_cases import needs_native

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(regard.__file__).parent
MOST_HOPS = 35


def listed():
    """The functions of the walk, in order, as they are written on the page."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = page.split("## From a row to a page")[1].split("\n## ")[0]
    return re.findall(r"^\d+\. `([\w.]+)`", section, re.MULTILINE)


class Followed:
    """Notes each function of ours when it is first called."""

    def __init__(self):
        self.names = []

    def __enter__(self):
        threading.setprofile(self)
        sys.setprofile(self)
        return self.names

    def __exit__(self, *_):
        sys.setprofile(None)
        threading.setprofile(None)

    def __call__(self, frame, event, _):
        if event == "call" and (name := name_of(frame.f_code)) and name not in self.names:
            self.names.append(name)


def name_of(code):
    """The full name of a function of ours, from the package on."""
    path = Path(code.co_filename)
    if not path.is_relative_to(PACKAGE):
        return None
    parts = [part for part in path.relative_to(PACKAGE).with_suffix("").parts if part != "__init__"]
    return ".".join([*parts, code.co_qualname])


@needs_native
def test_a_row_walks_to_a_page_as_it_is_written(fitted, tmp_path, monkeypatch):
    fitted.save(tmp_path / "model")
    (tmp_path / "new.csv").write_text("text\nA great evening. The story was dull.\n")
    page = tmp_path / "page.html"
    command = ["explain", "model", "new.csv", "--method", "attention", "--out", str(page)]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["regard", *command])
    with pytest.raises(SystemExit) as ended, Followed() as called:
        main()
    assert ended.value.code == 0 and "great" in page.read_text(encoding="utf-8")
    walk = listed()
    assert 20 < len(walk) <= MOST_HOPS
    assert [name for name in walk if name not in called] == []
    assert walk == sorted(walk, key=called.index), "in the order in which they are first called"
