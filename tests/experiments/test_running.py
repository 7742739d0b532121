"""What is true of every experiment: it runs, it finds what it promises, its seed decides all."""

import math

import pytest
import torch

from regard.experiments import EXPERIMENTS, run_experiment
from regard.records.experiment import Experiment
from regard.views.experiment import experiment_lines, render_plot

every_experiment = pytest.mark.parametrize("name", EXPERIMENTS)


@pytest.fixture(scope="module")
def found():
    """Run every experiment once, when it is first asked for."""
    kept = {}

    def one(name):
        if name not in kept:
            kept[name] = run_experiment(EXPERIMENTS[name].quick(), [0])
        return kept[name]

    return one


@every_experiment
def test_it_finds_a_number_for_every_column(name, found):
    experiment = found(name)
    assert experiment.name == name and experiment.columns
    for row in experiment.findings[0].rows:
        assert len(row.values) == len(experiment.columns)
        assert all(value is None or math.isfinite(value) for value in row.values)
    assert len(set(experiment.row_names)) == len(experiment.row_names)


@every_experiment
def test_it_goes_to_json_to_a_table_and_to_a_plot(name, found):
    experiment = found(name)
    assert Experiment.from_json(experiment.to_json()) == experiment
    table = "\n".join(experiment_lines(experiment))
    assert all(row in table for row in experiment.row_names)
    assert len(render_plot(experiment)) < 100_000


@every_experiment
def test_the_same_seed_gives_the_same_bits_and_leaves_the_random_state_alone(name, found):
    before = torch.random.get_rng_state()
    again = run_experiment(EXPERIMENTS[name].quick(), [0])
    assert again == found(name)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("name", ["gradients", "planted"])
def test_another_seed_gives_other_numbers(name, found):
    first, second = run_experiment(EXPERIMENTS[name].quick(), [0, 1]).findings
    assert first == found(name).findings[0]
    assert first.rows != second.rows


def test_it_says_how_far_it_has_come_and_with_which_seed():
    config, alone, together = EXPERIMENTS["gradients"].quick(), [], []
    run_experiment(config, [3], alone.append)
    run_experiment(config, [3, 4], together.append)
    assert alone[0] == "RNN"
    assert (together[0], together[-1]) == ("seed 3, RNN", "seed 4, RNN with attention")
