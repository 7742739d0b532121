from regard.records.explanation import Decision, Explanation
from regard.records.look import (
    ClassSentences,
    Deciding,
    Look,
    Spread,
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
        spreads=(Spread("word", 9, 5.0, 3.0, 0.7, 0.1, (1, 8)),),
        classes=(ClassSentences(1, 4, (Deciding("Good.", 2, 0.3, 1, (0, 5)),)),),
        labelled=7,
        suspects=(suspect(0.95, 0.5),),
        title="m on d",
    )
    assert Look.from_json(found.to_json()) == found


def test_a_suspect_is_as_strong_as_sureness_times_what_hangs_on_the_reasons():
    assert suspect(0.9, 0.5).strength == 0.45
    assert suspect(0.9, -0.2).strength == 0.0
