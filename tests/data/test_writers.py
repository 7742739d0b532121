"""Rows of answers to a file."""

import csv
import datetime
import json
import math
import os
import time
from contextlib import suppress
from threading import Event, Thread, Timer

import pyarrow.parquet
import pytest

from regard.data import writers
from regard.data.writers import RowWriter, write_rows
from regard.errors import DataError

ROWS = [
    {"id": 1, "text": "a, b", "labels": ["x", "y"], "likely": {"x": 0.5, "y": 0.25}, "note": None},
    {"id": 2, "text": 'a "quote"\nand a line', "labels": [], "likely": {"x": 1.0}, "note": "n"},
]


def read(path):
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path).to_pylist()
    if path.suffix in (".csv", ".tsv"):
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file, delimiter="," if path.suffix == ".csv" else "\t"))
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".CSV"])
def test_rows_come_back_in_order(tmp_path, suffix):
    path = tmp_path / "deep" / f"out{suffix}"
    assert write_rows(iter(ROWS), str(path)) == 2
    found = read(path.rename(path.with_suffix(suffix.lower())))
    assert [str(row["id"]) for row in found] == ["1", "2"]
    assert [row["text"] for row in found] == [row["text"] for row in ROWS]
    labels = [row["labels"] for row in found]
    assert [json.loads(cell) if isinstance(cell, str) else cell for cell in labels] == [
        ["x", "y"],
        [],
    ]
    assert [row["note"] or "" for row in found] == ["", "n"]


def test_a_row_may_lack_a_column_and_nothing_moves(tmp_path):
    rows = [{"id": 1, "name": "a", "text": "t"}, {"text": "u", "id": 2}]
    for suffix in (".csv", ".parquet"):
        path = tmp_path / f"out{suffix}"
        write_rows(rows, str(path))
        second = read(path)[1]
        assert (str(second["id"]), second["name"] or "", second["text"]) == ("2", "", "u")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_a_column_that_comes_late_is_an_error_and_not_lost(tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    with pytest.raises(DataError, match="row 2 has a column 'more' that the first one lacks"):
        write_rows([{"id": 1}, {"id": 2, "more": 3}], str(path))
    assert list(tmp_path.iterdir()) == []
    assert write_rows([{"id": 1}, {"id": 2, "more": 3}], str(tmp_path / "out.jsonl")) == 2


def test_what_was_there_stays_when_writing_fails(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("precious")

    def failing():
        yield {"id": 1}
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        write_rows(failing(), str(path))
    assert path.read_text() == "precious" and list(tmp_path.iterdir()) == [path]


def test_standard_output_gets_json_lines(capsys):
    assert write_rows(ROWS, "-") == 2
    assert [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()] == [1, 2]


def test_numbers_that_json_does_not_know_are_null(tmp_path):
    path = tmp_path / "out.jsonl"
    write_rows([{"a": math.nan, "b": [math.inf, 1.5], "c": {"d": -math.inf}}], str(path))
    assert "NaN" not in path.read_text() and "Infinity" not in path.read_text()
    assert read(path) == [{"a": None, "b": [None, 1.5], "c": {"d": None}}]


def test_other_values_are_written_as_text(tmp_path):
    day = datetime.date(2024, 1, 31)
    for suffix in (".jsonl", ".csv"):
        write_rows([{"day": day, "days": [day]}], str(tmp_path / f"out{suffix}"))
        (row,) = read(tmp_path / f"out{suffix}")
        assert row["day"] == "2024-01-31" and "2024-01-31" in str(row["days"])


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_lone_surrogates_end_nothing(tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    write_rows([{"text": "\ud800 and 🎬", "list": ["\udfff"]}], str(path))
    (row,) = read(path)
    assert row["text"] == ("\ud800 and 🎬" if suffix == ".jsonl" else "\\ud800 and 🎬")


def test_parquet_is_written_in_pieces_of_one_type(tmp_path, monkeypatch):
    monkeypatch.setattr(writers, "_CHUNK", 2)
    rows = [{"n": n, "late": None if n < 3 else f"row {n}", "list": []} for n in range(5)]
    rows[4]["list"] = ["a"]
    assert write_rows(rows, str(tmp_path / "out.parquet")) == 5
    assert read(tmp_path / "out.parquet") == rows
    assert pyarrow.parquet.ParquetFile(tmp_path / "out.parquet").num_row_groups == 3
    mixed = [{"n": 1}, {"n": 2}, {"n": "three"}]
    with pytest.raises(DataError, match=r"rows from 3 on do not fit one type .*write \.jsonl"):
        write_rows(mixed, str(tmp_path / "mixed.parquet"))
    assert not (tmp_path / "mixed.parquet").exists()
    with pytest.raises(DataError, match=r"write \.jsonl instead"):
        write_rows([{"n": {}}], str(tmp_path / "empty_struct.parquet"))


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_no_rows_make_an_empty_file(tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    assert write_rows([], str(path)) == 0
    assert read(path) == []


def test_a_suffix_that_cannot_be_written_is_named_before_any_row_is_asked_for(tmp_path):
    def untouched():
        raise AssertionError
        yield {}

    with pytest.raises(DataError, match=r"out\.cvs has a suffix .*; did you mean '\.csv'"):
        write_rows(untouched(), str(tmp_path / "out.cvs"))


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_many_columns_take_time_in_proportion(tmp_path, suffix):
    """Ten thousand columns once took half a minute: each name was sought in a list of all."""
    rows = [{f"column {place}": "x" for place in range(10_000)} for _ in range(10)]
    began = time.process_time()
    write_rows(rows, str(tmp_path / f"out{suffix}"))
    assert time.process_time() - began < 5


def test_an_end_waits_for_the_part_that_another_thread_writes(tmp_path, monkeypatch):
    """Ctrl-C once fell between a part and its notes, and the notes told of a file that was gone."""
    path, task, rows = str(tmp_path / "out.csv"), {"model": "mine"}, [{"label": "a"}] * 3
    noting, go_on, sync, synced = Event(), Event(), os.fsync, []

    def slow(descriptor):
        synced.append(descriptor)
        if len(synced) == 2:  # the first is that of the rows, the second that of the notes
            noting.set()
            assert go_on.wait(10)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    with suppress(KeyboardInterrupt), RowWriter(path, task=task) as writer:
        other = Thread(target=writer.write, args=(rows,))
        other.start()
        assert noting.wait(10)
        Timer(0.05, go_on.set).start()
        raise KeyboardInterrupt
    other.join()
    with RowWriter(path, task=task, resume=True) as again:
        assert again.rows == 3
    with pytest.raises(AssertionError):
        writer.write(rows)  # nothing is written once it has ended
