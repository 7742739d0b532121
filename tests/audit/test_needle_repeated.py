"""A sentence that is planted several times."""

import numpy as np
import pytest

from regard.audit.needle import COPIES, LENGTH, Haystack, Repeated, recalled, repeated
from regard.records.explanation import Decision, Explanation
from regard.records.weights import Weights

STACK = Haystack(tuple(f"Hay {place}." for place in range(30)), (("Bad.", 0), ("Good!", 1)))
TEXT = "ab\n\ncd\n\nef\n\ngh"
PLANTED = Repeated(TEXT, ((4, 6), (12, 14)), 0)


@pytest.mark.parametrize("copies", COPIES)
def test_every_copy_stands_where_it_is_said_to(copies):
    for one in repeated(STACK, copies, count=6, draw=np.random.default_rng(0)):
        needle = STACK.needles[one.number][0]
        assert [one.text[start:end] for start, end in one.spans] == [needle] * copies
        sentences = one.text.split("\n\n")
        assert len(sentences) == LENGTH and sentences.count(needle) == copies


def test_little_hay_is_used_again():
    small = Haystack(("Hay.",), STACK.needles)
    (one,) = repeated(small, 2, count=1, draw=np.random.default_rng(0))
    assert one.text.count("Hay.") == LENGTH - 2


def explained(*values):
    spans = ((0, 2), (4, 6), (8, 10), (12, 14))
    decision = Decision("a", 0.9, (Weights("sentence", spans, values),))
    return Explanation(TEXT, "attention", (decision,))


def test_recall_is_the_share_of_copies_among_the_heaviest():
    """Planted-evidence recall by redundancy."""
    assert recalled(PLANTED, explained(0.1, 0.4, 0.1, 0.4)).value == 1.0
    assert recalled(PLANTED, explained(0.3, 0.6, 0.1, 0.0)).value == 0.5
    assert recalled(PLANTED, explained(0.5, 0.0, 0.5, 0.0)).value == 0.0
    assert recalled(PLANTED, explained(0.1, 0.4, 0.1, 0.4)).baseline == 2 / LENGTH


def test_nothing_is_found_where_all_weigh_alike():
    assert recalled(PLANTED, explained(0.25, 0.25, 0.25, 0.25)).value == 0.0


def test_a_document_without_sentences_recalls_nothing():
    decision = Decision("a", 0.9, (Weights("word", ((0, 2),), (1.0,)),))
    assert recalled(PLANTED, Explanation(TEXT, "attention", (decision,))).value == 0.0
