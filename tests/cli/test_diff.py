"""``regard diff``: what a new model does otherwise; the exit code tells a script."""

import json

import pytest

from regard.records.look import Difference
from support.cli_files import COLUMNS
from support.reviews import reviews, tiny


@pytest.fixture(scope="module")
def turned(tmp_path_factory):
    """Return a model that has learned the labels the wrong way round."""
    texts, labels = reviews(80)
    folder = tmp_path_factory.mktemp("turned") / "model"
    tiny().fit(texts, [{"good": "bad", "bad": "good"}[label] for label in labels]).save(folder)
    return folder


def test_a_model_against_itself_is_no_change_and_exit_code_zero(shell, project):
    ran = shell("diff", project.model, project.model, project.test, *COLUMNS)
    assert ran.code == 0
    assert ran.out.startswith("Nothing changed: the same labels for the same reasons on 30")


def test_changes_are_listed_and_the_exit_code_is_three(shell, project, turned, tmp_path):
    page = tmp_path / "diff.html"
    ran = shell("diff", project.model, turned, project.test, *COLUMNS, "--out", page, "--json")
    found = Difference.from_json(ran.out)
    assert ran.code == 3 and f"written to {page}" in ran.err
    assert found.label_changes == len([c for c in found.changes if c.label_changed]) > 20
    assert found.broken > found.corrected
    text = page.read_text(encoding="utf-8")
    assert text.count("<article") == 40 and "https://" not in text
    assert f"→ {turned} on {project.test.name}</title>" in text
    saved = tmp_path / "diff.json"
    again = shell("diff", project.model, turned, project.test, *COLUMNS, "--out", saved, "-q")
    assert (again.code, again.out, again.err) == (3, "", "")
    assert json.loads(saved.read_text(encoding="utf-8")) == json.loads(ran.out)


def test_fewer_documents_can_be_compared(shell, project, turned):
    ran = shell("diff", project.model, turned, project.new, "--unlabelled", "--limit", "4")
    assert ran.code == 3 and ran.out.startswith("Of 4 documents, ")


def test_errors_are_one_line_and_exit_code_one(shell, project, tmp_path):
    diff = ["diff", project.model]
    missing = shell(*diff, tmp_path / "none", project.test, *COLUMNS)
    assert missing.code == 1 and "none" in missing.error
    assert "has no column 'stars'" in shell(*diff, project.model, project.new).error
    wrong = shell(*diff, project.model, project.test, *COLUMNS, "--out", "a.png")
    assert "must end in .html or .json" in wrong.error


def test_models_that_share_no_label_are_refused_before_any_work(shell, project, tmp_path):
    other = tmp_path / "other"
    tiny(training__epochs=1).fit(*reviews(40, classes=(1, 5))).save(other)
    again = ["--train-data", project.training]
    ran = shell("diff", project.model, other, project.test, *COLUMNS, *again)
    told = f"{project.model} and {other} share no label: {project.model} has bad, good, {other} has"
    assert ran.error == f"{told} 1, 5; compare models that learnt the same labels"


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    """Return three models that differ by their seed alone."""
    folder, folders = tmp_path_factory.mktemp("twins"), []
    for seed in (0, 1, 2):
        folders.append(folder / str(seed))
        tiny(training__seed=seed, training__epochs=6).fit(*reviews(80)).save(folders[-1])
    return folders


def test_what_another_seed_changes_is_learnt_first_and_is_no_change(shell, project, twins, turned):
    old, new, other = twins
    by = [*COLUMNS, "--method", "attention"]
    plain = shell("diff", old, new, project.test, *by, "--min-overlap", "0.95")
    assert plain.code == 3 and "--train-data TRAIN.csv learns first" in plain.err
    known = shell("diff", old, new, project.test, *by, "--models", other)
    assert known.code == 0, known.out
    worse = shell("diff", old, turned, project.test, *by, "--models", other)
    assert worse.code == 3 and "That is more than another seed alone changes" in worse.out


def test_the_old_model_can_be_trained_again_to_learn_it(shell, project, turned):
    again = ["--train-data", project.training]
    ran = shell("diff", project.model, turned, project.test, *COLUMNS, *again)
    assert ran.code == 3 and "training the old model again with another seed" in ran.err
    assert "more than another seed alone changes: trained again with 1 other seed" in ran.out
