"""A file of answers that a killed run has left is gone on with, and no row is lost or doubled."""

import contextlib
import csv
import errno
import json
import os

import pyarrow.parquet
import pytest

from regard.data.writers import RowWriter
from regard.errors import DataError
from support.ctrl_c import ctrl_c
from support.full_disk import full_disk

SUFFIXES = [".jsonl", ".csv", ".tsv", ".parquet"]
ROWS = [{"id": n, "text": f'a "quote",\nline {n}', "likely": {"x": n / 8}} for n in range(8)]
TASK = {"model": "m", "data": "d"}


def ids(path):
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path)["id"].to_pylist()
    if path.suffix == ".jsonl":
        return [json.loads(line)["id"] for line in path.read_text().splitlines()]
    with path.open(newline="") as file:
        delimiter = "," if path.suffix == ".csv" else "\t"
        return [int(row["id"]) for row in csv.DictReader(file, delimiter=delimiter)]


def left_by_a_killed_run(path, parts):
    """Write some parts and leave what one who is killed leaves."""
    with contextlib.suppress(OSError), RowWriter(str(path), task=TASK) as writer:
        for part in parts:
            writer.write(part)
        raise OSError


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_was_noted_is_kept_and_what_came_after_is_cut(tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    left_by_a_killed_run(path, [ROWS[:3], ROWS[3:5]])
    assert not path.exists()
    with path.with_name(f"{path.name}.part").open("ab") as file:
        file.write(b"half a r\xff\x00")  # killed while it wrote on
    with RowWriter(str(path), task=TASK, resume=True) as writer:
        assert writer.rows == 5
        writer.write(ROWS[5:])
    assert writer.rows == 8 and ids(path) == list(range(8))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_resumed_file_has_the_bytes_of_one_written_in_one_go(tmp_path, suffix):
    once, twice = tmp_path / f"once{suffix}", tmp_path / f"twice{suffix}"
    with RowWriter(str(once), task=TASK) as writer:
        for part in (ROWS[:4], ROWS[4:]):
            writer.write(part)
    left_by_a_killed_run(twice, [ROWS[:4]])
    with RowWriter(str(twice), task=TASK, resume=True) as writer:
        writer.write(ROWS[4:])
    assert once.read_bytes() == twice.read_bytes()


def test_a_run_that_was_killed_before_its_first_part_begins_again(tmp_path):
    path = tmp_path / "out.csv"
    path.with_name("out.csv.part").write_bytes(b"id,te")
    with RowWriter(str(path), task=TASK, resume=True) as writer:
        assert writer.rows == 0
        writer.write(ROWS)
    assert ids(path) == list(range(8))


def test_a_killed_run_is_not_written_over_unasked(tmp_path):
    path = tmp_path / "out.csv"
    left_by_a_killed_run(path, [ROWS[:3]])
    with (
        pytest.raises(DataError, match=r"unfinished run lies in .*out\.csv\.part; .* --resume"),
        RowWriter(str(path), task=TASK),
    ):
        pass
    with RowWriter(str(path), task=TASK, resume=True) as writer:
        assert writer.rows == 3


def test_another_task_is_refused_by_name(tmp_path):
    path = tmp_path / "out.csv"
    left_by_a_killed_run(path, [ROWS[:3]])
    with (
        pytest.raises(DataError, match="begun with model m, now it is other"),
        RowWriter(str(path), task={**TASK, "model": "other"}, resume=True),
    ):
        pass


DAMAGED = ["", "{}", "[]", "null", "1", '"seal"', '{"seal": ""}', "\xff", "[" * 100_000]
DAMAGED += [
    f'{{"rows": {rows}, "bytes": {size}, "content": "", "task": {{}}, "seal": ""}}'
    for rows, size in [(-1, 0), ("Infinity", 0), ("1e400", 0), (0, -1), (0, "NaN"), ("true", 0)]
]


@pytest.mark.parametrize("notes", DAMAGED, ids=range(len(DAMAGED)))
def test_damaged_notes_are_an_error_that_says_so(tmp_path, notes):
    path = tmp_path / "out.csv"
    left_by_a_killed_run(path, [ROWS[:3]])
    path.with_name("out.csv.progress").write_text(notes)
    with (
        pytest.raises(DataError, match=r"out\.csv\.progress is damaged; delete "),
        RowWriter(str(path), task=TASK, resume=True),
    ):
        pass


def test_a_file_that_was_cut_is_an_error(tmp_path):
    path = tmp_path / "out.csv"
    left_by_a_killed_run(path, [ROWS[:3]])
    path.with_name("out.csv.part").write_bytes(b"id")
    with (
        pytest.raises(DataError, match="shorter than it was"),
        RowWriter(str(path), task=TASK, resume=True),
    ):
        pass


@pytest.mark.parametrize("problem", [KeyboardInterrupt, OSError])
def test_what_was_noted_outlives_an_error(tmp_path, problem):
    path = tmp_path / "out.csv"
    with pytest.raises(problem), RowWriter(str(path), task=TASK) as writer:
        writer.write(ROWS[:3])
        raise problem
    with RowWriter(str(path), task=TASK, resume=True) as writer:
        writer.write(ROWS[3:])
    assert ids(path) == list(range(8))


def test_without_a_task_nothing_is_noted(tmp_path):
    path = tmp_path / "out.csv"
    with pytest.raises(OSError), RowWriter(str(path)) as writer:
        writer.write(ROWS[:3])
        assert sorted(one.name for one in tmp_path.iterdir()) == ["out.csv.lock", "out.csv.part"]
        raise OSError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_disk_in_the_last_step_loses_nothing(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"out{suffix}"
    path.write_text("of an earlier run")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    with (
        monkeypatch.context() as patch,
        pytest.raises(OSError, match="No space left"),
        RowWriter(str(path), task=TASK) as writer,
    ):
        writer.write(ROWS)
        patch.setattr("pathlib.Path.replace", full)
    assert path.read_text() == "of an earlier run"
    left = {f"out{suffix}", f"out{suffix}.part", f"out{suffix}.progress"}
    assert {entry.name for entry in tmp_path.iterdir()} == left
    with RowWriter(str(path), task=TASK, resume=True) as writer:
        assert writer.rows == 8
    assert ids(path) == list(range(8))
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_disk_that_is_full_while_parquet_is_finished_loses_nothing(tmp_path):
    path = tmp_path / "out.parquet"
    rows = [{"id": n, "text": f"{n:x}" * 40} for n in range(8)]
    with (
        pytest.raises(OSError) as failed,
        contextlib.ExitStack() as stack,
        RowWriter(str(path), task=TASK) as writer,
    ):
        writer.write(rows)
        stack.enter_context(full_disk())
    assert failed.value.filename == str(path)
    with RowWriter(str(path), task=TASK, resume=True) as writer:
        assert writer.rows == 8
    assert ids(path) == list(range(8))
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.parquet"]


def test_a_link_leads_to_the_file_as_before(tmp_path):
    (tmp_path / "real.csv").write_text("old")
    link = tmp_path / "link.csv"
    link.symlink_to("real.csv")
    with RowWriter(str(link), task=TASK) as writer:
        writer.write(ROWS)
    assert link.is_symlink() and ids(tmp_path / "real.csv") == list(range(8))


def test_a_pipe_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match=r"pipe\.csv is no file that rows can be written to"):
        RowWriter(str(tmp_path / "pipe.csv"))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("resume", [False, True])
def test_two_runs_never_write_one_file(tmp_path, suffix, resume):
    path = tmp_path / f"out{suffix}"
    with RowWriter(str(path), task=TASK) as first:
        first.write(ROWS[:4])
        with (
            pytest.raises(DataError, match=f"another run is writing {path}; let it end"),
            RowWriter(str(path), task={**TASK, "data": "other"}, resume=resume),
        ):
            pass
        first.write(ROWS[4:])
    assert ids(path) == list(range(8))
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_disk_that_is_full_from_the_start_leaves_nothing_behind(tmp_path):
    path = tmp_path / "out.csv"
    with full_disk(), pytest.raises(OSError) as failed, RowWriter(str(path), task=TASK) as writer:
        writer.write([{"text": "x" * 1000}])
    assert failed.value.filename == f"{path}.part"
    assert list(tmp_path.iterdir()) == []


# An interrupt inside of open leaves a file that nobody has a name for; Python closes it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_while_a_file_is_begun_leaves_nothing_behind(tmp_path):
    """Issue 18.9: at each call on the way."""
    for at in range(1, 100):
        writer = RowWriter(str(tmp_path / "out.csv"))
        try:
            with ctrl_c(at) as presses:
                writer.__enter__()
        except KeyboardInterrupt:
            assert list(tmp_path.iterdir()) == [], at
            continue
        writer.__exit__(KeyboardInterrupt)
        assert list(tmp_path.iterdir()) == []
        if not presses.pressed:
            break
    assert 5 < at < 99


def test_each_flipped_bit_of_the_notes_is_found(tmp_path):
    path = tmp_path / "out.csv"
    left_by_a_killed_run(path, [ROWS[:3]])
    notes = path.with_name("out.csv.progress")
    good = notes.read_bytes()
    for bit in range(8 * len(good)):
        damaged = bytearray(good)
        damaged[bit // 8] ^= 1 << bit % 8
        notes.write_bytes(damaged)
        with (
            pytest.raises(DataError, match=r"progress is damaged; delete"),
            RowWriter(str(path), task=TASK, resume=True),
        ):
            pass


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_rows_that_were_changed_meanwhile_are_an_error(tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    left_by_a_killed_run(path, [ROWS[:3]])
    part = path.with_name(f"out{suffix}.part")
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    with (
        pytest.raises(DataError, match=r"part was changed since; delete .*progress to start"),
        RowWriter(str(path), task=TASK, resume=True),
    ):
        pass
