"""Marks of readers: nothing that was acknowledged is lost."""

import signal
import sqlite3
import subprocess
import sys
import threading

import pytest

from regard.data.marks import MarkStore
from regard.errors import DataError
from regard.records.marks import Mark

MARK = Mark("The plot is dull. The cast is fine.", 0, 17, "reason", "bad", "reviews", "ada")
WRITER = """
import sys
from regard.data.marks import MarkStore
from regard.records.marks import Mark
store = MarkStore(sys.argv[1])
for number in range(100_000):
    store.add(Mark("x" * 50, 0, number % 50 + 1, "reason", "bad", reader=str(number)))
    print(number, flush=True)
"""


def test_marks_come_back_as_they_were_made(tmp_path):
    store = MarkStore(tmp_path / "marks.sqlite")
    other = Mark("Other text \U0001f600", 0, 5, "irrelevant", "good")
    store.add(MARK)
    store.add(other)
    assert MarkStore(tmp_path / "marks.sqlite").read() == [MARK, other]
    assert store.read(MARK.text) == [MARK]


def test_a_reader_may_change_their_mind(tmp_path):
    store = MarkStore(tmp_path / "marks.sqlite")
    store.add(MARK)
    changed = Mark(MARK.text, 0, 17, "irrelevant", "bad", "reviews", "ada")
    store.add(changed)
    assert store.read() == [changed]
    store.remove(changed)
    assert store.read() == []


def test_several_may_write_at_once(tmp_path):
    path = tmp_path / "marks.sqlite"
    MarkStore(path)

    def write(reader):
        for start in range(10):
            MarkStore(path).add(Mark("y" * 20, start, 20, "reason", "bad", reader=reader))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(MarkStore(path).read()) == 40


def test_what_was_acknowledged_survives_a_kill(tmp_path):
    path = tmp_path / "marks.sqlite"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    acknowledged = [int(writer.stdout.readline()) for _ in range(40)]
    writer.send_signal(signal.SIGKILL)
    acknowledged += [int(line) for line in writer.stdout.read().split()]
    writer.wait()
    writer.stdout.close()
    kept = {int(mark.reader) for mark in MarkStore(path).read()}
    assert set(acknowledged) <= kept


def test_a_file_that_is_something_else_is_an_error_in_a_line(tmp_path):
    path = tmp_path / "marks.sqlite"
    path.write_text("label,text\n" * 100, encoding="utf-8")
    with pytest.raises(DataError, match="cannot hold marks"):
        MarkStore(path)
    assert path.read_text(encoding="utf-8").startswith("label")


def test_half_a_character_is_an_error_in_a_line(tmp_path):
    with pytest.raises(DataError, match="lone surrogate"):
        MarkStore(tmp_path / "marks.sqlite").add(Mark("a \ud800", 0, 1, "reason", "bad"))


@pytest.mark.parametrize("values", [(0, 0, "reason"), (5, 99, "reason"), (0, 3, "maybe")])
def test_a_mark_that_makes_no_sense_is_refused(values):
    start, end, kind = values
    with pytest.raises(DataError):
        Mark("a text", start, end, kind, "bad")


def test_the_file_is_safe_against_crashes(tmp_path):
    MarkStore(tmp_path / "marks.sqlite")
    with sqlite3.connect(tmp_path / "marks.sqlite") as database:
        assert database.execute("pragma journal_mode").fetchone() == ("wal",)
    database.close()
