import numpy as np
import pytest

from regard.audit.needle import NEEDLES, Haystack, Planted, cell, places, sought
from regard.records.audit import NeedleCell
from regard.records.explanation import Decision, Explanation
from regard.records.weights import Weights

SENTENCES = [f"Sentence number {place}." for place in range(40)]


def stack():
    """The first five shout for class 0, the last five for class 1, the rest say nothing."""
    likely = np.full((40, 2), 0.5)
    likely[:5], likely[-5:] = (0.9, 0.1), (0.05, 0.95)
    return Haystack.of(SENTENCES, likely)


def test_needles_are_the_surest_sentences_and_hay_the_quietest():
    found = stack()
    assert {text for text, number in found.needles if number == 0} == set(SENTENCES[:5])
    assert {text for text, number in found.needles if number == 1} == set(SENTENCES[-5:])
    assert len(found.needles) == 2 * NEEDLES
    assert set(found.hay) <= set(SENTENCES[5:-5]) and len(found.hay) == 20


def test_a_class_that_no_sentence_gets_has_no_needle():
    likely = np.tile([0.7, 0.3], (10, 1))
    assert {number for _, number in Haystack.of(SENTENCES[:10], likely).needles} == {0}


@pytest.mark.parametrize("length,position", [(1, 0), (5, 0), (5, 4), (60, 33)])
def test_the_needle_stands_where_it_was_planted(length, position):
    draw = np.random.default_rng(0)
    for one in stack().planted(length, position, count=5, draw=draw):
        needles = dict(stack().needles)
        sentences = one.text.split("\n\n")
        assert len(sentences) == length
        assert one.text[slice(*one.span)] == sentences[position]
        assert needles[sentences[position]] == one.number


def test_both_sides_of_a_cap_are_tried():
    assert places(5, None) == [0, 1, 2, 3, 4]
    assert places(41, None) == [0, 10, 20, 30, 40]
    assert places(41, 7) == [0, 6, 7, 10, 20, 30, 40]
    assert places(5, 5) == [0, 1, 2, 3, 4], "a cap that cuts nothing"
    assert places(1, None) == [0]


def explained(values):
    spans = ((0, 3), (5, 8), (10, 13))[: len(values)]
    sentences = Weights("sentence", spans, tuple(values))
    return Explanation("abc\n\ndef\n\nghi", "attention", (Decision("a", 0.9, (sentences,)),))


PLANTED = Planted("abc\n\ndef\n\nghi", (5, 8), 0, 3, 1)


def test_found_is_more_than_any_other():
    assert sought(PLANTED, explained([0.2, 0.5, 0.3]), answered=True).found
    assert not sought(PLANTED, explained([0.5, 0.2, 0.3]), answered=True).found
    even = sought(PLANTED, explained([1 / 3] * 3), answered=True)
    assert even.read and not even.found, "where all are equal nothing was found"


def test_what_is_not_read_is_not_found():
    unread = sought(PLANTED, explained([1.0]), answered=False)
    assert not unread.read and not unread.found
    nothing = Explanation("abc\n\ndef\n\nghi", "attention", (Decision("a", 0.9, ()),))
    assert not sought(PLANTED, nothing, answered=False).read


def test_a_cell_counts():
    some = [
        sought(PLANTED, explained([0.2, 0.5, 0.3]), answered=True),
        sought(PLANTED, explained([0.5, 0.2, 0.3]), answered=True),
        sought(PLANTED, explained([1.0]), answered=False),
    ]
    assert cell(some) == NeedleCell(3, 1, documents=3, found=1, unread=1, answered=2)
    assert cell(some).recall == pytest.approx(1 / 3)
