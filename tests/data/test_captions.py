"""Files of captions: every format, several captions a picture, paths or bytes, and bad rows."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from regard.data.captions import CaptionColumns, caption_pictures, read_captioned, read_captions
from regard.errors import DataError


@pytest.fixture
def folder(tmp_path):
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / name).write_bytes(name.encode())
    return tmp_path


def told(path, *arguments, **options):
    """What is read: the bytes of each picture with its caption."""
    reader = read_captions(path, *arguments, **options)
    return [(one.open().content, one.caption) for one in read_captioned(reader)]


EXPECTED = [(b"a.jpg", "one"), (b"a.jpg", "two"), (b"b.jpg", "three")]


def test_a_caption_a_row_of_csv(folder):
    (folder / "captions.csv").write_text("image,caption\na.jpg,one\na.jpg,two\nb.jpg,three\n")
    assert told(folder / "captions.csv") == EXPECTED
    assert told(folder) == EXPECTED, "a folder that holds one file of captions"


def test_the_list_that_flickr8k_comes_with(folder):
    (folder / "Images").mkdir()
    for name in ("a.jpg", "b.jpg"):
        (folder / name).rename(folder / "Images" / name)
    (folder / "captions.txt").write_text("image,caption\na.jpg,one\na.jpg,two\nb.jpg,three\n")
    assert told(folder) == EXPECTED


def test_lists_of_captions_in_json_lines(folder):
    rows = [
        {"file_name": "a.jpg", "captions": ["one", "two"]},
        {"file_name": "b.jpg", "captions": "three"},
    ]
    (folder / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert told(folder / "x.jsonl") == EXPECTED


@pytest.mark.parametrize("kind", ["bytes", "struct", "paths"])
def test_parquet_holds_bytes_structs_or_paths(folder, kind):
    names = ["a.jpg", "b.jpg"]
    pictures = {
        "bytes": [name.encode() for name in names],
        "struct": [{"bytes": name.encode(), "path": name} for name in names],
        "paths": names,
    }[kind]
    table = pa.table({"id": ["x", "y"], "image": pictures, "captions": [["one", "two"], ["three"]]})
    pq.write_table(table, folder / "t.parquet")
    assert told(folder / "t.parquet") == EXPECTED
    name = next(read_captioned(read_captions(folder / "t.parquet"))).name
    assert name == {"bytes": "x", "struct": "a.jpg", "paths": "a.jpg"}[kind]


def test_columns_can_be_named(folder):
    (folder / "t.csv").write_text("what,where\none,a.jpg\n")
    columns = CaptionColumns("where", "what")
    assert told(folder / "t.csv", columns) == EXPECTED[:1]
    with pytest.raises(DataError, match="use --source-column"):
        told(folder / "t.csv")
    with pytest.raises(DataError, match="no column 'elsewhere'; it has what, where"):
        told(folder / "t.csv", CaptionColumns("elsewhere", "what"))


def test_bad_rows_stop_or_are_counted(folder):
    rows = [{"image": "a.jpg", "caption": "one"}, {"image": None, "caption": "two"}]
    rows += [{"image": "b.jpg", "caption": 3}, {"image": "b.jpg", "caption": []}]
    (folder / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(DataError, match=r"t\.jsonl:2: no picture in 'image'"):
        told(folder / "t.jsonl")
    reader = read_captions(folder / "t.jsonl", on_bad_row="skip")
    assert [one.caption for one in read_captioned(reader)] == ["one"]
    assert dict(reader.counts.skipped) == {"missing value": 1, "wrong type": 1, "missing text": 1}


def test_a_missing_file_is_named(folder):
    with pytest.raises(DataError, match="there is no file"):
        told(folder / "none.csv")
    with pytest.raises(DataError, match=r"must hold one file of captions.*found none"):
        told(folder)


def test_python_lists_must_fit():
    found = caption_pictures([b"x", "y.jpg"], ["one", ["two", "three"]])
    assert [(one.name, one.caption) for one in found] == [
        ("picture 1", "one"),
        ("y.jpg", "two"),
        ("y.jpg", "three"),
    ]
    with pytest.raises(DataError, match="number 1 of the captions is int 3"):
        caption_pictures([b"x"], [3])
