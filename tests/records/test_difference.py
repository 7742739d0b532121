import pytest

from regard.records.difference import Answer, ChangedDocument, Difference


def changed(old, new, truth):
    labelled = old != new
    return ChangedDocument(0, "", Answer(old, 0.9), Answer(new, 0.8), 0.3, labelled, truth)


@pytest.mark.parametrize(
    ("old", "new", "truth", "outcome"),
    [
        (("a",), ("b",), ("b",), "mended"),
        (("a",), ("b",), ("a",), "broken"),
        (("a",), ("b",), ("c",), ""),
        (("a",), ("b",), None, ""),
        (("a",), ("a",), ("a",), ""),
        (("a", "b"), ("b",), ("b",), "mended"),
        ((1,), (2,), ("2",), "mended"),
    ],
)
def test_a_change_mends_breaks_or_neither(old, new, truth, outcome):
    assert changed(old, new, truth).outcome == outcome


def test_a_difference_comes_back_unchanged_and_is_true_where_something_changed():
    found = Difference("m1", "m2", 3, (changed(("a",), ("b",), ("b",)),), 1, mended=1)
    assert found and not Difference("m1", "m2", 3, ())
    assert Difference.from_json(found.to_json()) == found
