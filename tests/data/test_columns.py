"""What a cell means: labels of every kind, and times."""

import datetime

import numpy as np
import pytest

from regard.data.columns import RowError, time_number, to_label


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
