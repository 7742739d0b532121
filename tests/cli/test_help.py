"""Help names what there is, from the tables of the code, and loads them only where it must."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import regard
from regard.cli.help import NAMES
from regard.cli.output import DRAWINGS, REPORTS
from regard.cli.tasks import TASKS
from regard.data.formats.table import written_suffixes
from regard.estimators.named import CLASSIFIER_PARTS, TRANSLATOR_PARTS
from regard.experiments import EXPERIMENTS
from regard.explain.methods import METHODS
from regard.models import MODELS, PAIR_MODELS
from regard.models.seq2seq import PRESETS
from regard.nn.attention import SCORES
from regard.nn.pooling import POOLINGS


def help_of(shell, command):
    """The help of a command as one line, however it was broken."""
    return " ".join(shell(command, "--help").out.split())


def in_words(names):
    *others, last = names
    return f"{', '.join(others)} or {last}"


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("train", TASKS),
        ("explain", METHODS),
        ("explain", DRAWINGS),
        ("audit", METHODS),
        ("audit", REPORTS),
        ("diff", METHODS),
        ("look", REPORTS),
        ("predict", written_suffixes()),
        ("translate", written_suffixes()),
        ("experiment", EXPERIMENTS),
    ],
)
def test_an_option_lists_what_the_code_has(shell, command, names):
    assert in_words(names) in help_of(shell, command)


def test_what_can_be_named_to_a_training_is_listed_by_task(shell):
    shown = help_of(shell, "train")
    classify, translate = re.split("Names for --task translate:", shown)
    for names in (MODELS, SCORES, POOLINGS, CLASSIFIER_PARTS):
        assert ", ".join(names) in classify
    for names in ([*PAIR_MODELS, *PRESETS], SCORES, TRANSLATOR_PARTS):
        assert ", ".join(names) in translate


@pytest.mark.parametrize("command", ["train", "explain", "audit", "diff", "predict", "experiment"])
def test_no_mark_is_left_in_any_help(shell, command):
    assert not [mark for mark in NAMES if f"{{{mark}}}" in help_of(shell, command)]


@pytest.mark.parametrize("asked", [["--help"], ["predict", "--help"], ["look", "--help"]])
def test_help_that_names_no_network_or_method_needs_no_torch(asked):
    code = (
        "import sys; from typer.testing import CliRunner; from regard.cli.main import app; "
        f"ran = CliRunner().invoke(app, {asked}); print(ran.exit_code, 'torch' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(Path(regard.__file__).parents[1])},
    )
    assert ran.stdout == "0 False\n", ran.stderr
