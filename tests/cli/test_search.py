"""``regard search``: killed in the middle it goes on, and a training takes what it found."""

import json
import shlex
import tomllib

import pytest

from regard import DocumentClassifier
from support.cli_files import COLUMNS, rows, write_csv
from support.killing import kill_once_there
from support.reviews import FLAGS

pytest.importorskip("optuna", reason="needs the extra search")

SPACE = """
[network]
hidden_size = [4, 12]

[training]
learning_rate = [0.005, 0.05]
epochs = [4, 5, 6]
"""
TRIED = ("hidden_size", "learning_rate", "epochs")
KEPT = [
    part
    for option, change in zip(FLAGS[::2], FLAGS[1::2], strict=True)
    if not any(name in change for name in TRIED)
    for part in (option, change)
]


@pytest.fixture(scope="module")
def asked(project, tmp_path_factory):
    space = tmp_path_factory.mktemp("space") / "search.toml"
    space.write_text(SPACE)
    return ["search", project.training, *COLUMNS, *KEPT, "--space", space, "--trials", "3"]


@pytest.fixture(scope="module")
def searched(shell, asked, tmp_path_factory):
    out = tmp_path_factory.mktemp("search") / "found"
    return out, shell(*asked, "--out", out)


def trials(out):
    found = json.loads((out / "search.json").read_text())["trials"]
    return [{name: value for name, value in one.items() if name != "seconds"} for one in found]


def test_it_prints_a_table_and_writes_the_best_settings(searched):
    out, ran = searched
    assert ran.code == 0, ran.err
    head, *found = ran.out.splitlines()[:4]
    assert head.split()[:4] == ["trial", "hidden_size", "learning_rate", "epochs"]
    assert sorted(row.split()[0] for row in found) == ["1", "2", "3"]
    assert "so its scores flatter: measure on others" in ran.out
    assert "trial 3 of 3: loss" in ran.err
    assert f"--config {out / 'best.toml'} --out model/" in ran.err
    best = tomllib.loads((out / "best.toml").read_text())
    assert best["text-column"] == "review" and best["recipe"] == "balanced"
    assert 4 <= best["network"]["hidden_size"] <= 12
    assert {path.name for path in out.iterdir()} <= {
        *("best.toml", "search.json", "trials.sqlite", "work")
    }


def test_a_training_with_the_best_settings_scores_as_the_trial_did(
    shell, project, searched, tmp_path
):
    out, _ = searched
    best = min(trials(out), key=lambda one: one["scores"]["loss"])
    ran = shell(
        *("train", project.training, "--config", out / "best.toml"),
        *("--out", tmp_path / "model", "--no-baseline", "-q"),
    )
    assert ran.code == 0, ran.err
    facts = DocumentClassifier.load(tmp_path / "model").facts_
    assert {name: facts[f"validation_{name}"] for name in ("loss", "accuracy", "macro_f1")} == best[
        "scores"
    ]


def test_a_search_learns_from_marks_as_the_training_that_it_proposes_does(shell, tmp_path):
    given = [
        {
            "text": f"we saw film {place} and it was {('dull', 'great')[place % 2]}",
            "label": ("bad", "good")[place % 2],
            "evidence": [[0, 6]],
        }
        for place in range(80)
    ]
    data, out, space = (tmp_path / name for name in ("marked.jsonl", "found", "space.toml"))
    data.write_text("".join(f"{json.dumps(row)}\n" for row in given))
    space.write_text(SPACE)
    ran = shell("search", data, *KEPT, "--space", space, "--trials", "1", "--out", out)
    assert ran.code == 0 and "marked in 80 documents are learnt from" in ran.err
    (trial,) = trials(out)
    ran = shell("train", data, "--config", out / "best.toml", "--out", tmp_path / "model", "-q")
    assert ran.code == 0, ran.err
    facts = DocumentClassifier.load(tmp_path / "model").facts_
    assert facts["validation_loss"] == trial["scores"]["loss"]


def test_the_training_that_is_proposed_can_be_started_as_it_is_printed(shell, asked, tmp_path):
    """The folder has a space in its name, and a row of the data has no label."""
    data, out = tmp_path / "my reviews.csv", tmp_path / "my search"
    given = [*rows(40, seed=1), {**rows(1, seed=2)[0], "stars": ""}]
    ran = shell(
        *("search", write_csv(data, given), *asked[2:], "--out", out),
        *("--trials", "1", "--on-bad-row", "skip"),
    )
    assert ran.code == 0, ran.err
    proposed = shlex.split(ran.err.splitlines()[-1])
    assert proposed[:2] == ["regard", "train"] and proposed[-2:] == ["--out", "model/"]
    again = shell(*proposed[1:-1], tmp_path / "model", "--no-baseline", "-q")
    assert again.code == 0, again.err


def test_a_killed_search_goes_on_and_ends_where_another_does(shell, asked, searched, tmp_path):
    """kill -9 in the second trial; the same command again; the same trials."""
    out = tmp_path / "killed"
    state = out / "work" / "trial-2" / "checkpoint" / "state.safetensors"
    kill_once_there(*asked, "--out", out, there=state)
    assert not (out / "search.json").exists()
    ran = shell(*asked, "--out", out)
    assert ran.code == 0, ran.err
    assert "trial 1 of 3" not in ran.err  # it was kept
    assert trials(out) == trials(searched[0])
    assert (out / "best.toml").read_text() == (searched[0] / "best.toml").read_text()


def test_started_again_it_tries_nothing(shell, asked, searched):
    out, _ = searched
    ran = shell(*asked, "--out", out, "--json")
    assert "trial" not in ran.err and len(json.loads(ran.out)["trials"]) == 3


def test_mistakes_are_one_line(shell, asked, searched, project, tmp_path):
    out, _ = searched
    error = shell(*asked, "--out", out, "--by", "accuracy").error
    assert "begun with score loss, now it is accuracy; use the same" in error
    assert "once a trial; give a file" in shell("search", "-", "--out", tmp_path / "x").error
    assert "is a file; name a folder" in shell(*asked, "--out", project.training).error
    assert "lies in the saved model" in shell(*asked, "--out", project.model / "x").error
    assert "cannot be read" in shell(*asked, "--out", tmp_path, "--space", tmp_path / "no").error
