import pytest

from regard.audit.evidence import evidence_of, marked_share
from regard.errors import DataError
from regard.text.document import Document


def document(cell, text="one two three four"):
    return Document(text, "a", {"evidence": cell})


@pytest.mark.parametrize(
    "cell",
    [
        [{"start_char": 0, "end_char": 3}, {"start_char": 4, "end_char": 7, "start_token": 1}],
        [[0, 3], [4, 7]],
        '[{"start_char": 0, "end_char": 3}, [4, 7]]',
    ],
)
def test_spans_come_as_mappings_pairs_or_json(cell):
    assert evidence_of(document(cell), "evidence") == ((0, 3), (4, 7))


@pytest.mark.parametrize("cell", [None, "", [], "[]"])
def test_an_empty_cell_marks_nothing(cell):
    assert evidence_of(document(cell), "evidence") == ()


@pytest.mark.parametrize(
    "cell,message",
    [
        ("one", "no JSON list"),
        (5, "must hold a list"),
        ([5], "must hold a list"),
        ([{"start_char": 1}], "must hold a list"),
        ([[3, 99]], "marks 3:99 in a text of 18 characters"),
        ([[3, 1]], "marks 3:1"),
    ],
)
def test_what_is_no_span_is_told(cell, message):
    with pytest.raises(DataError, match=message):
        evidence_of(document(cell), "evidence")


def test_a_missing_column_is_told_with_those_there_are():
    with pytest.raises(DataError, match="no column 'marks' of evidence; there are evidence"):
        evidence_of(document(None), "marks")


def test_the_share_is_the_mean_over_documents():
    some = [document([[0, 3]]), document(None), document(None, "")]
    assert marked_share(some, "evidence") == pytest.approx(1 / 8)
    assert marked_share([], "evidence") == 0.0
