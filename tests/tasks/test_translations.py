"""BLEU and chrF as sacrebleu counts them, whole and added up from shares."""

import math
import sys
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.pairs import parse_links
from regard.errors import ConfigError, DataError, MissingExtra
from regard.estimators.training_captions import CaptionJudge
from regard.estimators.training_pairs import PairJudge
from regard.records.alignment import Alignment
from regard.records.translation import GoldLinks
from regard.tasks.generate import GenerationConfig
from regard.tasks.translations import (
    BLEU_COUNTS,
    bleu_counts,
    bleu_of_counts,
    character_error_rate,
    doubt_translations,
    edit_distance,
    links_of,
    mean_effective_count,
    score_links,
    score_translations,
)
from regard.text.units import UnitsConfig, build_units
from support.aligned import aligned

sacrebleu = pytest.importorskip("sacrebleu", reason="the extra translate is not installed")

WRITTEN = ["The cat sat on the mat.", "A dog barks at the red house", "Hello", ""]
REFERENCES = ["The cat sat on the mat.", "The dog barks at a red house.", "Hello there", "Yes"]


def test_scores_are_sacrebleus_own():
    """002-18: cased and not tokenised beforehand, with the default signature."""
    found = score_translations(WRITTEN, REFERENCES)
    assert found.bleu == sacrebleu.corpus_bleu(WRITTEN, [REFERENCES]).score
    assert found.chrf == sacrebleu.corpus_chrf(WRITTEN, [REFERENCES]).score
    assert found.bleu_signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert found.chrf_signature.startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:")
    assert (found.pairs, found.exact) == (4, 0.25)


@pytest.mark.parametrize("cut", range(5))
def test_counts_of_shares_add_up_to_the_whole(cut):
    shares = [slice(None, cut), slice(cut, None)]
    total = sum(bleu_counts(WRITTEN[share], REFERENCES[share]) for share in shares)
    assert bleu_of_counts(total) == pytest.approx(score_translations(WRITTEN, REFERENCES).bleu)


def test_nothing_at_all_counts_nothing():
    assert np.array_equal(bleu_counts([], []), np.zeros(BLEU_COUNTS))
    assert bleu_of_counts(np.zeros(BLEU_COUNTS)) == 0


@pytest.mark.parametrize("written", [[], ["a", "b"]])
def test_texts_and_references_must_fit(written):
    with pytest.raises(DataError, match=r"no pairs to score|do not fit"):
        score_translations(written, ["a"] if written else [])


@pytest.fixture
def no_sacrebleu(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)


def test_without_sacrebleu_nothing_is_written_before_that_is_said(no_sacrebleu):
    """Trainings and evaluations that would need it end before they begin."""
    units = build_units(["a b"], UnitsConfig(kind="words", min_count=1))
    for judge in (
        lambda: PairJudge(units, GenerationConfig()),
        lambda: CaptionJudge(units, GenerationConfig(), None, []),
    ):
        with pytest.raises(MissingExtra, match="needs sacrebleu"):
            judge()


def test_without_sacrebleu_it_says_what_to_install(no_sacrebleu):
    with pytest.raises(MissingExtra, match=r"needs sacrebleu.*pip install 'regard\[translate\]'"):
        score_translations(["a"], ["a"])


SENTENCES = [f"a man number {number} sees the dog of {number + 3} women" for number in range(60)]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (["Ein"] * 60, "'Ein' is written about 60 of 60"),
        ([*SENTENCES[:20], *["Ein Mann"] * 40], "'Ein Mann' is written about 40 of 60"),
        ([f"Ein {number % 5}" for number in range(60)], "only 5 different texts"),
        ([chr(0x3400 + number) * 9 for number in range(60)], "hardly a letter"),
        (["y" * 200] * 60, "yyy...'"),
    ],
)
def test_what_can_be_no_translation_is_doubted(written, said):
    """Issue 10.7: a translator wrote "Ein" for everything without a word of warning."""
    assert said in doubt_translations(written, SENTENCES)


def test_what_may_be_a_translation_is_not_doubted():
    assert doubt_translations(SENTENCES, SENTENCES) is None
    assert doubt_translations(SENTENCES[::-1], SENTENCES) is None, "bad, but no nonsense"
    answers = ["yes", "no"] * 30
    assert doubt_translations(answers, answers) is None, "where the references are few too"
    assert doubt_translations(["Ein"] * 9, SENTENCES[:9]) is None, "of few pairs nothing is said"


def plain_distance(one, other):
    """The definition itself."""

    @cache
    def between(left, right):
        if not left or not right:
            return left + right
        replaced = between(left - 1, right - 1) + (one[left - 1] != other[right - 1])
        return min(replaced, between(left - 1, right) + 1, between(left, right - 1) + 1)

    return between(len(one), len(other))


WORDS = st.text(alphabet="ab한😀", max_size=9)


@given(WORDS, WORDS)
def test_the_distance_is_the_plain_one(one, other):
    assert edit_distance(one, other) == plain_distance(one, other) == edit_distance(other, one)


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("", "", 0), ("seorak", "solak", 2)],
)
def test_known_distances(one, other, distance):
    assert edit_distance(one, other) == distance


def test_a_long_text_is_compared_in_a_moment():
    assert edit_distance("ab" * 1500, "ba" * 1500) == 2


def test_the_rate_is_of_all_letters_together():
    """003-14: edits of all words over the letters of all references."""
    assert character_error_rate(["seorak", "gumi"], ["seorak", "guri"]) == 1 / 10
    assert character_error_rate(["abcdef"], ["a"]) == 5, "it may be over one"
    assert character_error_rate([], []) == 0


def test_empty_references_give_a_number_too():
    assert character_error_rate(["", ""], ["", ""]) == 0
    assert character_error_rate(["a", ""], ["", ""]) == 1
    assert character_error_rate(["a", ""], ["", "ab"]) == 1.5


def test_texts_without_references_are_an_error():
    with pytest.raises(DataError, match="2 texts do not fit 1 references"):
        character_error_rate(["a", "b"], ["a"])


# "un-break able" in three pieces, "ganz unzerbrechlich" in three.
PIECES = Alignment(
    source="ganz unzerbrechlich",
    target="quite unbreakable",
    source_spans=((0, 4), (5, 7), (7, 19)),
    target_spans=((0, 5), (6, 8), (8, 17)),
    weights=np.array([[0.8, 0.1, 0.1], [0.4, 0.5, 0.1], [0.4, 0.3, 0.3]]),
)


def test_words_add_columns_and_average_rows():
    """A word that is cut in two is not half as heavy."""
    words = PIECES.by_words()
    assert words.target_pieces == ("quite", "unbreakable")
    assert words.weights == pytest.approx(np.array([[0.8, 0.2], [0.4, 0.6]]))
    assert words.by_words().weights == pytest.approx(words.weights)


def test_pieces_without_letters_belong_to_the_word_after_them():
    made = Alignment(
        " ab c", "x", ((0, 0), (1, 3), (4, 5), (5, 5)), ((0, 1),), [[0.4, 0.3, 0.2, 0.1]]
    )
    assert made.by_words().weights == pytest.approx(np.array([[0.7, 0.3]]))


def test_texts_without_words_have_no_weights():
    assert aligned("", "").by_words().weights.shape == (0, 0)
    blank = Alignment(" ", "a b", ((0, 0),), ((0, 1),), [[1.0]])
    assert blank.by_words().weights.shape == (2, 0)
    assert links_of(blank) == frozenset()


def test_links_are_the_heaviest_words_or_all_above_a_threshold():
    """002-15: links by argmax and by threshold, as source word and target word."""
    assert links_of(PIECES) == {(0, 0), (1, 1)}
    assert links_of(PIECES, threshold=0.4) == {(0, 0), (0, 1), (1, 1)}
    assert links_of(PIECES, threshold=0.9) == frozenset()
    for wrong in (0.0, 1.5):
        with pytest.raises(ConfigError, match="threshold must be above 0 and at most 1"):
            links_of(PIECES, threshold=wrong)


def test_a_word_that_has_no_piece_has_no_link():
    made = Alignment("a b", "x y", ((0, 1),), ((0, 1),), [[1.0]])
    assert links_of(made) == {(0, 0)}


def test_scores_are_those_counted_by_hand():
    """002-15: A = 3 links, S = 2, P = 4; |A∩S| = 1, |A∩P| = 2, so AER = 1 - 3/5."""
    found = [frozenset({(0, 0), (1, 2)}), frozenset({(3, 3)})]
    gold = [parse_links("0-0 1-1 1?2"), parse_links("3?4")]
    scores = score_links(found, gold)
    assert (scores.pairs, scores.links) == (2, 3)
    assert scores.precision == pytest.approx(2 / 3)
    assert scores.recall == pytest.approx(1 / 2)
    assert scores.error_rate == pytest.approx(1 - 3 / 5)


def test_perfect_links_have_no_error_and_wrong_ones_nothing_but():
    gold = [parse_links("0-0 1-1 2?1")]
    assert score_links([frozenset({(0, 0), (1, 1)})], gold).error_rate == 0
    assert score_links([frozenset({(0, 0), (1, 1), (2, 1)})], gold).error_rate == 0
    assert score_links([frozenset({(5, 5)})], gold).error_rate == 1


def test_where_there_is_nothing_nothing_is_wrong():
    scores = score_links([frozenset()], [GoldLinks(frozenset())])
    assert (scores.precision, scores.recall, scores.error_rate) == (1, 1, 0)
    assert score_links([], []).error_rate == 0
    with pytest.raises(DataError, match="links of 1 pairs do not fit 2 lines of links"):
        score_links([frozenset()], [GoldLinks(frozenset())] * 2)


LINKS = st.frozensets(st.tuples(st.integers(0, 3), st.integers(0, 3)))


@given(found=LINKS, sure=LINKS)
def test_with_sure_links_alone_it_is_one_minus_the_balanced_f(found, sure):
    """With S = P the error rate is 1 - F1 (Fraser and Marcu, 2007)."""
    scores = score_links([found], [GoldLinks(sure)])
    both = scores.precision + scores.recall
    if found and sure:
        expected = 2 * scores.precision * scores.recall / both if both else 0.0
        assert scores.error_rate == pytest.approx(1 - expected)


def test_the_mean_over_a_corpus_counts_every_step_once():
    """004-06: effective_n = exp(entropy), the mean over the steps of all texts."""
    even = Alignment("a b", "x", ((0, 1), (2, 3)), ((0, 1),), [[0.5, 0.5]])
    sharp = Alignment("a b", "x y z", ((0, 1), (2, 3)), ((0, 1), (2, 3), (4, 5)), np.eye(3, 2))
    counts = [2.0, 1.0, 1.0, 1.0]  # a row of zeros looks at one thing at most
    assert mean_effective_count([even, sharp]) == pytest.approx(sum(counts) / 4)
    assert mean_effective_count([]) is None
    assert mean_effective_count([aligned("a", "")]) is None
    drawn = aligned("a b c d", "e f")
    slow = [math.exp(-sum(w * math.log(w) for w in row)) for row in drawn.weights.tolist()]
    assert mean_effective_count([drawn]) == pytest.approx(sum(slow) / 2)
