"""What network and n-grams each put into an answer: parts that add up to its log-odds."""

import math

import pytest

from regard.explain.methods import METHODS
from regard.records.explanation import Explanation
from support.reviews import reviews, tagged, tiny

TEXT = "We saw a great film. Then the music was dull and awful!"


@pytest.fixture(scope="module")
def many():
    """A classifier of three classes."""
    return tiny(training__epochs=4).fit(*reviews(90, classes=("a", "b", "c")))


def odds(explanation, rival=None):
    likely = dict(explanation.probabilities)
    own = likely[explanation.label]
    return math.log(own / (1 - own if rival is None else likely[rival]))


def parts(shares):
    return shares.network + shares.start + math.fsum(shares.ngrams.amounts)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "lime"])
def test_the_parts_add_up_to_the_log_odds_of_the_answer(fitted, method):
    explanation = fitted.explain(TEXT, method=method, receipt=False)
    shares = explanation.decisions[0].shares
    assert shares.total == pytest.approx(odds(explanation), abs=1e-4)
    assert parts(shares) == pytest.approx(shares.total, abs=1e-9)


def test_of_many_classes_the_answer_is_weighed_against_its_rival(many):
    explanation = many.explain("We saw cue1. It was cue2 and then cue1.", receipt=False)
    shares = explanation.decisions[0].shares
    ranked = sorted(explanation.probabilities, key=lambda pair: -pair[1])
    assert (explanation.label, shares.against) == (ranked[0][0], ranked[1][0])
    assert shares.total == pytest.approx(odds(explanation, shares.against), abs=1e-4)
    assert parts(shares) == pytest.approx(shares.total, abs=1e-9)
    assert shares.network_words is None


def test_of_several_labels_each_is_weighed_by_itself(fitted_tags):
    texts, _ = tagged(10, seed=3)
    for explanation in fitted_tags.explain(texts, receipt=False):
        shares = explanation.decisions[0].shares
        assert shares.against is None
        assert shares.total == pytest.approx(odds(explanation), abs=1e-4)
        assert parts(shares) == pytest.approx(shares.total, abs=1e-9)


def test_a_word_that_decides_has_its_share_and_an_unknown_one_none(fitted):
    explanation = fitted.explain("We saw a great zzyzx.", label="good", receipt=False)
    ngrams = explanation.decisions[0].shares.ngrams
    by_word = {
        TEXT: amount for TEXT, amount in zip(_words(explanation), ngrams.amounts, strict=True)
    }
    assert by_word["great"] == max(by_word.values()) > 0
    assert by_word["zzyzx"] == 0


def _words(explanation):
    pieces = explanation.decisions[0].shares.ngrams.pieces
    return [explanation.source[start:end] for start, end in pieces]


def test_network_and_ngrams_make_up_what_the_method_says_of_a_word(fitted):
    decision = fitted.explain(TEXT, method="gradient_input", receipt=False).decisions[0]
    both = zip(decision.shares.ngrams.scores, decision.shares.network_words.scores, strict=True)
    assert [a + b for a, b in both] == pytest.approx(decision.level("word").scores)


def test_without_ngrams_there_are_no_shares():
    alone = tiny(wide=None, training__epochs=1).fit(*reviews(40))
    assert alone.explain(TEXT, receipt=False).decisions[0].shares is None


def test_shares_survive_json(fitted):
    explanation = fitted.explain(TEXT)
    again = Explanation.from_json(explanation.to_json())
    assert again == explanation and again.decisions[0].shares is not None
