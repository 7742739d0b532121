import random
from dataclasses import replace

import pytest

from regard.errors import DataError
from regard.look.difference import overlap
from regard.records.explanation import Decision, Explanation
from regard.records.weights import Weights

TEXT = "one two three four"
SPANS = ((0, 3), (4, 7), (8, 13), (14, 18))


def explained(values, spans=SPANS, *, signed=False):
    words = Weights("word", spans, tuple(values))
    if signed:
        words = Weights.from_scores("word", spans, values, unit="probability")
    return Explanation(TEXT, "attention", (Decision("a", 0.9, (words,)),))


def test_it_is_the_weight_that_both_put_on_the_same_words():
    draw = random.Random(0)
    for _ in range(20):
        first, second = ([draw.random() for _ in SPANS] for _ in range(2))
        one, two = ([value / sum(row) for value in row] for row in (first, second))
        plain = sum(map(min, one, two))
        assert overlap(explained(one), explained(two)) == pytest.approx(plain)


def test_the_same_reasons_overlap_wholly_and_others_not_at_all():
    assert overlap(explained([1, 0, 0, 0]), explained([1, 0, 0, 0])) == pytest.approx(1)
    assert overlap(explained([1, 0, 0, 0]), explained([0, 1, 0, 0])) == 0


def test_words_cut_otherwise_can_be_compared():
    halves = ((0, 3), (4, 7), (8, 10), (10, 13), (14, 18))
    first, second = explained([0, 0, 1, 0]), explained([0, 0, 0.4, 0.6, 0], halves)
    assert overlap(first, second) == pytest.approx(1)


def test_for_and_against_are_not_the_same_reason():
    first = explained((0.5, 0.0, -0.5, 0.0), signed=True)
    second = explained((0.5, 0.0, 0.5, 0.0), signed=True)
    assert overlap(first, second) == pytest.approx(0.5)
    assert overlap(first, first) == pytest.approx(1)


def test_no_reasons_at_all_agree_with_each_other_alone():
    none = explained([0, 0, 0, 0])
    assert overlap(none, none) == 1
    assert overlap(none, explained([1, 0, 0, 0])) == 0
    empty = Explanation("", "attention", (Decision("a", 0.5, ()),))
    assert overlap(empty, empty) == 1


def test_sentences_stand_in_where_words_are_not_weighed():
    sentences = Weights("sentence", ((0, 7), (8, 18)), (0.25, 0.75))
    one = replace(explained([1, 0, 0, 0]), decisions=(Decision("a", 0.9, (sentences,)),))
    assert overlap(one, one) == pytest.approx(1)


def test_texts_must_be_the_same():
    with pytest.raises(DataError, match="same text"):
        overlap(explained([1, 0, 0, 0]), replace(explained([1, 0, 0, 0]), source=TEXT + "."))
