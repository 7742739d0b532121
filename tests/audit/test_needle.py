import numpy as np
import pytest

from regard.audit.needle import (
    COPIES,
    LENGTH,
    NEEDLES,
    Haystack,
    PlantedDocument,
    RepeatedDocument,
    choose_places,
    count_cell,
    measure_recall,
    needle_test,
    plant_copies,
    seek,
)
from regard.records.audit import NeedleCell
from regard.records.explanation import Decision, Explanation
from regard.records.weights import Weights
from support.reviews import reviews, tiny

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
    for one in stack().plant(length, position, count=5, draw=draw):
        needles = dict(stack().needles)
        sentences = one.text.split("\n\n")
        assert len(sentences) == length
        assert one.text[slice(*one.span)] == sentences[position]
        assert needles[sentences[position]] == one.number


def test_both_sides_of_a_cap_are_tried():
    assert choose_places(5, None) == [0, 1, 2, 3, 4]
    assert choose_places(41, None) == [0, 10, 20, 30, 40]
    assert choose_places(41, 7) == [0, 6, 7, 10, 20, 30, 40]
    assert choose_places(5, 5) == [0, 1, 2, 3, 4], "a cap that cuts nothing"
    assert choose_places(1, None) == [0]


def explained(values):
    spans = ((0, 3), (5, 8), (10, 13))[: len(values)]
    sentences = Weights("sentence", spans, tuple(values))
    return Explanation("abc\n\ndef\n\nghi", "attention", (Decision("a", 0.9, (sentences,)),))


PLANTED = PlantedDocument("abc\n\ndef\n\nghi", (5, 8), 0, 3, 1)


def test_found_is_more_than_any_other():
    assert seek(PLANTED, explained([0.2, 0.5, 0.3]), answered=True).found
    assert not seek(PLANTED, explained([0.5, 0.2, 0.3]), answered=True).found
    even = seek(PLANTED, explained([1 / 3] * 3), answered=True)
    assert even.read and not even.found, "where all are equal nothing was found"


def test_what_is_not_read_is_not_found():
    unread = seek(PLANTED, explained([1.0]), answered=False)
    assert not unread.read and not unread.found
    nothing = Explanation("abc\n\ndef\n\nghi", "attention", (Decision("a", 0.9, ()),))
    assert not seek(PLANTED, nothing, answered=False).read


def test_a_cell_counts():
    some = [
        seek(PLANTED, explained([0.2, 0.5, 0.3]), answered=True),
        seek(PLANTED, explained([0.5, 0.2, 0.3]), answered=True),
        seek(PLANTED, explained([1.0]), answered=False),
    ]
    assert count_cell(some) == NeedleCell(3, 1, documents=3, found=1, unread=1, answered=2)
    assert count_cell(some).recall == pytest.approx(1 / 3)


CAP = 6


@pytest.fixture(scope="module")
def texts():
    return reviews(60, seed=5)[0]


@pytest.fixture(scope="module")
def capped():
    return tiny(text__max_sentences=CAP).fit(*reviews(80))


def test_a_cap_s_blind_zone_begins_exactly_beyond_the_cap(capped, texts):
    """What the issue asks: everything before the cap is read, nothing behind it."""
    found = needle_test(capped.fitted_, texts, method="erasure").map
    assert found.blind_from == CAP
    assert {cell.position for cell in found.cells} >= {CAP - 1, CAP}
    for cell in found.cells:
        assert cell.unread == (cell.documents if cell.position >= CAP else 0)
        if cell.position >= CAP:
            assert cell.found == 0


def test_a_model_without_a_cap_has_no_blind_zone(fitted, texts):
    found = needle_test(fitted.fitted_, texts, method="erasure")
    assert found.map.blind_from is None
    assert all(cell.unread == 0 for cell in found.map.cells)
    assert found.recall.value > found.recall.baseline and found.recall.beats_baseline
    assert found.recall.documents == sum(cell.documents for cell in found.map.cells)


def test_the_test_is_the_same_each_time(fitted, texts):
    one, other = (
        needle_test(fitted.fitted_, texts[:20], method="attention", seed=2) for _ in range(2)
    )
    assert one == other


def test_too_few_sentences_are_no_test(fitted):
    assert needle_test(fitted.fitted_, ["One."], method="attention") is None
    assert needle_test(fitted.fitted_, [], method="attention") is None


STACK = Haystack(tuple(f"Hay {place}." for place in range(30)), (("Bad.", 0), ("Good!", 1)))
TEXT = "ab\n\ncd\n\nef\n\ngh"
TWICE = RepeatedDocument(TEXT, ((4, 6), (12, 14)), 0)


@pytest.mark.parametrize("copies", COPIES)
def test_every_copy_stands_where_it_is_said_to(copies):
    for one in plant_copies(STACK, copies, count=6, draw=np.random.default_rng(0)):
        needle = STACK.needles[one.number][0]
        assert [one.text[start:end] for start, end in one.spans] == [needle] * copies
        sentences = one.text.split("\n\n")
        assert len(sentences) == LENGTH and sentences.count(needle) == copies


def test_little_hay_is_used_again():
    small = Haystack(("Hay.",), STACK.needles)
    (one,) = plant_copies(small, 2, count=1, draw=np.random.default_rng(0))
    assert one.text.count("Hay.") == LENGTH - 2


def weighed(*values):
    spans = ((0, 2), (4, 6), (8, 10), (12, 14))
    decision = Decision("a", 0.9, (Weights("sentence", spans, values),))
    return Explanation(TEXT, "attention", (decision,))


def test_recall_is_the_share_of_copies_among_the_heaviest():
    """Planted-evidence recall by redundancy."""
    assert measure_recall(TWICE, weighed(0.1, 0.4, 0.1, 0.4)).value == 1.0
    assert measure_recall(TWICE, weighed(0.3, 0.6, 0.1, 0.0)).value == 0.5
    assert measure_recall(TWICE, weighed(0.5, 0.0, 0.5, 0.0)).value == 0.0
    assert measure_recall(TWICE, weighed(0.1, 0.4, 0.1, 0.4)).baseline == 2 / LENGTH


def test_nothing_is_found_where_all_weigh_alike():
    assert measure_recall(TWICE, weighed(0.25, 0.25, 0.25, 0.25)).value == 0.0


def test_a_document_without_sentences_recalls_nothing():
    decision = Decision("a", 0.9, (Weights("word", ((0, 2),), (1.0,)),))
    assert measure_recall(TWICE, Explanation(TEXT, "attention", (decision,))).value == 0.0
