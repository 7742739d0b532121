import csv

import pytest

from regard.errors import DataError
from regard.experiments.vectors import Vectors


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "own.txt"
    path.write_text("a red apple and a green pear\n" * 40, encoding="utf-8")
    return path


def own(path, **changes):
    usual = {"words": "apple pear", "min_count": 5, "size": 8, "epochs": 1}
    return Vectors(corpus=str(path), **{**usual, **changes})


def test_an_own_corpus_is_read_and_its_neighbours_are_told(corpus):
    found = own(corpus).run(0, lambda line: None)
    assert [row.name for row in found.rows] == ["apple", "pear"]
    assert found.rows[0].values[0] == 40
    assert found.notes[0].startswith("apple: ") and found.notes[0].count(",") == 4


def test_a_table_of_texts_is_read_too(tmp_path, corpus):
    path = tmp_path / "own.csv"
    with path.open("w", newline="") as file:
        lines = corpus.read_text().splitlines()
        csv.writer(file).writerows([["said"], *([line] for line in lines)])
    from_table = own(path, text_column="said").run(0, lambda line: None)
    assert from_table == own(corpus).run(0, lambda line: None)


def test_the_vectors_are_kept_where_asked(tmp_path, corpus):
    own(corpus, save_to=str(tmp_path / "kept.txt")).run(0, lambda line: None)
    assert "apple " in (tmp_path / "kept.txt").read_text()


def test_words_that_the_corpus_lacks_are_an_error_that_names_some_it_has(corpus):
    with pytest.raises(DataError, match=r"none of the words 'plum'; it has .*apple"):
        own(corpus, words="plum").run(0, lambda line: None)
