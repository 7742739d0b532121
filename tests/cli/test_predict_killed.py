"""``regard predict`` killed in the middle goes on without losing or doubling a row."""

import json
from pathlib import Path

import pyarrow.parquet
import pytest

from regard import DocumentClassifier
from support.killing import kill_once_there
from support.reviews import reviews, tiny

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


def test_a_share_that_another_model_made_is_no_share_that_is_done(shell, project, tmp_path):
    """Nothing is labelled by two models in silence."""
    other = tmp_path / "other"
    changed = DocumentClassifier.load(project.model)
    changed.temperature_ *= 2
    changed.save(other)
    share = (project.new, "--shard", "1/2", "--out", tmp_path / "out.jsonl")
    done = tmp_path / "out.part-1-of-2.jsonl"
    assert shell("predict", project.model, *share).code == 0
    first = done.read_bytes()
    for again in ((other, *share), (project.model, *share, "--abstain-below", "0.9")):
        error = shell("predict", *again).error
        assert error.startswith(f"{done} was made with ")
        assert error.endswith("delete it to make it again")
        assert done.read_bytes() == first
    assert "is there already" in shell("predict", project.model, *share).err
    done.unlink()
    assert shell("predict", other, *share).code == 0
    assert done.read_bytes() != first


def test_a_share_that_an_older_version_made_is_done(shell, project, tmp_path):
    share = (project.model, project.new, "--shard", "1/2", "--out", tmp_path / "out.jsonl")
    (tmp_path / "out.part-1-of-2.jsonl").write_text("made before\n")
    assert "is there already" in shell("predict", *share).err


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl"])
def test_a_share_of_no_rows_has_the_columns_of_the_others(shell, project, tmp_path, suffix):
    out = tmp_path / f"out.{suffix}"
    for number in (1, 2):
        ended = shell("predict", project.model, project.new, "--shard", f"{number}/2", "--out", out)
        assert ended.code == 0, ended.err
    full, empty = (tmp_path / f"out.part-{number}-of-2.{suffix}" for number in (1, 2))
    if suffix == "parquet":
        assert pyarrow.parquet.read_schema(empty) == pyarrow.parquet.read_schema(full)
        assert pyarrow.parquet.read_table(empty).num_rows == 0
    elif suffix == "jsonl":
        assert empty.read_bytes() == b""
    else:
        assert empty.read_bytes() == full.read_bytes().splitlines(keepends=True)[0]


def test_a_share_of_no_rows_has_the_type_of_labels_that_are_not_sure_enough(
    shell, project, tmp_path
):
    model, out = tmp_path / "model", tmp_path / "out.parquet"
    tiny(training__epochs=1).fit(*reviews(30, classes=(1, 2))).save(model)
    full, empty = (tmp_path / f"out.part-{number}-of-2.parquet" for number in (1, 2))
    share = ("predict", model, project.new, "--out", out, "--shard")
    assert shell(*share, "1/2").code == shell(*share, "2/2", "--abstain-below", "1").code == 0
    assert pyarrow.parquet.read_schema(empty) == pyarrow.parquet.read_schema(full)


def test_a_share_of_no_rows_says_what_parquet_cannot_hold(shell, project, tmp_path):
    data = tmp_path / "new.jsonl"
    data.write_text('{"text": "a film", "about": {}}\n')
    for number in (1, 2):
        share = ("--shard", f"{number}/2", "--out", tmp_path / "out.parquet")
        assert "write .jsonl instead" in shell("predict", project.model, data, *share).error


def test_a_file_of_no_rows_has_names_all_the_same(shell, project, tmp_path):
    data, out = tmp_path / "new.csv", tmp_path / "out.csv"
    data.write_bytes(b"\xef\xbb\xbfid;text\n")
    assert shell("predict", project.model, data, "--out", out).code == 0
    names = "id;text;predicted;probability;probabilities\n"
    assert out.read_bytes() == b"\xef\xbb\xbf" + names.encode()


def test_a_share_needs_files(shell, project):
    error = shell("predict", project.model, project.new, "--shard", "1/2").error
    assert error == "--shard needs files to read and to write, not -"
