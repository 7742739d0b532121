"""Rows that cannot be used: which they are, how they are counted, and when they stop the work."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from regard.data.columns import Columns
from regard.data.readers import read_documents, read_rows, read_texts
from regard.errors import DataError
from regard.records.data import ReadCounts


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


BAD_CSV = (
    b"text,label\n"
    b"good,pos\n"
    b"no label,\n"
    b'broken "quote,neg\n'
    b'"broken "quote",neg\n'
    b"too,many,fields\n"
    b"\xff\xfe,neg\n"
    b'"two\nlines \xff",pos\n'
    b"last,neg\n"
)


def test_every_kind_of_bad_row_is_counted_with_its_line_and_the_rest_is_read(tmp_path):
    path = write(tmp_path / "reviews.csv", BAD_CSV)
    reader = read_documents(path, on_bad_row="skip")
    assert [document.text for document in reader] == ["good", 'broken "quote', "last"]
    assert [(row.line, row.fault) for row in reader.skipped] == [
        (3, "missing label"),
        (5, "broken quoting"),
        (6, "wrong number of fields"),
        (7, "invalid encoding"),
        (8, "invalid encoding"),
    ]
    counts = reader.counts
    assert counts.skipped_rows == 5 and dict(counts.skipped)["invalid encoding"] == 2
    assert counts.rows + counts.skipped_rows == 8
    assert str(counts.examples[0]) == f"{path}:3: the label is missing"
    assert ReadCounts.from_json(counts.to_json()) == counts
    lines = counts.describe()
    assert lines[0] == f"{path}: 3 rows read" and lines[1].startswith("  5 skipped: 2 invalid enc")


def test_the_first_bad_row_stops_by_default(tmp_path):
    path = write(tmp_path / "reviews.csv", BAD_CSV)
    with pytest.raises(DataError) as problem:
        list(read_documents(path))
    advice = "--on-bad-row skip leaves such rows out"
    assert str(problem.value) == f"{path}:3: the label is missing; {advice}"


def test_where_a_column_is_missing_nobody_is_told_to_skip_every_row(tmp_path):
    with pytest.raises(DataError) as problem:
        list(read_documents(write(tmp_path / "reviews.jsonl", b'{"review": "Good."}\n')))
    assert str(problem.value).endswith("use --text-column")


def test_bad_json_lines_are_counted_with_their_lines(tmp_path):
    content = "\n".join(
        [
            '{"text": "a", "label": "x"}',
            '{"text": "a", "label": ',
            "[1, 2]",
            "",
            '{"text": 3, "label": "x"}',
            '{"text": null, "label": "x"}',
            '{"label": "x"}',
            '{"text": "a", "label": 2.5}',
            "[" * 100_000,
            '{"text": "\\ud800\\u0000", "label": 7}',
        ]
    )
    reader = read_documents(write(tmp_path / "a.jsonl", content), on_bad_row="skip")
    assert [(document.text, document.label) for document in reader] == [("a", "x"), ("\ud800\0", 7)]
    assert [(row.line, row.fault) for row in reader.skipped] == [
        (2, "broken JSON"),
        (3, "broken JSON"),
        (5, "wrong type"),
        (6, "missing text"),
        (7, "missing column"),
        (8, "wrong type"),
        (9, "broken JSON"),
    ]
    assert reader.counts.ignored == 1


def test_hostile_json_lines_are_bad_rows_and_never_more(tmp_path):
    """Nested deeper than anything can write again, numbers and names that would be lost."""
    content = "\n".join(
        [
            '{"text": "a", "label": "x", "more": ' + "[" * 150 + "]" * 150 + "}",
            '{"text": "a", "label": "x", "more": ' + '{"a":' * 900 + "1" + "}" * 900 + "}",
            '{"text": "a", "label": "x", "text": "b"}',
            '{"text": "a", "label": "x", "more": {"n": 1, "n": 2}}',
            '{"text": "a", "label": 1' + "0" * 5000 + "}",
            '"' + "[" * 200 + '"',
            '{"text": "a", "label": Infinity}',
            '{"text": "a", "label": NaN}',
            '{"text": "a", "label": "x", "more": ' + "[" * 90 + "]" * 90 + "}",
        ]
    )
    reader = read_documents(write(tmp_path / "a.jsonl", content), on_bad_row="skip")
    assert [document.label for document in reader] == ["x"]
    assert [(row.line, row.reason.split(":")[0]) for row in reader.skipped] == [
        (1, "nested more than 100 levels deep"),
        (2, "nested more than 100 levels deep"),
        (3, "the name 'text' stands twice in one object"),
        (4, "the name 'n' stands twice in one object"),
        (5, "not JSON"),
        (6, "not a JSON object but a str"),
        (7, "a label must be a text or a whole number, not float inf"),
        (8, "the label is missing"),
    ]


@pytest.mark.parametrize(
    "time", [10**400, float("inf"), "1e999"], ids=["whole", "infinite", "written"]
)
def test_a_time_that_is_no_time_is_a_bad_row(time):
    rows = [{"text": "a", "label": "x", "day": time}, {"text": "a", "label": "x", "day": 1}]
    reader = read_rows(rows, Columns(time="day"), on_bad_row="skip")
    assert len(list(reader)) == 1 and reader.skipped[0].reason.endswith(
        "use a number or a date 2024-01-31"
    )


def test_a_json_list_is_an_error_that_says_what_to_do(tmp_path):
    with pytest.raises(DataError, match="one JSON list; write one object a line instead"):
        list(read_documents(write(tmp_path / "a.json", '[{"text": "a"}]')))


def test_bad_parquet_rows_are_counted_with_their_numbers(tmp_path):
    rows = [
        {"text": "a", "label": 1},
        {"text": None, "label": 1},
        {"text": "b", "label": None},
        {"text": "c", "label": 2},
    ]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    reader = read_documents(path, on_bad_row="skip")
    assert [(document.text, document.label) for document in reader] == [("a", 1), ("c", 2)]
    assert [(row.line, row.fault) for row in reader.skipped] == [
        (2, "missing text"),
        (3, "missing label"),
    ]


def test_a_parquet_text_that_is_not_utf_8_is_one_bad_row(tmp_path):
    bytes_column = pa.array([b"one", b"\xff\xfe", "drei ü".encode()], pa.binary())
    broken = pa.StringArray.from_buffers(3, *bytes_column.buffers()[1:])
    for number, column in enumerate((bytes_column, broken)):
        path = tmp_path / f"{number}.parquet"
        pq.write_table(pa.table({"text": column, "label": ["a", "b", "a"]}), path)
        reader = read_documents(path, on_bad_row="skip")
        assert [document.text for document in reader] == ["one", "drei ü"]
        assert [(row.line, row.fault) for row in reader.skipped] == [(2, "invalid encoding")]


def test_an_undecodable_file_in_a_folder_is_a_bad_row_of_its_own(tmp_path):
    (tmp_path / "pos").mkdir()
    write(tmp_path / "pos/a.txt", "good")
    bad = write(tmp_path / "pos/b.txt", b"one\ntwo \xff\n")
    reader = read_documents(tmp_path, on_bad_row="skip")
    assert [document.text for document in reader] == ["good"]
    assert [(row.file, row.line) for row in reader.skipped] == [(str(bad), 2)]


def test_python_texts_that_are_no_strings_are_bad_rows():
    with pytest.raises(DataError, match="texts:2: the text in column 'text' is missing"):
        list(read_texts(["a", float("nan")], ["x", "y"]))
    with pytest.raises(
        DataError, match=r"texts:1: the text in column 'text' is int 3, not a string"
    ):
        list(read_texts([3]))
    with pytest.raises(DataError, match="put it in a list"):
        read_texts("a single text")


def test_rows_without_group_or_time_are_bad_rows():
    rows = [
        {"text": "a", "label": "x", "g": "", "t": 1},
        {"text": "a", "label": "x", "g": 1, "t": ""},
    ]
    reader = read_rows([*rows, dict(rows[0], g=2)], Columns(group="g", time="t"), on_bad_row="skip")
    assert [document.fields["g"] for document in reader] == [2]
    assert dict(reader.counts.skipped) == {"missing value": 2}


def test_when_every_row_is_bad_that_is_an_error():
    with pytest.raises(DataError, match=r"all 2 rows of rows are bad; first rows:1: .*no column"):
        list(read_rows([{"a": 1}, {"b": 2}], on_bad_row="skip"))
    with pytest.raises(DataError, match=r"the only row of rows is bad: rows:1: .*no column"):
        list(read_rows([{"a": 1}], on_bad_row="skip"))


def test_only_the_first_hundred_bad_rows_are_kept_but_all_are_counted():
    reader = read_rows(
        [{"text": "a", "label": "x"}, *[{"text": "a", "label": ""}] * 500], on_bad_row="skip"
    )
    assert len(list(reader)) == 1
    assert len(reader.skipped) == 100 and reader.counts.skipped_rows == 500
