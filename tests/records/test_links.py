"""Links of words: what is sure is possible, and scores survive JSON."""

from regard.records.links import AlignmentScores, GoldLinks
from regard.records.translation import TranslationScores


def test_what_is_sure_is_possible_too():
    links = GoldLinks(frozenset({(0, 0)}), frozenset({(1, 1)}))
    assert links.possible == {(0, 0), (1, 1)} and links.sure == {(0, 0)}


def test_scores_survive_json_alone_and_among_those_of_a_translator():
    scores = AlignmentScores(3, 10, 0.5, 0.25, 2 / 3)
    assert AlignmentScores.from_json(scores.to_json(indent=2)) == scores
    whole = TranslationScores(3, 1.0, 2.0, "b", "c", 0.5, alignment=scores)
    assert TranslationScores.from_json(whole.to_json()) == whole
    assert any("alignment error rate 0.667" in line for line in whole.describe())
