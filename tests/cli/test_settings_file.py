"""A file of settings says what options would say, and options win."""

import tomllib
from pathlib import Path

from regard import DocumentClassifier
from support.cli_files import COLUMNS

DATA = Path(__file__).parents[1] / "data"
CONFIG = """
text-column = "review"
label-column = "stars"
epochs = 1
baseline = false

[network]
hidden_size = 8
embedding_size = 8

[training]
batch_size = 16
clip = "none"
"""


def test_a_file_says_what_options_say_and_options_win(shell, project, tmp_path):
    settings = tmp_path / "settings.toml"
    settings.write_text(CONFIG, encoding="utf-8")
    given = ["train", project.training, "--config", settings, "--out", tmp_path / "model"]
    ran = shell(*given, "--set", "network.hidden_size=4", "--seed", "7")
    assert ran.code == 0, ran.err
    made = DocumentClassifier.load(tmp_path / "model")
    assert made.network.hidden_size == 4 and made.network.embedding_size == 8
    assert made.training.batch_size == 16 and made.training.clip is None
    assert made.training.epochs == 1 and made.training.seed == 7
    assert made.facts_["text_column"] == "review" and made.baseline_ is None


def test_what_is_printed_can_be_given_back(shell, project, tmp_path):
    settings = tmp_path / "settings.toml"
    settings.write_text(shell("info", project.model, "--config").out, encoding="utf-8")
    given = ["train", project.training, "--config", settings, "--out", tmp_path / "again"]
    ran = shell(*given, "--epochs", "1", "--no-baseline")
    assert ran.code == 0, ran.err
    made, other = (DocumentClassifier.load(path) for path in (tmp_path / "again", project.model))
    assert made.network == other.network and made.text == other.text
    usual = tomllib.loads(shell("info", "--config").out)
    assert usual["network"]["hidden_size"] == DocumentClassifier().network.hidden_size
    assert usual["text-column"] == "text" and usual["training"]["seed"] == 0


def test_a_model_says_its_task_its_seeds_and_that_it_has_no_ngrams(shell, project, tmp_path):
    few = ["--seeds", "2", "--wide", "off", "--epochs", "1", "--set", "network.hidden_size=4"]
    assert shell("train", project.training, *COLUMNS, *few, "--out", tmp_path / "a").code == 0
    settings = tmp_path / "settings.toml"
    settings.write_text(shell("info", tmp_path / "a", "--config").out, encoding="utf-8")
    ran = shell("train", project.training, "--config", settings, "--out", tmp_path / "b")
    assert ran.code == 0, ran.err
    made, other = (DocumentClassifier.load(tmp_path / name) for name in "ab")
    assert made.settings_ == other.settings_ and made.settings_.seeds == 2
    assert made.wide is None and other.wide is None
    told = tomllib.loads(shell("info", DATA / "saved_translator", "--config").out)
    assert told["task"] == "translate" and "units" in told and "wide" not in told


def test_a_model_says_its_recipe_and_what_stayed_together(shell, project, tmp_path):
    """The same settings start from other vectors by another recipe, and hold others out."""
    asked = ["--recipe", "fast", "--group-column", "id", "--wide", "off", "--epochs", "1"]
    ran = shell("train", project.training, *COLUMNS, *asked, "--out", tmp_path / "a")
    assert ran.code == 0, ran.err
    settings = tmp_path / "settings.toml"
    settings.write_text(shell("info", tmp_path / "a", "--config").out, encoding="utf-8")
    assert shell("train", project.training, "--config", settings, "--out", tmp_path / "b").code == 0
    made, other = (DocumentClassifier.load(tmp_path / name).model_.state_dict() for name in "ab")
    assert all((made[name] == other[name]).all() for name in made)
    told = tomllib.loads(settings.read_text())
    assert told["recipe"] == "fast" and told["group-column"] == "id"


def test_the_usual_settings_change_nothing(shell, project, tmp_path):
    """Steps of few documents are small, and a recipe chooses, as without the file."""
    printed = (
        shell("info", "--config").out.replace('"text"', '"review"').replace('"label"', '"stars"')
    )
    settings = tmp_path / "settings.toml"
    settings.write_text(printed, encoding="utf-8")
    small = ["--set", "network.hidden_size=4", "--recipe", "fast", "--no-baseline"]
    for name, given in {"a": ["--config", settings], "b": COLUMNS}.items():
        ran = shell("train", project.training, *given, *small, "--out", tmp_path / name)
        assert ran.code == 0 and "steps of 8 documents in place of 64" in ran.err
    made, other = (DocumentClassifier.load(tmp_path / name) for name in "ab")
    assert made.settings_ == other.settings_ and made.network.embedding_size == 100
    assert made.training.epochs == 3


def test_what_the_file_cannot_mean_is_one_line(shell, project, tmp_path):
    settings = tmp_path / "settings.toml"

    def said(text):
        settings.write_text(text, encoding="utf-8")
        ran = shell("train", project.training, "--config", settings, "--out", tmp_path / "m")
        return ran.error

    assert "'text-colum', which is no option; did you mean" in said('text-colum = "review"')
    assert "is no TOML" in said("text-column = ")
    columns = 'text-column = "review"\nlabel-column = "stars"\n'
    assert "has no setting 'hidden'" in said(f"{columns}[network]\nhidden = 3")
    assert "knows no part 'nework'" in said(f"{columns}[nework]\nhidden_size = 3")


def test_a_shell_can_complete_commands(shell, monkeypatch):
    assert "--install-completion" in shell("--help").out
    # Whatever shell the tests are started from.
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: ("bash", "/bin/bash"))
    told = shell("--show-completion")
    assert told.code == 0 and "_REGARD_COMPLETE" in told.out
