"""Links read off weights, and their scores, against values counted by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.formats.links import parse_links
from regard.errors import ConfigError, DataError
from regard.records.alignment import Alignment
from regard.records.translation import GoldLinks
from regard.tasks.alignment import links_of, mean_effective_count, score_links
from support.aligned import aligned

# "un-break able" in three pieces, "ganz unzerbrechlich" in three.
PIECES = Alignment(
    source="ganz unzerbrechlich",
    target="quite unbreakable",
    source_spans=((0, 4), (5, 7), (7, 19)),
    target_spans=((0, 5), (6, 8), (8, 17)),
    weights=np.array([[0.8, 0.1, 0.1], [0.4, 0.5, 0.1], [0.4, 0.3, 0.3]]),
)


def test_words_add_columns_and_average_rows():
    """A word that is cut in two is not half as heavy."""
    words = PIECES.by_words()
    assert words.target_pieces == ("quite", "unbreakable")
    assert words.weights == pytest.approx(np.array([[0.8, 0.2], [0.4, 0.6]]))
    assert words.by_words().weights == pytest.approx(words.weights)


def test_pieces_without_letters_belong_to_the_word_after_them():
    made = Alignment(
        " ab c", "x", ((0, 0), (1, 3), (4, 5), (5, 5)), ((0, 1),), [[0.4, 0.3, 0.2, 0.1]]
    )
    assert made.by_words().weights == pytest.approx(np.array([[0.7, 0.3]]))


def test_texts_without_words_have_no_weights():
    assert aligned("", "").by_words().weights.shape == (0, 0)
    blank = Alignment(" ", "a b", ((0, 0),), ((0, 1),), [[1.0]])
    assert blank.by_words().weights.shape == (2, 0)
    assert links_of(blank) == frozenset()


def test_links_are_the_heaviest_words_or_all_above_a_threshold():
    """002-15: links by argmax and by threshold, as source word and target word."""
    assert links_of(PIECES) == {(0, 0), (1, 1)}
    assert links_of(PIECES, threshold=0.4) == {(0, 0), (0, 1), (1, 1)}
    assert links_of(PIECES, threshold=0.9) == frozenset()
    for wrong in (0.0, 1.5):
        with pytest.raises(ConfigError, match="threshold must be above 0 and at most 1"):
            links_of(PIECES, threshold=wrong)


def test_a_word_that_has_no_piece_has_no_link():
    made = Alignment("a b", "x y", ((0, 1),), ((0, 1),), [[1.0]])
    assert links_of(made) == {(0, 0)}


def test_scores_are_those_counted_by_hand():
    """002-15: A = 3 links, S = 2, P = 4; |A∩S| = 1, |A∩P| = 2, so AER = 1 - 3/5."""
    found = [frozenset({(0, 0), (1, 2)}), frozenset({(3, 3)})]
    gold = [parse_links("0-0 1-1 1?2"), parse_links("3?4")]
    scores = score_links(found, gold)
    assert (scores.pairs, scores.links) == (2, 3)
    assert scores.precision == pytest.approx(2 / 3)
    assert scores.recall == pytest.approx(1 / 2)
    assert scores.error_rate == pytest.approx(1 - 3 / 5)


def test_perfect_links_have_no_error_and_wrong_ones_nothing_but():
    gold = [parse_links("0-0 1-1 2?1")]
    assert score_links([frozenset({(0, 0), (1, 1)})], gold).error_rate == 0
    assert score_links([frozenset({(0, 0), (1, 1), (2, 1)})], gold).error_rate == 0
    assert score_links([frozenset({(5, 5)})], gold).error_rate == 1


def test_where_there_is_nothing_nothing_is_wrong():
    scores = score_links([frozenset()], [GoldLinks(frozenset())])
    assert (scores.precision, scores.recall, scores.error_rate) == (1, 1, 0)
    assert score_links([], []).error_rate == 0
    with pytest.raises(DataError, match="links of 1 pairs do not fit 2 lines of links"):
        score_links([frozenset()], [GoldLinks(frozenset())] * 2)


LINKS = st.frozensets(st.tuples(st.integers(0, 3), st.integers(0, 3)))


@given(found=LINKS, sure=LINKS)
def test_with_sure_links_alone_it_is_one_minus_the_balanced_f(found, sure):
    """With S = P the error rate is 1 - F1 (Fraser and Marcu, 2007)."""
    scores = score_links([found], [GoldLinks(sure)])
    both = scores.precision + scores.recall
    if found and sure:
        expected = 2 * scores.precision * scores.recall / both if both else 0.0
        assert scores.error_rate == pytest.approx(1 - expected)


def test_the_mean_over_a_corpus_counts_every_step_once():
    """004-06: effective_n = exp(entropy), the mean over the steps of all texts."""
    even = Alignment("a b", "x", ((0, 1), (2, 3)), ((0, 1),), [[0.5, 0.5]])
    sharp = Alignment("a b", "x y z", ((0, 1), (2, 3)), ((0, 1), (2, 3), (4, 5)), np.eye(3, 2))
    counts = [2.0, 1.0, 1.0, 1.0]  # a row of zeros looks at one thing at most
    assert mean_effective_count([even, sharp]) == pytest.approx(sum(counts) / 4)
    assert mean_effective_count([]) is None
    assert mean_effective_count([aligned("a", "")]) is None
    drawn = aligned("a b c d", "e f")
    slow = [math.exp(-sum(w * math.log(w) for w in row)) for row in drawn.weights.tolist()]
    assert mean_effective_count([drawn]) == pytest.approx(sum(slow) / 2)
