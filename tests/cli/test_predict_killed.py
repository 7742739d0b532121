"""``regard predict`` killed in the middle goes on without losing or doubling a row."""

import json
from pathlib import Path

import pytest

from support.killing import kill_once_there
from support.reviews import reviews

COUNT = 16_000
TEXTS = reviews(50, seed=3)[0]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "new.jsonl"
    with path.open("w") as file:
        for n in range(COUNT):
            file.write(json.dumps({"id": n, "text": TEXTS[n % len(TEXTS)]}) + "\n")
    return path


def ids(path):
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


def test_a_killed_run_loses_and_doubles_no_row(shell, project, data, tmp_path):
    """kill -9 while it writes; --resume; the bytes of a run that was never killed."""
    out = tmp_path / "out.jsonl"
    command = ("predict", project.model, data, "--out", out)
    kill_once_there(*command, there=out.with_name("out.jsonl.progress"))
    assert not out.exists()
    noted = json.loads(out.with_name("out.jsonl.progress").read_text())
    assert 0 < noted["rows"] < COUNT
    assert "go on with --resume" in shell(*command).error
    other = shell(*command, "--resume", "--abstain-below", "0.6")
    assert "begun with options" in other.error
    resumed = shell(*command, "--resume")
    assert resumed.code == 0
    assert f"{noted['rows']:,} rows are there already; continuing" in resumed.err
    assert f"{COUNT:,} predictions written" in resumed.err
    assert ids(out) == list(range(COUNT))
    whole = tmp_path / "whole.jsonl"
    assert shell("predict", project.model, data, "--out", whole, "-q").code == 0
    assert out.read_bytes() == whole.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"new.jsonl", "out.jsonl", "whole.jsonl"}


def test_resume_needs_files(shell, project):
    error = shell("predict", project.model, project.new, "--resume").error
    assert error == "--resume needs files to go on with, not -"


def test_a_killed_share_is_gone_on_with_and_a_done_one_is_skipped(shell, project, data, tmp_path):
    """The shares of a disturbed run are the bytes of those of an undisturbed one."""
    out, whole = tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    share = (project.model, data, "--shard", "1/2")
    first = tmp_path / "out.part-1-of-2.jsonl"
    kill_once_there("predict", *share, "--out", out, there=Path(f"{first}.progress"))
    assert not first.exists()
    for number in (1, 2):
        for to in (out, whole):
            ended = shell("predict", *share[:-1], f"{number}/2", "--out", to)
            assert ended.code == 0, ended.err
    again = shell("predict", *share, "--out", out)
    assert f"{first} is there already" in again.err
    found = []
    for number in (1, 2):
        mine, theirs = (tmp_path / f"{name}.part-{number}-of-2.jsonl" for name in ("out", "whole"))
        assert mine.read_bytes() == theirs.read_bytes()
        found += ids(mine)
    assert sorted(found) == list(range(COUNT))


def test_a_share_needs_files(shell, project):
    error = shell("predict", project.model, project.new, "--shard", "1/2").error
    assert error == "--shard needs files to read and to write, not -"
