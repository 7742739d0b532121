import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn import metrics

from regard.tasks.calibration import (
    calibration,
    coverage_curve,
    fit_temperature,
    log_loss,
    reliability,
    threshold_for,
)
from regard.tasks.predictions import Predictions
from support.evaluations import predictions


def plain_error(confidences, right, bin_count=15):
    """ECE as its formula reads, one bin after the other."""
    total = 0.0
    for number in range(bin_count):
        low, high = number / bin_count, (number + 1) / bin_count
        inside = [
            (sure, hit)
            for sure, hit in zip(confidences, right, strict=True)
            if low < sure <= high or (number == 0 and sure == 0)
        ]
        if inside:
            sure, hit = map(np.mean, zip(*inside, strict=True))
            total += len(inside) / len(confidences) * abs(sure - hit)
    return total


def test_the_calibration_error_is_the_mean_gap_over_the_bins():
    for seed in range(5):
        given = predictions(("a", "b", "c"), 300, seed=seed)
        found = calibration(given, 0.7)
        expected = plain_error(given.probabilities(0.7).max(axis=1), given.correct())
        assert found.expected_error == pytest.approx(expected)
        assert sum(part.count for part in found.bins) == 300


def test_each_label_counts_on_its_own_where_there_are_several():
    given = predictions(("a", "b", "c"), 100, several=True)
    expected = plain_error(given.probabilities().ravel(), given.labels.ravel())
    assert calibration(given).expected_error == pytest.approx(expected)


def test_sure_and_right_is_no_error_and_sure_and_wrong_is_all_error():
    logits = np.array([[50.0, 0.0]] * 10)
    right = calibration(Predictions(("a", "b"), np.zeros(10, int), logits))
    wrong = calibration(Predictions(("a", "b"), np.ones(10, int), logits))
    assert right.expected_error == pytest.approx(0, abs=1e-12)
    assert wrong.expected_error == pytest.approx(1)


def test_bins_hold_their_upper_edge_and_the_ends_of_the_scale():
    bins = reliability(np.array([0.0, 0.5, 0.5001, 1.0]), np.ones(4, bool), bin_count=2)
    assert [part.count for part in bins] == [2, 2]
    assert reliability(np.zeros(0), np.zeros(0, bool))[0].count == 0


@pytest.mark.parametrize("several", [False, True])
def test_losses_are_those_of_scikit_learn(several):
    given = predictions(("a", "b", "c"), several=several)
    probabilities = given.probabilities(1.3)
    found = calibration(given, 1.3)
    if several:
        expected = metrics.log_loss(given.labels.ravel(), probabilities.ravel())
        brier = metrics.brier_score_loss(given.labels.ravel(), probabilities.ravel())
    else:
        expected = metrics.log_loss(given.labels, probabilities)
        brier = ((probabilities - np.eye(3)[given.labels]) ** 2).sum(axis=1).mean()
    assert found.log_loss == pytest.approx(expected)
    assert found.brier == pytest.approx(brier)


def test_the_loss_stays_finite_where_the_probability_rounds_to_zero():
    assert log_loss(np.array([[0.0, 5000.0]]), np.array([0])) == pytest.approx(5000)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("true_temperature", [0.3, 1.0, 4.0])
def test_the_temperature_that_logits_were_multiplied_by_is_found(several, true_temperature):
    draw = np.random.default_rng(0)
    logits = draw.normal(size=(20_000, 3)) * 2
    if several:
        labels = (draw.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(int)
    else:
        labels = (logits + draw.gumbel(size=logits.shape)).argmax(axis=1)
    found = fit_temperature(logits * true_temperature, labels)
    assert found == pytest.approx(true_temperature, rel=0.05)


def test_the_fitted_temperature_is_the_best_of_a_fine_grid():
    given = predictions(("a", "b", "c"), noise=3.0)
    best = log_loss(given.logits, given.labels, fit_temperature(given.logits, given.labels))
    grid = [log_loss(given.logits, given.labels, t) for t in np.geomspace(0.06, 19, 400)]
    assert best <= min(grid) + 1e-9


def test_a_temperature_never_worsens_what_it_was_fitted_on():
    for seed in range(30):
        draw = np.random.default_rng(seed)
        logits = draw.normal(size=(draw.integers(1, 6), 3)) * 10 ** draw.uniform(-3, 3)
        labels = draw.integers(3, size=len(logits))
        temperature = fit_temperature(logits, labels)
        assert np.isfinite(temperature) and temperature > 0
        assert log_loss(logits, labels, temperature) <= log_loss(logits, labels)


@pytest.mark.parametrize("several", [False, True])
def test_where_all_is_right_some_doubt_is_left(several):
    """A likelihood alone has no end here: probabilities become 1, and what was lost of them 0."""
    labels = np.arange(200) % 3
    logits = 2 * np.eye(3)[labels] - 1
    truth = np.eye(3, dtype=int)[labels] if several else labels
    cooled = logits / fit_temperature(logits, truth)
    sure = expit(np.abs(cooled)) if several else softmax(cooled, axis=1).max(axis=1)
    assert sure.mean() == pytest.approx((sure.size + 1) / (sure.size + 2))


def test_what_is_sure_already_is_left_as_it_is():
    labels = np.arange(30) % 3
    assert fit_temperature(100 * np.eye(3)[labels], labels) == 1.0


def test_without_data_the_temperature_is_one():
    assert fit_temperature(np.zeros((0, 3)), np.zeros(0, int)) == 1.0
    assert fit_temperature(np.zeros((5, 3)), np.arange(5) % 3) == 1.0


def plain_points(confidences, correct):
    """What each threshold keeps, by going through the documents once for each."""
    return {
        threshold: (np.mean(confidences >= threshold), np.mean(correct[confidences >= threshold]))
        for threshold in set(confidences.tolist())
    }


def drawn(seed, count):
    draw = np.random.default_rng(seed)
    confidences = draw.integers(1, 40, size=count) / 40  # many documents share a confidence
    return confidences, draw.random(count) < confidences


@pytest.mark.parametrize("count", [1, 2, 30, 400])
def test_each_point_tells_what_its_threshold_keeps(count):
    confidences, correct = drawn(0, count)
    plain = plain_points(confidences, correct)
    points = coverage_curve(confidences, correct)
    assert points[0].coverage == 1.0
    assert points[0].accuracy == pytest.approx(correct.mean())
    for point in points:
        assert (point.coverage, point.accuracy) == pytest.approx(plain[point.threshold])


def test_a_long_curve_keeps_its_ends_and_few_points():
    draw = np.random.default_rng(1)
    confidences = draw.random(10_000)
    points = coverage_curve(confidences, draw.random(10_000) < confidences, point_count=50)
    assert len(points) <= 50
    assert points[0].coverage == 1.0
    assert points[-1].threshold == confidences.max()
    coverages = [point.coverage for point in points]
    assert coverages == sorted(coverages, reverse=True)
    assert np.abs(np.diff(coverages)).max() < 0.03


@pytest.mark.parametrize("seed", range(5))
def test_the_threshold_answers_most_documents_of_all_that_are_accurate_enough(seed):
    confidences, correct = drawn(seed, 200)
    plain = plain_points(confidences, correct)
    for goal in (0.3, 0.6, 0.8, 0.9):
        best = max((kept for kept, right in plain.values() if right >= goal), default=None)
        point = threshold_for(confidences, correct, goal, fewest=1)
        assert (point.coverage if point else None) == pytest.approx(best)


def test_a_goal_out_of_reach_has_no_threshold():
    assert threshold_for(np.array([0.9, 0.8]), np.array([False, True]), 0.9, fewest=1) is None
    assert threshold_for(np.zeros(0), np.zeros(0, bool), 0.5) is None
    assert coverage_curve(np.zeros(0), np.zeros(0, bool)) == ()


def test_a_threshold_that_leaves_a_handful_of_documents_is_luck():
    confidences = np.linspace(0.5, 1, 100)
    correct = np.arange(100) >= 90
    assert threshold_for(confidences, correct, 0.9) is None
    assert threshold_for(confidences, correct, 0.9, fewest=11).coverage == 0.11
