import numpy as np
import pytest

from regard.audit.tally import Measured, Tally, mean_metric
from regard.records.audit import FEWEST_DOCUMENTS
from regard.records.measures import MEASURES

NAME = "needle_recall"


def test_a_metric_is_the_mean_with_the_bootstrap_s_interval():
    values = np.random.default_rng(1).normal(size=60)
    found = mean_metric(NAME, [Measured(float(value), 0.25) for value in values])
    assert found.value == pytest.approx(values.mean())
    assert found.baseline == pytest.approx(0.25) and found.baseline_name == "random sentence"
    half = 1.96 * values.std() / np.sqrt(60)
    assert found.interval.low == pytest.approx(values.mean() - half, abs=0.06)
    assert found.interval.high == pytest.approx(values.mean() + half, abs=0.06)
    assert found.documents == 60


def test_of_too_few_documents_there_is_no_interval():
    """The same document drawn again a thousand times has no spread."""
    for count in range(1, FEWEST_DOCUMENTS):
        found = mean_metric(NAME, [Measured(0.5, 0.1)] * count)
        assert found.value == 0.5 and found.documents == count
        assert found.interval is None and not found.beats_baseline and not found.is_beaten
    enough = mean_metric(NAME, [Measured(0.5, 0.1)] * FEWEST_DOCUMENTS)
    assert enough.beats_baseline and not enough.is_beaten


def test_shares_are_ratios_of_means():
    found = mean_metric(NAME, [Measured(1.0, 0.5, 2.0), Measured(0.0, 0.5, 0.0)])
    assert found.value == pytest.approx(0.5) and found.baseline == pytest.approx(0.5)
    nothing = mean_metric(NAME, [Measured(1.0, 0.5, 0.0)])
    assert nothing.value == 0.0


def test_the_same_seed_gives_the_same_interval():
    some = [Measured(value**0.5, 0.0) for value in range(40)]
    assert mean_metric(NAME, some, seed=3) == mean_metric(NAME, some, seed=3)
    assert mean_metric(NAME, some, seed=3) != mean_metric(NAME, some, seed=4)


def test_measures_come_in_the_order_of_the_table_and_empty_ones_do_not():
    one, two = list(MEASURES)[:2]
    tally = Tally()
    tally.add({two: Measured(1.0, 0.0)})
    tally.add({one: Measured(1.0, 0.0), two: Measured(2.0, 0.0)})
    assert [(metric.name, metric.documents) for metric in tally.metrics()] == [(one, 1), (two, 2)]
