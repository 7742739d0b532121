"""What commands write: whole or not at all, and never over what is needed."""

import pytest

from cli_files import COLUMNS
from full_disk import full_disk

TEXT = ("--text", "A great film. The music was dull.")
COMMANDS = {
    "evaluate": lambda p: ["evaluate", p.model, p.test, *COLUMNS],
    "audit": lambda p: ["audit", p.model, p.test, *COLUMNS, "--limit", 2, "--no-needle"],
    "look": lambda p: ["look", p.model, p.test, *COLUMNS, "--limit", 5],
    "diff": lambda p: ["diff", p.model, p.model, p.test, *COLUMNS, "--limit", 5],
    "explain": lambda p: ["explain", p.model, *TEXT],
}
WRITTEN = [(name, suffix) for name in COMMANDS for suffix in (".html", ".json")]
WRITTEN += [("explain", suffix) for suffix in (".jsonl", ".png", ".svg")]


@pytest.mark.parametrize(("command", "suffix"), WRITTEN)
def test_a_full_disk_leaves_the_report_before(shell, project, tmp_path, command, suffix):
    out = tmp_path / f"report{suffix}"
    out.write_text("the report before")
    with full_disk():
        ran = shell(*COMMANDS[command](project), "--out", out)
    assert ran.error.startswith(f"{out}: ")
    assert out.read_text() == "the report before"
    assert [entry.name for entry in tmp_path.iterdir()] == [out.name]
