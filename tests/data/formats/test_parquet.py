"""Parquet columns of every type, as text, as label and carried along to every kind of output."""

import datetime
import decimal
import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from regard.data.columns import Columns
from regard.data.readers import read_documents
from regard.data.writers import write_rows
from regard.errors import DataError
from regard.text.document import Document


def numbers(values, kind):
    return pa.array(values, pa.int64()).cast(kind)


KINDS = {
    "time of seconds": pa.array([1, None], pa.time32("s")),
    "time of nanoseconds": pa.array([1, None], pa.time64("ns")),
    "duration": pa.array([90_000, None], pa.duration("s")),
    "duration of nanoseconds": pa.array([1, None], pa.duration("ns")),
    "duration beyond Python": pa.array([2**62, None], pa.duration("s")),
    "date": pa.array([1, None], pa.date32()),
    "date beyond 9999": pa.array([10**7, None], pa.int32()).cast(pa.date32()),
    "date beyond anything": numbers([10**15, None], pa.date64()),
    "moment of nanoseconds": pa.array([1, None], pa.timestamp("ns")),
    "moment beyond 9999": numbers([10**14, None], pa.timestamp("ms")),
    "moment beyond anything": numbers([10**15, None], pa.timestamp("ms")),
    "moment before Christ": numbers([-(10**14), None], pa.timestamp("ms")),
    "moment in Berlin": pa.array([1, None], pa.timestamp("us", tz="Europe/Berlin")),
    "moment nowhere": pa.array([1, None], pa.timestamp("us", tz="Mars/City")),
    "decimal": pa.array([decimal.Decimal("1.50"), None], pa.decimal128(10, 2)),
    "wide decimal": pa.array([decimal.Decimal("1.50"), None], pa.decimal256(70, 2)),
    "binary": pa.array([b"\xff", None]),
    "fixed binary": pa.array([b"ab", None], pa.binary(2)),
    "dictionary": pa.array(["a", None]).dictionary_encode(),
    "list": pa.array([[1, None], None]),
    "fixed list": pa.array([[1, 2], None], pa.list_(pa.int32(), 2)),
    "list of moments": pa.array([[1], None], pa.list_(pa.timestamp("ns"))),
    "struct": pa.array([{"a": 1, "b": None}, None]),
    "struct of times": pa.array([{"a": 1}, None], pa.struct([("a", pa.time64("ns"))])),
    "map": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
    "map of moments": pa.array([[(1, 1)], None], pa.map_(pa.int8(), pa.timestamp("ns"))),
    "nothing": pa.nulls(2),
    "half": pa.array([1.5, None], pa.float16()),
    "boolean": pa.array([True, None]),
    "uuid": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16, None], pa.binary(16))),
    "view": pa.array(["a", None], pa.string_view()),
}


@pytest.fixture
def table(tmp_path):
    def write(**columns):
        path = tmp_path / "in.parquet"
        pq.write_table(pa.table(columns), path)
        return path

    return write


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_carried_along_can_be_written(table, tmp_path, kind, suffix):
    documents = list(read_documents(table(text=["a", "b"], more=KINDS[kind]), Columns(label=None)))
    assert [document.text for document in documents] == ["a", "b"]
    assert documents[1].fields == {"more": None}
    out = tmp_path / f"out{suffix}"
    assert write_rows([document.fields for document in documents], str(out)) == 2
    assert kind == "nothing" or documents[0].fields["more"] is not None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", ["text", "label", "time", "group"])
def test_what_is_no_text_or_label_is_a_bad_row_and_never_more(table, kind, part):
    columns = {"text": ["a", "b"], "label": ["x", "y"], part: KINDS[kind]}
    wanted = Columns(**({part: part} if part in ("time", "group") else {}), carry=False)
    reader = read_documents(table(**columns), wanted, on_bad_row="skip")
    try:
        read = len(list(reader))
    except DataError as problem:
        assert str(problem).startswith("all 2 rows of ")
        return
    assert read == 1 and reader.counts.skipped_rows == 1


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("time of nanoseconds", "00:00:00.000000001"),
        ("duration", datetime.timedelta(days=1, hours=1)),
        ("duration of nanoseconds", "1 ns"),
        ("duration beyond Python", f"{2**62} s"),
        ("date", datetime.date(1970, 1, 2)),
        ("date beyond 9999", "29349-01-26"),
        ("date beyond anything", "11574074 days from 1970 on"),
        ("moment of nanoseconds", "1970-01-01 00:00:00.000000001"),
        ("moment nowhere", "1970-01-01 00:00:00.000001Z"),
        ("list of moments", ["1970-01-01 00:00:00.000000001"]),
        ("struct of times", {"a": "00:00:00.000000001"}),
        ("map", [{"key": "a", "value": 1}]),
        ("map of moments", [{"key": 1, "value": "1970-01-01 00:00:00.000000001"}]),
    ],
)
def test_nothing_of_a_value_is_lost(table, kind, value):
    first, _ = read_documents(table(text=["a", "b"], more=KINDS[kind]), Columns(label=None))
    assert first.fields["more"] == value


def test_one_time_that_python_lacks_makes_text_of_the_whole_column(table, tmp_path):
    """Else the first thousand rows would be dates and the rest would not fit the output."""
    days = pa.array([1] * 3000 + [10**7], pa.int32()).cast(pa.date32())
    path = table(text=["a"] * 3001, day=days)
    documents = list(read_documents(path, Columns(label=None)))
    assert {type(document.fields["day"]) for document in documents} == {str}
    assert documents[0].fields["day"] == "1970-01-02"
    out = tmp_path / "out.parquet"
    assert write_rows((document.fields for document in documents), str(out)) == 3001


def test_pandas_own_moments_stay_moments(table):
    """Nanoseconds in name alone, as most files of pandas have them."""
    path = table(text=["a"], when=numbers([1_700_000_000_000_000_000], pa.timestamp("ns")))
    (document,) = read_documents(path, Columns(label=None))
    assert document.fields["when"] == datetime.datetime(2023, 11, 14, 22, 13, 20)


def test_whole_decimals_are_labels(table):
    whole = pa.array([decimal.Decimal("3.00"), decimal.Decimal("2.50")], pa.decimal128(5, 2))
    reader = read_documents(table(text=["a", "b"], label=whole), on_bad_row="skip")
    assert [document.label for document in reader] == [3]
    assert "not Decimal" in reader.skipped[0].reason


def test_two_columns_of_one_name_are_kept_apart(tmp_path):
    parts = [pa.array(["a"]), pa.array([1]), pa.array([2])]
    pq.write_table(pa.Table.from_arrays(parts, ["text", "n", "n"]), tmp_path / "a.parquet")
    found = list(read_documents(tmp_path / "a.parquet", Columns(label=None)))
    assert found == [Document("a", None, {"n": 1, "n (3)": 2})]


def test_decimals_of_more_digits_may_come_later(tmp_path, monkeypatch):
    monkeypatch.setattr("regard.data.writers._CHUNK", 1)
    rows = [{"n": decimal.Decimal(text)} for text in ("1.5", "123456789.5")]
    write_rows(rows, str(tmp_path / "out.parquet"))
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == rows


@pytest.mark.parametrize("late", [{"b": 2}, {"a": 1, "b": 2}])
def test_a_name_inside_a_cell_that_comes_late_is_an_error_and_not_lost(tmp_path, monkeypatch, late):
    monkeypatch.setattr("regard.data.writers._CHUNK", 1)
    for first, second in (({"a": 1}, late), ([{"a": 1}], [late])):
        with pytest.raises(DataError, match=r"row 2 has a cell with 'b' inside.*write \.jsonl"):
            write_rows([{"n": first}, {"n": second}], str(tmp_path / "out.parquet"))


def test_names_that_utf_8_cannot_hold_are_written(tmp_path):
    out = tmp_path / "out.parquet"
    write_rows([{"\ud800": 1, "in": {"\udfff": 2}}], str(out))
    assert pq.read_table(out).to_pylist() == [{"\\ud800": 1, "in": {"\\udfff": 2}}]


def test_a_file_damaged_in_its_middle_is_an_error_that_says_so(table):
    path = table(text=[os.urandom(64).hex() for _ in range(5000)])
    content = bytearray(path.read_bytes())
    content[len(content) // 4 : len(content) // 2] = bytes(len(content) // 2 - len(content) // 4)
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"in\.parquet"):
        list(read_documents(path, Columns(label=None)))


def test_a_pipe_is_no_parquet_file(tmp_path):
    os.mkfifo(tmp_path / "a.parquet")
    with pytest.raises(DataError, match="is no regular file; Parquet cannot be read from a pipe"):
        list(read_documents(tmp_path / "a.parquet"))


def test_json_has_the_values_of_nested_columns(table, tmp_path):
    path = table(text=["a", "b"], more=KINDS["map"])
    out = tmp_path / "out.jsonl"
    write_rows(
        [document.fields for document in read_documents(path, Columns(label=None))], str(out)
    )
    assert json.loads(out.read_text().splitlines()[0]) == {"more": [{"key": "a", "value": 1}]}
