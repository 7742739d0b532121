"""Average precision against scikit-learn, spans and phrases by hand."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score

from regard.audit.plausibility import (
    average_precision,
    iou_f1,
    mark_tokens,
    measure_marked_share,
    measure_plausibility,
    read_evidence,
    score_tokens,
    token_f1,
    token_spans,
)
from regard.errors import DataError
from regard.records.explanation import Decision, Explanation
from regard.records.weights import Weights, sum_by
from regard.text.document import Document

TEXT = "one two, three.\nfour  five six"


@pytest.mark.parametrize("seed", range(20))
def test_average_precision_is_scikit_learn_s(seed):
    draw = np.random.default_rng(seed)
    truth = draw.random(40) < 0.3
    truth[0] = True
    scores = draw.integers(0, 6 if seed % 2 else 1000, 40).astype(float)
    expected = average_precision_score(truth, scores)
    assert average_precision(truth, scores) == pytest.approx(expected)


def test_average_precision_of_equal_scores_is_the_share():
    truth = np.array([True, False, False, True, False])
    assert average_precision(truth, np.zeros(5)) == pytest.approx(0.4)


def test_token_f1_is_scikit_learn_s():
    draw = np.random.default_rng(0)
    truth, chosen = draw.random((2, 30)) < 0.4
    assert token_f1(truth, chosen) == pytest.approx(f1_score(truth, chosen))
    assert token_f1(np.zeros(3, bool), np.zeros(3, bool)) == 1.0


def test_a_span_is_right_if_it_overlaps_by_half():
    def mask(*places):
        row = np.zeros(12, dtype=bool)
        row[list(places)] = True
        return row

    truth = mask(0, 1, 2, 3, 8, 9)
    assert iou_f1(truth, truth) == 1.0
    assert iou_f1(truth, mask(1, 2, 3)) == pytest.approx(2 / 3), "3/4 overlap; one of two found"
    assert iou_f1(truth, mask(3, 4, 5)) == 0.0, "1/6 overlap"
    assert iou_f1(truth, mask()) == 0.0 and iou_f1(mask(), mask()) == 1.0


def test_tokens_are_marked_where_they_share_a_character():
    tokens = token_spans(TEXT)
    assert [TEXT[start:end] for start, end in tokens] == TEXT.split()
    assert mark_tokens(tokens, [(5, 6), (15, 17)]).tolist() == [
        False,
        True,
        False,
        True,
        False,
        False,
    ]
    assert not mark_tokens(tokens, [(3, 4)]).any(), "white space alone"
    assert not mark_tokens(token_spans(""), [(0, 0)]).any()


def test_a_token_has_the_largest_score_of_its_words():
    tokens = token_spans(TEXT)
    pieces = [(0, 3), (4, 7), (7, 8), (9, 14), (14, 15), (16, 20)]
    scores = np.array([0.5, -1.0, -3.0, 0.25, 2.0, 0.0])
    assert score_tokens(tokens, pieces, scores).tolist() == [0.5, -1.0, 2.0, 0.0, -3.0, -3.0]


def explained(scores):
    spans = [(0, 3), (4, 7), (9, 14), (16, 20), (22, 26), (27, 30)]
    words = Weights.from_scores("word", spans, scores, unit="log-odds")
    levels = words, sum_by(words, [(0, 14), (16, 30)])
    return Explanation(TEXT, "gradient_input", (Decision("a", 0.9, levels),))


def test_pointing_where_people_point_is_plausible():
    right = measure_plausibility(explained([0, 0, 0, 1, 2, 1.0]), [(16, 30)], share=0.5)
    assert right["auprc"].value == 1.0 and right["auprc_word"].value == 1.0
    assert right["token_f1"].value == 1.0 and right["iou_f1"].value == 1.0
    wrong = measure_plausibility(explained([1, 2, 1, 0, 0, 0.0]), [(16, 30)], share=0.5)
    assert wrong["token_f1"].value == 0.0
    assert wrong["auprc"].value < right["auprc"].baseline < 1.0


def test_phrases_are_scored_as_a_page_draws_them():
    found = explained([0, 0, 3.0, -1, 0, 0])
    drawn = found.decisions[0].phrases
    tokens = token_spans(TEXT)
    truth = mark_tokens(tokens, [(4, 8)])
    scores = score_tokens(tokens, drawn.pieces, np.array(drawn.amounts))
    measured = measure_plausibility(found, [(4, 8)], share=0.5)["auprc"]
    assert measured.value == average_precision_score(truth, scores) == 0.5, "beside the heaviest"


def test_a_text_in_which_nothing_is_marked_says_nothing():
    assert measure_plausibility(explained([1.0] * 6), [], share=0.5) == {}


def document(cell, text="one two three four"):
    return Document(text, "a", {"evidence": cell})


@pytest.mark.parametrize(
    "cell",
    [
        [{"start_char": 0, "end_char": 3}, {"start_char": 4, "end_char": 7, "start_token": 1}],
        [[0, 3], [4, 7]],
        '[{"start_char": 0, "end_char": 3}, [4, 7]]',
        '[{"start_char": 0.0, "end_char": 3.0}, [4, 7.0]]',
    ],
)
def test_spans_come_as_mappings_pairs_or_json(cell):
    assert read_evidence(document(cell), "evidence") == ((0, 3), (4, 7))


@pytest.mark.parametrize("cell", [None, "", [], "[]"])
def test_an_empty_cell_marks_nothing(cell):
    assert read_evidence(document(cell), "evidence") == ()


@pytest.mark.parametrize(
    "cell,message",
    [
        ("one", "no JSON list"),
        (5, "must hold a list"),
        ([5], "must hold a list"),
        ([{"start_char": 1}], "must hold a list"),
        ([[3, 99]], "marks 3:99 in a text of 18 characters"),
        ([[3, 1]], "marks 3:1"),
        ([[0, 3.5]], "must hold a list"),
        ([[0, float("nan")]], "must hold a list"),
        ([[False, True]], "must hold a list"),
    ],
)
def test_what_is_no_span_is_told(cell, message):
    with pytest.raises(DataError, match=message):
        read_evidence(document(cell), "evidence")


def test_a_missing_column_is_told_with_those_there_are():
    with pytest.raises(DataError, match="no column 'marks' of evidence; there are evidence"):
        read_evidence(document(None), "marks")


def test_the_share_is_the_mean_over_documents():
    some = [document([[0, 3]]), document(None), document(None, "")]
    assert measure_marked_share(some, "evidence") == pytest.approx(1 / 8)
    assert measure_marked_share([], "evidence") == 0.0
