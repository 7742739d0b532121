import numpy as np
import pytest

from regard.tasks.abstention import coverage_curve, threshold_for


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
