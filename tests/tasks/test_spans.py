"""Answers are scored as SQuAD does, tags as CoNLL does."""

import pytest

from regard.data.spans import Marked, read_marked
from regard.errors import DataError
from regard.tasks.spans import answer_f1, exact_match, score_answers, score_segments, tag_tokens


def test_answers_are_compared_without_articles_and_marks():
    """Small letters, no punctuation; shared words count once each."""
    assert exact_match("The Cat!", "cat") == 1.0
    assert answer_f1("the black cat", "a cat sat") == pytest.approx(0.5)
    assert answer_f1("", "cat") == 0.0
    assert score_answers(["cat", ""], [["dog", "Cat"], []]) == {"exact_match": 1.0, "token_f1": 1.0}


def test_segments_count_where_both_ends_and_the_label_are_right():
    """One of two found, one of one right."""
    text = "Anna met Bo in Rome."
    right = [Marked(0, 4, "person"), Marked(9, 11, "person")]
    found = [Marked(0, 4, "person"), Marked(15, 19, "place")]
    scores = score_segments([text], [found], [right])
    assert scores["segment_f1"] == scores["precision"] == scores["recall"] == 0.5
    assert scores["token_accuracy"] == pytest.approx(4 / 6)
    assert tag_tokens("Anna Bo met", [Marked(0, 7, "pair")]) == ["B-pair", "I-pair", "O"]


def test_where_nothing_is_marked_finding_nothing_is_right():
    """The three scores say the same; and who finds nothing of something, or something, is wrong."""
    one = [Marked(0, 4, "person")]
    expected = {(): {(): 1.0, (0,): 0.0}, (0,): {(): 0.0, (0,): 1.0}}
    for found, row in expected.items():
        for right, score in row.items():
            scores = score_segments(["Anna met"], [one[: len(found)]], [one[: len(right)]])
            assert {scores[name] for name in ("segment_f1", "precision", "recall")} == {score}


def test_cells_of_spans_are_read_in_many_ways():
    """Lists, JSON, with an end or with the text itself."""
    text = "Anna met Bo"
    expected = (Marked(0, 4, ""), Marked(9, 11, "p"))
    cells = [
        [[0, 4], [9, 11, "p"]],
        '[[9, 11, "p"], [0, 4]]',
        [{"start": 0, "text": "Anna"}, {"start_char": 9, "end_char": 11, "label": "p"}],
    ]
    assert [read_marked(cell, text, where="column 'spans'") for cell in cells] == [expected] * 3
    assert read_marked("", text, where="") == read_marked(None, text, where="") == ()


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("{", "no JSON"),
        (7, "must hold a list"),
        (["x"], "must hold a list"),
        ([[0, 99]], "marks 0:99 in a text of 11"),
        ([[4, 4]], "marks 4:4"),
        ([{"start": 0, "text": "Bob"}], "says 'Bob'"),
        ([[True, 2]], "must hold a list"),
    ],
)
def test_a_wrong_cell_is_one_line(cell, problem):
    """It says which column, and what is wrong there."""
    with pytest.raises(DataError, match=problem):
        read_marked(cell, "Anna met Bo", where="column 'spans'")
