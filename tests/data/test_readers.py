"""Files of every kind as documents; bad rows with file and line, and all of them counted."""

import gzip
import io
import json
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow as pa
import pyarrow.parquet
import pyarrow.parquet as pq
import pytest

from regard.data.columns import Columns
from regard.data.readers import read_documents, read_rows, read_texts
from regard.errors import ConfigError, DataError
from regard.records.data import ReadCounts
from regard.text.document import Document

IMDB = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "imdb"
ROWS = [
    {"text": "a good film", "label": "pos", "id": "1"},
    {"text": 'bad, "very"\nbad', "label": "neg", "id": "2"},
    {"text": "", "label": "neg", "id": "3"},
]
DOCUMENTS = [Document(row["text"], row["label"], {"id": row["id"]}) for row in ROWS]


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def as_csv():
    quoted = (
        '"' + row["text"].replace('"', '""') + f'",{row["label"]},{row["id"]}' for row in ROWS
    )
    return "\n".join(["text,label,id", *quoted, ""])


def as_jsonl():
    return "".join(json.dumps(row) + "\n" for row in ROWS)


def as_parquet(path, rows=ROWS):
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


@pytest.fixture(
    params=["a.csv", "a.CSV.gz", "a.tsv", "a.jsonl", "a.ndjson.gz", "a.json", "a.parquet"]
)
def file(request, tmp_path):
    """The same three rows in every format."""
    path = tmp_path / request.param
    if path.suffix == ".parquet":
        return as_parquet(path)
    content = as_csv() if "csv" in path.name.lower() else as_jsonl()
    if path.suffix == ".tsv":
        content = as_csv().replace("text,label", "text\tlabel").replace('",', '"\t')
        content = (
            content.replace("label,", "label\t").replace("pos,", "pos\t").replace("neg,", "neg\t")
        )
    data = content.encode()
    return write(path, gzip.compress(data) if path.suffix == ".gz" else data)


def test_every_format_gives_the_same_documents(file):
    """001-15: local files of each kind; other columns travel with the document (000-15)."""
    reader = read_documents(file)
    assert list(reader) == DOCUMENTS
    assert reader.counts == ReadCounts(str(file), rows=3, empty_texts=1)
    assert list(reader) == DOCUMENTS, "a reader can be read again"
    assert reader.counts.rows == 3


def test_without_a_label_column_the_label_travels_as_any_other(file):
    first = next(iter(read_documents(file, Columns(label=None))))
    assert first == Document("a good film", None, {"label": "pos", "id": "1"})


def test_nothing_travels_that_is_not_wanted(file):
    first = next(iter(read_documents(file, Columns(carry=False))))
    assert first == Document("a good film", "pos", {})
    first = next(iter(read_documents(file, Columns(carry=False, group="id"))))
    assert first.fields == {"id": "1"}


def test_a_missing_column_is_an_error_that_lists_those_there_are(file):
    """Also where bad rows may be skipped: it is the whole file that is wrong."""
    with pytest.raises(DataError, match=r"no column 'review'; it has text, label, id; use --text-"):
        list(read_documents(file, Columns(text="review"), on_bad_row="skip"))
    with pytest.raises(DataError, match=r"no column 'day'; .*; use --time-column"):
        list(read_documents(file, Columns(time="day")))


@pytest.mark.parametrize("file", ["a.csv", "a.jsonl", "a.parquet"], indirect=True)
def test_excel_and_pandas_see_the_same(file):
    """The readers of others agree with ours on a plain file."""
    import pyarrow.csv
    import pyarrow.json

    if file.suffix == ".csv":
        options = pyarrow.csv.ParseOptions(newlines_in_values=True)
        table = pyarrow.csv.read_csv(file, parse_options=options)
    else:
        table = pyarrow.json.read_json(file) if file.suffix == ".jsonl" else pq.read_table(file)
    assert table["text"].to_pylist() == [document.text for document in read_documents(file)]


def test_parquet_columns_of_every_kind_travel(tmp_path):
    table = pa.table(
        {
            "text": pa.array(["a"]).dictionary_encode(),
            "label": [["x", "y"]],
            "picture": [b"\xff\xd8"],
            "when": pa.array([1_700_000_000_000_000_001], pa.timestamp("ns")),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    (document,) = read_documents(tmp_path / "a.parquet", Columns(time="when"))
    assert document.label == ("x", "y")
    assert document.fields["picture"] == b"\xff\xd8"


def test_what_is_no_parquet_file_is_an_error(tmp_path):
    with pytest.raises(DataError, match="is no Parquet file, or a damaged one"):
        list(read_documents(write(tmp_path / "a.parquet", b"PAR1 nothing")))
    with pytest.raises(DataError, match="cannot read"):
        list(read_documents(tmp_path / "none.parquet"))


def test_a_folder_for_each_label_is_read(tmp_path):
    """001-15: as the IMDB data come, with other files beside and between the folders."""
    for name in ("pos/0_9.txt", "pos/1_7.txt", "neg/0_3.txt", "urls_pos.txt", "pos/.DS_Store"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / name, f"text of\n{name}")
    write(tmp_path / "neg/notes.md", "not a text")
    write(tmp_path / "neg/packed.txt.gz", gzip.compress(b"packed"))
    reader = read_documents(tmp_path)
    assert [(document.text, document.label, document.fields) for document in reader] == [
        ("text of\nneg/0_3.txt", "neg", {"file": "neg/0_3.txt"}),
        ("packed", "neg", {"file": "neg/packed.txt.gz"}),
        ("text of\npos/0_9.txt", "pos", {"file": "pos/0_9.txt"}),
        ("text of\npos/1_7.txt", "pos", {"file": "pos/1_7.txt"}),
    ]
    assert reader.counts.ignored == 2
    unlabelled = list(read_documents(tmp_path, Columns(label=None)))
    assert len(unlabelled) == 5 and {document.label for document in unlabelled} == {None}


def test_a_folder_without_texts_is_an_error(tmp_path):
    with pytest.raises(DataError, match="holds no texts; it needs a folder for each label"):
        list(read_documents(tmp_path))


def test_a_text_file_is_one_text_a_line_and_stays_in_step(tmp_path):
    path = write(tmp_path / "new.txt", 'one\r\n\r\nthree, "x"\n')
    reader = read_documents(path, Columns(label=None))
    assert [document.text for document in reader] == ["one", "", 'three, "x"']
    assert reader.counts.empty_texts == 1
    with pytest.raises(DataError, match=r"new\.txt has no labels"):
        list(read_documents(path))


@pytest.mark.parametrize("content", [as_csv(), as_jsonl(), "\ufeff" + as_jsonl()])
def test_standard_input_may_be_csv_or_json_lines(monkeypatch, content):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    assert list(read_documents("-")) == DOCUMENTS


def test_standard_input_is_read_as_it_comes():
    """A row is a document before the next one has been written."""
    program = (
        "from regard.data.readers import read_documents\n"
        "for document in read_documents('-'): print(document.text, flush=True)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        for text in ("first", "second"):
            process.stdin.write(json.dumps({"text": text, "label": "x"}) + "\n")
            process.stdin.flush()
            assert process.stdout.readline().strip() == text
        process.stdin.close()


def test_a_second_reading_of_a_pipe_is_an_error_and_never_waited_for(tmp_path, monkeypatch):
    pipe = tmp_path / "a.jsonl"
    os.mkfifo(pipe)
    writing = threading.Thread(target=pipe.write_text, args=[as_jsonl()])
    writing.start()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(as_csv().encode())))
    for reader in (read_documents(pipe), read_documents("-")):
        assert list(reader) == DOCUMENTS
        with pytest.raises(DataError, match="is a pipe, which cannot be read again"):
            list(reader)
        assert reader.counts.rows == 3
    writing.join()


def test_nothing_on_standard_input_is_no_documents(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert list(read_documents("-")) == []


def test_python_texts_and_labels_are_documents():
    assert list(read_texts(["a", "b"])) == [Document("a"), Document("b")]
    several = read_texts(np.array(["a", "b"]), np.array([1, 2]))
    assert [(document.text, document.label) for document in several] == [("a", 1), ("b", 2)]
    lists = read_texts(iter(["a"]), [["x", "y"]])
    assert next(iter(lists)).label == ("x", "y")


@pytest.mark.parametrize(("texts", "labels"), [(["a", "b"], ["x"]), (["a"], ["x", "y"])])
def test_texts_and_labels_of_different_number_are_an_error(texts, labels):
    with pytest.raises(DataError, match="there are more"):
        list(read_texts(texts, labels))


def test_python_rows_are_documents():
    reader = read_rows(ROWS, Columns(group="id"))
    assert list(reader) == DOCUMENTS


@pytest.mark.parametrize(
    ("name", "message"),
    [("a.xlsx", "is a spreadsheet; save it as CSV"), ("a.doc", r"known are \.csv, .*\.parquet")],
)
def test_other_files_are_an_error_that_says_what_to_do(tmp_path, name, message):
    with pytest.raises(DataError, match=message):
        read_documents(tmp_path / name)


def test_settings_are_checked():
    with pytest.raises(ConfigError, match="on_bad_row cannot be 'ignore'"):
        read_documents("a.csv", on_bad_row="ignore")
    with pytest.raises(ConfigError, match="encoding 'klingon' is unknown"):
        Columns(encoding="klingon")
    with pytest.raises(ConfigError, match="both in column 'label'"):
        Columns(text="label")
    with pytest.raises(ConfigError, match="delimiter must be one character"):
        Columns(delimiter="::")


@pytest.mark.parametrize("name", ["big.csv", "big.jsonl"])
def test_memory_does_not_grow_with_the_file(tmp_path, name):
    """D15: the file is a stream; ten thousand rows of a kilobyte are never held together."""
    text = "word " * 200
    row = (
        f'"{text}",pos\n'
        if name.endswith("csv")
        else json.dumps({"text": text, "label": "pos"}) + "\n"
    )
    header = "text,label\n" if name.endswith("csv") else ""
    path = write(tmp_path / name, header + row * 10_000)
    tracemalloc.start()
    assert sum(1 for _ in read_documents(path)) == 10_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["big.csv", "big.jsonl", "big.parquet"])
def test_twenty_thousand_kilobytes_a_second_are_read(tmp_path, name):
    """D15: a floor for the throughput; a hundred thousand rows are a matter of seconds."""
    text = 'word, "x" ' * 100
    path = tmp_path / name
    if name.endswith("parquet"):
        pq.write_table(pa.table({"text": [text] * 100_000, "label": ["pos"] * 100_000}), path)
    elif name.endswith("csv"):
        doubled = text.replace('"', '""')
        write(path, "text,label\n" + f'"{doubled}",pos\n' * 100_000)
    else:
        write(path, (json.dumps({"text": text, "label": "pos"}) + "\n") * 100_000)
    began = time.process_time()
    assert sum(1 for _ in read_documents(path)) == 100_000
    assert time.process_time() - began < 5


@pytest.mark.skipif(not IMDB.is_dir(), reason="the IMDB reviews are not here")
@pytest.mark.parametrize("name", ["train", "test"])
def test_imdb_has_its_known_counts(name):
    """001-15: 25,000 reviews in each part, half of them positive."""
    reader = read_documents(IMDB / f"{name}.parquet", Columns(carry=False))
    labels = [document.label for document in reader]
    assert len(labels) == 25_000 and sum(labels) == 12_500
    assert reader.counts.skipped_rows == 0


REMEMBERED = Columns("review", "stars", other_text="text", other_label="label")


def written(folder, suffix, rows):
    path = folder / f"data{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
        path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_the_usual_column_stands_in_for_a_remembered_one(tmp_path, suffix):
    path = written(tmp_path, suffix, [{"text": "a film", "stars": "5"}])
    told = []
    for carry in (True, False):
        reader = read_documents(path, replace(REMEMBERED, carry=carry), tell=told.append)
        assert [(one.text, one.label) for one in reader] == [("a film", "5")]
        assert (reader.columns.text, reader.columns.label) == ("text", "stars")
    line = f"{path} has no column 'review' as the training data had; column 'text' is read"
    assert told == [f"{line} in its place"] * 2


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_remembered_column_that_is_there_is_read_and_one_named_by_hand_is_meant(tmp_path, suffix):
    path = written(tmp_path, suffix, [{"text": "a title", "review": "a film", "stars": "5"}])
    told = []
    reader = read_documents(path, REMEMBERED, tell=told.append)
    assert [one.text for one in reader] == ["a film"] and not told
    with pytest.raises(DataError, match="has no column 'body'"):
        list(read_documents(path, Columns("body", "stars", other_label="label")))
    with pytest.raises(DataError, match="has no column 'points'"):
        list(read_documents(path, replace(REMEMBERED, label="points")))


def test_how_much_of_a_folder_or_of_parquet_was_read_is_known(tmp_path):
    for number in range(4):
        (tmp_path / "texts" / "good").mkdir(parents=True, exist_ok=True)
        (tmp_path / "texts" / "good" / f"{number}.txt").write_text("fine", encoding="utf-8")
    table = pa.table({"text": ["fine"] * 4, "label": ["good"] * 4})
    pq.write_table(table, tmp_path / "rows.parquet")
    for name in ("texts", "rows.parquet"):
        reader = read_documents(tmp_path / name)
        assert reader.share_read() is None
        assert [reader.share_read() for _ in reader] == [0.25, 0.5, 0.75, 1.0]
