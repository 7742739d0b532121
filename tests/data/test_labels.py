"""Classes and their numbers."""

import numpy as np
import pytest

from regard.data.labels import LabelIndex
from regard.errors import DataError


def test_classes_are_sorted_as_scikit_learn_sorts_them():
    for labels in (["b", "a", "c"], [3, 1, 20], ["10", "9"]):
        assert LabelIndex.from_labels(labels).classes == tuple(np.unique(labels).tolist())


def test_numbers_and_texts_of_one_label_are_the_same():
    """A model trained on CSV, where all labels are text, is tested on Parquet."""
    assert LabelIndex(("1", "2")).encode([2, 1]).tolist() == [1, 0]
    assert LabelIndex((1, 2)).encode(["2", "1"]).tolist() == [1, 0]
    assert LabelIndex.from_labels([1, "a"]).classes == ("1", "a")


def test_labels_that_another_program_wrote_otherwise_are_the_same():
    """CSV has True of Python, TRUE of Excel and 1.0 of a column with gaps; JSON has true and 1."""
    told = LabelIndex(("False", "True"))
    assert told.encode(["true", "FALSE", "True"]).tolist() == [1, 0, 1]
    assert told.named("true") == ("True",) and told.named("maybe") == ("maybe",)
    assert LabelIndex((1, 5)).encode(["5.0", "1.", 1]).tolist() == [1, 0, 0]
    assert LabelIndex(("1.0", "5.0")).encode([5, "1"]).tolist() == [1, 0]
    assert LabelIndex(("a", "b"), multilabel=True).named(("b", "c")) == ("b", "c")
    two = LabelIndex(("1", "1.0", "TRUE", "True"))
    assert two.encode(["1.0", "1", "True"]).tolist() == [1, 0, 3]
    assert two.number("true") is None and two.number("1.00") is None
    assert LabelIndex(("1.5", "01")).number("1.50") is LabelIndex(("01",)).number("1") is None


def test_several_labels_become_ones():
    index = LabelIndex.from_labels([("b",), ("a", "b"), ()])
    assert index == LabelIndex(("a", "b"), multilabel=True)
    encoded = index.encode([("b",), (), ("a", "b")])
    assert encoded.dtype == np.float32 and encoded.tolist() == [[0, 1], [0, 0], [1, 1]]


def test_no_labels_are_no_classes():
    assert len(LabelIndex.from_labels([])) == 0


def test_single_labels_among_lists_are_an_error():
    with pytest.raises(DataError, match="use lists for all"):
        LabelIndex.from_labels(["a", ("b",)])


def test_an_unknown_label_is_an_error_with_the_nearest():
    with pytest.raises(
        DataError, match="'positiv' is none of the classes; did you mean 'positive'"
    ):
        LabelIndex(("negative", "positive")).encode(["positiv"])


@pytest.mark.parametrize("classes", [("p", "p\0"), (-1, 2**63 + 12345), ("a", "b" * 1000)])
def test_classes_in_an_array_are_those_that_were_given(classes):
    """An array of texts drops zeros at their ends, one of large numbers makes them floats."""
    assert LabelIndex(classes).array.tolist() == list(classes)
    assert LabelIndex(classes).array.nbytes == 16


def test_whole_numbers_are_numbers_for_scikit_learn():
    assert LabelIndex((-3, 2)).array.dtype == np.int64
    assert LabelIndex(("a", "b")).array.dtype == object


def test_a_text_is_no_label():
    with pytest.raises(DataError, match=r"3,000,000 characters, .* is that the column of labels"):
        LabelIndex.from_labels(["a", "b" * 3_000_000])


def test_no_class_is_there_twice():
    with pytest.raises(DataError, match="the class '3' is there twice"):
        LabelIndex((3, "3"))
