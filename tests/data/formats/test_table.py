"""The table of formats: what every entry promises."""

from collections import Counter

import pytest

from regard.data.columns import Columns
from regard.data.formats.table import FORMATS, Format, find_format, written_suffixes
from regard.data.readers import read_documents
from regard.data.writers import RowWriter, write_rows
from regard.errors import ConfigError, DataError

ROWS = [
    {"text": "Good. I like it.", "label": "pos"},
    {"text": 'A "bad" one,\nreally', "label": "neg"},
]


def test_no_suffix_belongs_to_two_formats():
    suffixes = Counter(suffix for one in FORMATS.values() for suffix in one.suffixes)
    assert set(suffixes.values()) == {1} and all(suffix.startswith(".") for suffix in suffixes)


@pytest.mark.parametrize("suffix", written_suffixes())
def test_what_is_written_is_read_again(tmp_path, suffix):
    path = tmp_path / f"rows{suffix}"
    assert write_rows(ROWS, str(path)) == 2
    read = [{"text": one.text, "label": one.label} for one in read_documents(path, Columns())]
    assert read == ROWS


def test_a_folder_is_found_by_what_it_is(tmp_path):
    assert find_format(tmp_path) is FORMATS["folder"]


@pytest.mark.parametrize("name", ["rows.doc", "rows", "rows.parquet.gz"])
def test_an_unknown_suffix_lists_all_that_are_known(tmp_path, name):
    with pytest.raises(DataError, match=r"known are \.csv, \.tsv, .*\.pq, \.txt, and folders"):
        read_documents(tmp_path / name)


def test_json_is_read_but_not_written(tmp_path):
    assert find_format(tmp_path / "rows.json.gz").read_lines is FORMATS["jsonl"].read_lines
    with pytest.raises(DataError, match="cannot be written"):
        RowWriter(str(tmp_path / "rows.json"))


def test_a_format_is_read_in_one_way():
    with pytest.raises(ConfigError, match="from its lines or from its path"):
        Format(title="nothing")
