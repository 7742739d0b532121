import dataclasses
import statistics

import pytest

from regard.records.experiment import Chart, Curve, Experiment, Finding, ResultRow, Setting, Spread


def finding(seed, value, *, seconds=1.0):
    chart = Chart("lines", "epoch", "exact match", (Curve("a", ((1.0, value or 0.0),)),))
    return Finding(seed, (ResultRow("a", (value, None), seconds),), chart, ("said",))


def experiment(*values):
    findings = tuple(finding(seed, value) for seed, value in enumerate(values))
    settings = (Setting("epochs", 3), Setting("corpus", None), Setting("name", "x"))
    return Experiment("tried", "A title", ("share", "never"), settings, findings)


def test_survives_json():
    made = experiment(0.5, 0.75)
    assert Experiment.from_json(made.to_json()) == made


def test_a_cell_sums_up_over_the_seeds():
    spread = experiment(0.5, 0.75, 0.7).spread(0, 0)
    assert spread.mean == pytest.approx(statistics.fmean([0.5, 0.75, 0.7]))
    assert spread.deviation == pytest.approx(statistics.stdev([0.5, 0.75, 0.7]))
    assert (spread.count, spread.seeds, spread.partial) == (3, 3, False)


def test_one_seed_has_no_deviation_and_no_number_no_spread():
    one = experiment(0.5)
    assert one.spread(0, 0) == Spread(0.5, None, 1, 1)
    assert one.spread(0, 1) is None


def test_seeds_without_a_number_are_counted():
    spread = experiment(0.5, None).spread(0, 0)
    assert spread == Spread(0.5, None, 1, 2)
    assert spread.partial


def test_how_long_it_took_does_not_make_another_run_of_it():
    quick, slow = finding(0, 0.5), finding(0, 0.5, seconds=9.0)
    assert quick == slow
    assert dataclasses.replace(quick, seed=1) != quick
