"""The test behind a verdict: exact where it can be counted, and wrong no more often than stated."""

import itertools

import numpy as np
import pytest

from regard.explain.rankings import random_sets
from regard.explain.verdicts import SHUFFLES, SetTest, together
from regard.records.explanation import (
    CHANCE,
    ERROR_RATE,
    FAITHFUL,
    NOT_MEASURED,
    TOO_SHORT,
    WEAK,
    Judgement,
)


def sets(count, seed=0):
    draw = np.random.default_rng(seed)
    without, alone = random_sets(count, 8, draw), random_sets(count, 8, draw)
    return np.concatenate([without, ~alone]).reshape(-1, count)


def plain_agreement(gone, lost, scores):
    """The correlation within sets of one size, written out."""
    sums = gone @ scores
    pairs = []
    for size in set(gone.sum(1).tolist()):
        group = gone.sum(1) == size
        pairs += list(
            zip(sums[group] - sums[group].mean(), lost[group] - lost[group].mean(), strict=True)
        )
    one, two = np.array(pairs).T
    return float(one @ two / np.sqrt((one @ one) * (two @ two)))


@pytest.mark.parametrize("count", [5, 9, 40])
def test_agreement_is_the_correlation_within_sets_of_one_size(count):
    draw = np.random.default_rng(count)
    gone, scores = sets(count), draw.normal(size=count)
    lost = draw.normal(size=len(gone)) + gone.sum(1)
    assert SetTest(gone, lost).agreement(scores) == pytest.approx(
        plain_agreement(gone, lost, scores)
    )


def test_of_few_pieces_every_order_is_tried():
    draw = np.random.default_rng(1)
    gone, scores = sets(5), draw.normal(size=5)
    lost = gone @ (scores + draw.normal(size=5))
    test = SetTest(gone, lost)
    own = plain_agreement(gone, lost, scores)
    orders = [np.array(order) for order in itertools.permutations(range(5))]
    as_good = [plain_agreement(gone, lost, scores[order]) >= own - 1e-9 for order in orders]
    assert test.exhaustive and test.p_value(scores) == pytest.approx(np.mean(as_good))
    assert not SetTest(sets(7), np.zeros(len(sets(7)))).exhaustive


@pytest.mark.parametrize("count", [6, 12, 80])
def test_random_scores_pass_as_rarely_as_is_said(count):
    """Whatever the model does: here it hangs on one piece more than on all the others."""
    draw = np.random.default_rng(0)
    worth = draw.normal(size=count) ** 3
    gone = sets(count)
    test = SetTest(gone, gone @ worth)
    values = np.array([test.p_value(draw.normal(size=count)) for _ in range(500)])
    assert np.mean(values <= ERROR_RATE) <= ERROR_RATE + 2.5 * np.sqrt(0.015 * 0.985 / 500)
    assert abs(values.mean() - 0.5) < 0.06
    assert test.p_value(worth) <= ERROR_RATE
    assert values.min() >= 1 / (1 + SHUFFLES)


def test_the_verdict_by_numbers():
    draw = np.random.default_rng(2)
    worth, gone = draw.normal(size=40), sets(40)
    test = SetTest(gone, gone @ worth)
    found = test.judge("word", worth, 0.3)
    assert (found.verdict, found.level, found.sets) == (FAITHFUL, "word", len(gone))
    assert found.agreement == pytest.approx(1) and found.p_value == pytest.approx(1 / 200)
    assert test.judge("word", worth, 0.049).verdict == CHANCE, "nothing hangs on it"
    partly = worth * 0.3 + draw.normal(size=40)
    judged = test.judge("word", partly, 0.3)
    assert judged.agreement < 0.6 and judged.verdict in (WEAK, CHANCE)
    assert test.judge("word", -worth, 0.3).verdict == CHANCE, "the wrong way round"
    assert test.judge("word", np.ones(40), 0.3).p_value == 1
    still = SetTest(gone, np.full(len(gone), 0.7) + 1e-8 * draw.normal(size=len(gone)))
    assert still.judge("word", worth, 0.3).verdict == CHANCE, "rounding is no movement"


@pytest.mark.parametrize(("count", "verdict"), [(2, TOO_SHORT), (4, TOO_SHORT), (40, CHANCE)])
def test_a_text_may_be_too_short_to_tell(count, verdict):
    """One piece of four counts: any order that puts it first does as well, one in four."""
    worth = np.zeros(count)
    worth[0] = 1.0
    gone = sets(count)
    wrong = np.roll(worth, 1)
    assert SetTest(gone, gone @ worth).judge("word", wrong, 0.0).verdict == verdict


def test_where_one_piece_of_few_counts_even_the_truth_may_be_luck():
    """One sentence of eight decides: one ranking in eight puts it first, whoever made it."""
    worth = np.zeros(8)
    worth[3] = 1.0
    gone = sets(8)
    found = SetTest(gone, gone @ worth).judge("sentence", worth, 0.9)
    assert found.agreement == pytest.approx(1) and found.p_value > 0.1
    assert found.verdict == TOO_SHORT


def test_words_and_sentences_together():
    def verdict(*both):
        return together([Judgement(str(place), one) for place, one in enumerate(both)])

    assert verdict(FAITHFUL, FAITHFUL) == FAITHFUL
    assert verdict(FAITHFUL, TOO_SHORT) == FAITHFUL
    assert verdict(CHANCE, FAITHFUL) == verdict(FAITHFUL, WEAK) == verdict(WEAK, CHANCE) == WEAK
    assert verdict(CHANCE, CHANCE) == CHANCE
    assert verdict(TOO_SHORT, TOO_SHORT) == verdict(TOO_SHORT, NOT_MEASURED) == TOO_SHORT
    assert verdict(NOT_MEASURED) == verdict() == NOT_MEASURED
