import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from regard.tasks.bootstrap import (
    Outcomes,
    percentiles,
    proportion_interval,
    resampled_scores,
)
from support.evaluations import predictions


def outcomes(several, count=120, classes=5):
    ours = predictions(range(classes), count, several=several)
    theirs = predictions(range(classes), count, seed=1, several=several).decisions()
    return Outcomes.of(ours.labels, [ours.decisions(), theirs], classes)


@pytest.mark.parametrize("several", [False, True])
def test_redrawn_scores_are_those_of_the_redrawn_documents(several):
    given = outcomes(several)
    drawn = np.concatenate(list(given.draws(seed=3, draw_count=60)))
    found = resampled_scores(given, seed=3, draw_count=60)
    assert drawn.shape[0] == 60 and (drawn.sum(axis=1) == 120).all()
    for number in range(0, 60, 7):
        truth = np.repeat(given.truth, drawn[number], axis=0)
        for answer, scores in zip(given.answers, found, strict=True):
            answers = np.repeat(answer, drawn[number], axis=0)
            macro = f1_score(truth, answers, average="macro", zero_division=0)
            micro = f1_score(truth, answers, average="micro", zero_division=0)
            assert scores.accuracy[number] == pytest.approx(accuracy_score(truth, answers))
            assert scores.macro_f1[number] == pytest.approx(macro)
            assert scores.micro_f1[number] == pytest.approx(micro)


def test_the_interval_is_that_of_redrawing_documents_one_by_one():
    given = predictions(("a", "b"), 400, noise=4.0)
    correct = given.correct()
    draw = np.random.default_rng(0)
    plain = [correct[draw.integers(400, size=400)].mean() for _ in range(4000)]
    counted = Outcomes.of(given.labels, [given.decisions()], 2)
    found = percentiles(resampled_scores(counted, seed=0, draw_count=4000)[0].accuracy)
    assert found.low == pytest.approx(np.percentile(plain, 2.5), abs=0.005)
    assert found.high == pytest.approx(np.percentile(plain, 97.5), abs=0.005)


def test_methods_are_drawn_together_so_that_equal_answers_never_differ():
    given = predictions(("a", "b", "c"))
    counted = Outcomes.of(given.labels, [given.decisions(), given.decisions()], 3)
    ours, theirs = resampled_scores(counted, seed=0)
    assert np.array_equal(ours.accuracy, theirs.accuracy)
    assert ours.accuracy.std() > 0


def test_the_same_seed_draws_the_same():
    first, again = (resampled_scores(outcomes(False), seed=5)[0].macro_f1 for _ in range(2))
    other = resampled_scores(outcomes(False), seed=6)[0].macro_f1
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_combinations_are_few_however_many_documents_there_are():
    draw = np.random.default_rng(0)
    labels, answers = draw.integers(3, size=(2, 100_000))
    counted = Outcomes.of(labels, [answers], 3)
    assert len(counted.counts) == 9
    assert counted.counts.sum() == 100_000


def test_a_share_of_few_documents_keeps_a_wide_interval():
    whole = proportion_interval(10, 10)
    assert whole.high == pytest.approx(1.0)
    assert whole.low == pytest.approx(0.7225, abs=1e-3)  # Wilson (1927), from any table
    half = proportion_interval(50, 100)
    assert (half.low, half.high) == pytest.approx((0.4038, 0.5962), abs=1e-3)
    nothing = proportion_interval(0, 0)
    assert (nothing.low, nothing.high) == (0.0, 1.0)
