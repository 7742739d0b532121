import pytest

from regard.records.explanation import Decision, Explanation
from regard.records.look import (
    Answer,
    ChangedDocument,
    ClassSentences,
    Deciding,
    Difference,
    Evenness,
    Look,
    Suspect,
    WordContext,
    WordUse,
)

EXPLANATION = Explanation("Good.", "attention", (Decision("pos", 0.9, ()),))


def suspect(probability, comprehensiveness):
    return Suspect(3, ("neg",), "pos", probability, "weak", comprehensiveness, EXPLANATION)


def test_what_was_found_comes_back_unchanged():
    found = Look(
        documents=7,
        words=(
            WordContext("good", "sentence", (0.0, 0.5, 1.0), (WordUse(None, 3, 0.4, 2.0, (2, 1)),)),
        ),
        spreads=(Evenness("word", 9, 5.0, 3.0, 0.7, 0.1, (1, 8)),),
        classes=(ClassSentences(1, 4, (Deciding("Good.", 2, 0.3, 1, (0, 5)),)),),
        labelled=7,
        suspects=(suspect(0.95, 0.5),),
        title="m on d",
    )
    assert Look.from_json(found.to_json()) == found


def test_a_suspect_is_as_strong_as_sureness_times_what_hangs_on_the_reasons():
    assert suspect(0.9, 0.5).strength == 0.45
    assert suspect(0.9, -0.2).strength == 0.0


def changed(old, new, truth):
    labelled = old != new
    return ChangedDocument(0, "", Answer(old, 0.9), Answer(new, 0.8), 0.3, labelled, truth)


@pytest.mark.parametrize(
    ("old", "new", "truth", "outcome"),
    [
        (("a",), ("b",), ("b",), "corrected"),
        (("a",), ("b",), ("a",), "broken"),
        (("a",), ("b",), ("c",), ""),
        (("a",), ("b",), None, ""),
        (("a",), ("a",), ("a",), ""),
        (("a", "b"), ("b",), ("b",), "corrected"),
        ((1,), (2,), ("2",), "corrected"),
    ],
)
def test_a_change_mends_breaks_or_neither(old, new, truth, outcome):
    assert changed(old, new, truth).outcome == outcome


def test_a_difference_comes_back_unchanged_and_is_true_where_something_changed():
    found = Difference("m1", "m2", 3, (changed(("a",), ("b",), ("b",)),), 1, corrected=1)
    assert found and not Difference("m1", "m2", 3, ())
    assert Difference.from_json(found.to_json()) == found
