"""What the changelog says is held by a test can be looked up and run."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CITED = re.compile(r"`(tests/[\w/]+\.py)?(?:::(\w+))?`")


def cited():
    """Each file and test that is named; a test without a file is in the file named before it."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    path = ""
    for match in CITED.finditer(text):
        path = match[1] or path
        yield path, match[2]


def names_in(path):
    return {
        node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if hasattr(node, "name")
    }


def test_every_test_that_is_named_is_there():
    named = list(cited())
    assert len(named) > 50
    gone = [path for path, _ in named if not (ROOT / path).exists()]
    assert not gone
    missing = [
        f"{path}::{test}" for path, test in named if test and test not in names_in(ROOT / path)
    ]
    assert not missing
