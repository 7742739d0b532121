"""The needle test of whole classifiers."""

import pytest

from regard.audit.needle import needle_test
from support.reviews import reviews, tiny

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
