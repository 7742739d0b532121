"""Which columns make a text, and what a cell means: labels of every kind, and times."""

import datetime

import numpy as np
import pytest

from regard.data.columns import Columns, RowError, time_number, to_document, to_label, to_row
from regard.data.corpus import build_corpus
from regard.data.readers import read_documents, read_rows
from regard.errors import ConfigError, DataError
from regard.text.tokenize import tokenize

PAPERS = Columns("title, abstract,text", label=None)


def paper(title, abstract, text):
    return {"title": title, "id": 7, "abstract": abstract, "text": text}


def test_several_columns_are_one_text_with_a_paragraph_each():
    given = paper("On trees", "We plant trees ", "They grow. Fast")
    found = to_document(given, PAPERS)
    assert found.text == "On trees\n\nWe plant trees \n\nThey grow. Fast"
    sentences = [found.text[start:end] for start, end in tokenize(found.text).sentence_spans()]
    assert sentences == ["On trees", "We plant trees", "They grow.", "Fast"], "none runs across"
    assert list(to_row(found, PAPERS).items()) == list(given.items()), "each in its old place"


@pytest.mark.parametrize("nothing", [None, "", "  \n", float("nan"), "\\N"])
def test_cells_that_hold_nothing_leave_no_paragraph(nothing):
    assert to_document(paper("Trees", nothing, "Grow."), PAPERS).text == "Trees\n\nGrow."
    assert to_document(paper(nothing, nothing, "Grow."), PAPERS).text == "Grow."


def test_a_text_of_empty_cells_is_empty_and_one_of_no_cells_is_missing():
    assert to_document(paper("", None, " "), PAPERS).text == ""
    with pytest.raises(RowError, match="text in columns 'title, abstract,text' is missing"):
        to_document(paper(None, None, None), PAPERS)
    with pytest.raises(RowError, match="text in column 'abstract' is int 5, not a string"):
        to_document(paper("a", 5, "b"), PAPERS)


def test_a_column_with_a_comma_in_its_name_is_that_column(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b;label\nGood.;x\n")
    (found,) = read_documents(path, Columns("a,b"))
    assert found.text == "Good."
    assert to_row(found, Columns("a,b", commas_part=False)) == {"a,b": "Good."}


def test_each_of_several_columns_must_be_there():
    """The usual column is read where none of them is, never in place of some."""
    asked = Columns("title,abstract", label=None, other_text="text")
    (found,) = read_rows([{"text": "Grow."}], asked)
    assert found.text == "Grow."
    with pytest.raises(DataError, match="has no column 'abstract'; it has title, text"):
        list(read_rows([{"title": "Trees", "text": "Grow."}], asked))


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"text": "title,,text"}, "a name is missing in columns 'title,,text'"),
        ({"text": "title,title"}, "a column is named twice in 'title,title'"),
        ({"text": "title,label"}, "text and label are both in column 'label'"),
        ({"text": "a,b", "target": "b"}, "source and target are both in column 'b'"),
        ({"group": "label"}, "label and group are both in column 'label'"),
        ({"label": "stars", "time": "stars"}, "label and time are both in column 'stars'"),
    ],
)
def test_columns_that_contradict_each_other_are_refused(asked, problem):
    with pytest.raises(ConfigError, match=problem):
        Columns(**asked)


@pytest.mark.parametrize("carry", [True, False])
def test_texts_that_occur_twice_may_be_a_group(tmp_path, carry):
    columns = Columns(group="text", carry=carry)
    rows = [{"id": 1, "text": "Same.", "label": "a"}, {"id": 2, "text": "Same.", "label": "b"}]
    documents = list(read_rows(rows, columns))
    assert to_row(documents[0], columns)["text"] == "Same."
    groups = build_corpus(documents, tmp_path / "corpus", columns=columns).arrays.groups
    assert groups[0] == groups[1]


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("pos", "pos"),
        (" pos \n", "pos"),
        ("5", "5"),
        (5, 5),
        (np.int64(5), 5),
        (5.0, 5),
        (True, "true"),
        (np.bool_(False), "false"),
        (datetime.date(2024, 1, 31), "2024-01-31"),
        (datetime.datetime(2024, 1, 31, 8, 30), "2024-01-31T08:30:00"),
        (["a", "b"], ("a", "b")),
        (("b", "a", "b"), ("b", "a")),
        ([1, 2.0, " x "], ("1", "2", "x")),
        (np.array(["a", "b"]), ("a", "b")),
        ([], ()),
    ],
)
def test_labels_are_text_whole_numbers_or_several(value, label):
    found = to_label(value)
    assert found == label and type(found) is type(label)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("a; b;c", ("a", "b", "c")),
        ("a", ("a",)),
        ("", ()),
        (";a;;", ("a",)),
        (3, ("3",)),
        (["x"], ("x",)),
    ],
)
def test_a_separator_makes_every_label_several(value, label):
    assert to_label(value, ";") == label


@pytest.mark.parametrize("value", ["", "  ", None, float("nan")])
def test_a_missing_label_is_a_fault(value):
    with pytest.raises(RowError) as problem:
        to_label(value)
    assert problem.value.fault == "missing label"


@pytest.mark.parametrize("value", [3.5, {"a": 1}, b"pos", [3.5], object()])
def test_a_label_of_another_type_is_a_fault(value):
    with pytest.raises(RowError, match="must be a text or a whole number") as problem:
        to_label(value)
    assert problem.value.fault == "wrong type"


def test_times_grow_whatever_their_form():
    written = ["1969-12-31", "1970-01-01", "1970-01-01T00:00:01", "1970-01-01T01:00:02+01:00"]
    assert [time_number(text) for text in written] == [-86400, 0, 1, 2]
    assert time_number(datetime.date(1970, 1, 2)) == 86400
    assert time_number(datetime.datetime(1970, 1, 1, 0, 0, 5)) == 5
    assert time_number(7) == time_number("7") == time_number(7.0) == 7


@pytest.mark.parametrize("value", ["", "yesterday", None, float("nan"), [1]])
def test_what_is_no_time_is_a_fault(value):
    with pytest.raises(RowError, match="is no time; use a number or a date"):
        time_number(value)
