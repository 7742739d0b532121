"""Scores of translations: plain data that says itself to a person."""

from regard.records.translation import AlignmentScores, Candidate, GoldLinks, TranslationScores

SCORES = TranslationScores(1200, 33.333, 61.5, "nrefs:1|x", "nrefs:1|y", 0.05, title="test.tsv")


def test_scores_survive_json():
    assert TranslationScores.from_json(SCORES.to_json()) == SCORES


def test_scores_come_with_their_signatures():
    """002-18: BLEU is printed with a signature like sacrebleu's."""
    assert SCORES.describe() == [
        "1,200 pairs of test.tsv",
        "BLEU   33.33  nrefs:1|x",
        "chrF   61.50  nrefs:1|y",
        "exactly like the reference: 5.0%",
    ]


def test_what_is_odd_is_told_too():
    odd = TranslationScores(
        1, 0, 0, "", "", 0, unended=3, effective_count=2.25, character_error_rate=0.0312
    )
    assert odd.describe()[-3:] == [
        "character error rate: 3.1%",
        "a piece looked at 2.2 pieces of the source",
        "3 came to the limit of their length before their end",
    ]


def test_a_candidate_is_written_as_json():
    assert '"text": "a"' in Candidate("a", -1.0, -2.0, True).to_json()


def test_what_is_sure_is_possible_too():
    links = GoldLinks(frozenset({(0, 0)}), frozenset({(1, 1)}))
    assert links.possible == {(0, 0), (1, 1)} and links.sure == {(0, 0)}


def test_scores_survive_json_alone_and_among_those_of_a_translator():
    scores = AlignmentScores(3, 10, 0.5, 0.25, 2 / 3)
    assert AlignmentScores.from_json(scores.to_json(indent=2)) == scores
    whole = TranslationScores(3, 1.0, 2.0, "b", "c", 0.5, alignment=scores)
    assert TranslationScores.from_json(whole.to_json()) == whole
    assert any("alignment error rate 0.667" in line for line in whole.describe())
