"""Options that several commands share."""

from pathlib import Path

import pytest

from regard.cli.options import existing, near_file, require_suffix
from regard.errors import ConfigError, DataError


def test_what_exists_is_returned(tmp_path):
    assert existing(str(tmp_path)) == str(tmp_path)
    assert existing("-") == "-", "standard input"


def test_a_missing_file_is_named_with_the_one_that_was_meant(tmp_path):
    (tmp_path / "reviews.csv").write_text("")
    with pytest.raises(DataError, match=r"no file .*/review.csv; did you mean .*/reviews.csv\?"):
        existing(str(tmp_path / "review.csv"))
    assert near_file(str(tmp_path / "zzz.parquet")) == "check the name and the folder"
    assert near_file("no/such/folder/a.csv") == "check the name and the folder"


def test_a_suffix_is_one_that_can_be_written():
    assert require_suffix(Path("a.HTML"), (".html", ".json")) == ".html"
    for name in ("a.pdf", "a", ".html"):
        with pytest.raises(ConfigError, match=r"must end in \.html or \.json"):
            require_suffix(Path(name), (".html", ".json"))
