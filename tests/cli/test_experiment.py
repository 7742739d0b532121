"""``experiment``: the table on standard output, a plot and the numbers in a folder."""

import json
import sys

import pytest

from regard.experiments import EXPERIMENTS
from regard.records.experiment import Experiment


def test_the_list_names_all(shell):
    ran = shell("experiment", "list")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()] == list(EXPERIMENTS)


def test_it_prints_a_table_and_writes_plot_and_numbers(shell, tmp_path):
    ran = shell("experiment", "planted", "--quick", "--out", tmp_path / "new" / "folder")
    assert ran.code == 0, ran.err
    assert "| steps, before, shared " in ran.out
    found = Experiment.from_json((tmp_path / "new" / "folder" / "planted.json").read_text())
    assert found.seeds == (0,) and found.name == "planted"
    assert "<svg" in (tmp_path / "new" / "folder" / "planted.svg").read_text()
    assert "steps, after the LSTM" in ran.err  # how far it has come


@pytest.mark.parametrize(
    "given",
    [["--seeds", 4, 5, 6], ["--seeds", "4,5,6"], ["--seeds", 4, "--seeds", 5, "--seeds", 6]],
)
def test_several_seeds_may_be_given_in_any_way(shell, tmp_path, given):
    ran = shell("experiment", "gradients", "--quick", *given, "--out", tmp_path)
    assert ran.code == 0, ran.err
    assert json.loads((tmp_path / "gradients.json").read_text())["findings"][2]["seed"] == 6
    assert "±" in ran.out


def test_settings_can_be_changed_and_the_plot_can_be_a_png(shell, tmp_path):
    options = ["--set", "length=5", "--set", "rows=2", "--plot", "png", "--seed", 7]
    ran = shell("experiment", "gradients", *options, "--out", tmp_path, "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    found = Experiment.from_json((tmp_path / "gradients.json").read_text())
    assert len(found.findings[0].chart.curves[0].points) == 5 and found.seeds == (7,)
    assert (tmp_path / "gradients.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["adition"], "did you mean 'addition'?"),
        (["gradients", "--set", "lenght=5"], "did you mean 'length'?"),
        (["gradients", "--set", "length"], "--set must be NAME=VALUE, got 'length'"),
        (["gradients", "--plot", "gif"], "--plot cannot be 'gif'"),
        (["gradients", "1", "2"], "several seeds need --seeds"),
        (["gradients", "--seeds", "1", "x"], "whole numbers, got '1 x'"),
        (["gradients", "--seeds", "1", "1"], "a seed was given twice"),
        (["gradients", "--set", "length=1"], "length must be at least 2"),
    ],
)
def test_a_mistake_is_one_kind_line(shell, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert message in shell("experiment", *arguments).error
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_the_extra_is_named_before_any_work(shell, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ran = shell("experiment", "gradients", "--out", tmp_path)
    assert "regard[plots]" in ran.error
    assert not list(tmp_path.iterdir())
