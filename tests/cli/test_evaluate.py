"""``regard evaluate``: how good a model is on documents it has not seen."""

import json
import re

import pytest

from regard import Evaluation
from regard.cli.output import write_report
from regard.errors import ConfigError
from regard.views.evaluation.page import render
from support.cli_files import COLUMNS, rows, write_csv


def test_scores_stand_beside_the_baselines(shell, project):
    ran = shell("evaluate", project.model, project.test, *COLUMNS)
    assert ran.code == 0
    assert re.search(r"^This model +\d+(\.\d)? %", ran.out, re.MULTILINE)
    assert "TF-IDF" in ran.out and "Always guessing" in ran.out
    assert re.search(r"^bad +15 ", ran.out, re.MULTILINE)


def test_json_is_one_object_with_the_scores_at_its_top(shell, project):
    ran = shell("evaluate", project.model, project.test, *COLUMNS, "--json")
    assert ran.code == 0 and ran.out.count("\n") == 1
    found = json.loads(ran.out)
    assert found["accuracy"] > 0.9 and found["macro_f1"] > 0.9
    assert found["document_count"] == 30 and found["data"]["rows"]["rows"] == 30
    assert Evaluation.from_json(ran.out).classes == ("bad", "good")


def test_quiet_still_prints_what_was_asked_for(shell, project):
    assert shell("evaluate", project.model, project.test, *COLUMNS, "--quiet").out == ""
    ran = shell("evaluate", project.model, project.test, *COLUMNS, "--quiet", "--json")
    assert json.loads(ran.out) and ran.err == ""


def test_the_report_is_one_page_or_json(shell, project, tmp_path):
    page, data = tmp_path / "report.html", tmp_path / "report.json"
    ran = shell("evaluate", project.model, project.test, *COLUMNS, "--out", page)
    assert ran.code == 0 and f"report written to {page}" in ran.err
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") or text.startswith("<!DOCTYPE html>")
    assert "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text
    shell("evaluate", project.model, project.test, *COLUMNS, "--out", data)
    assert json.loads(data.read_text())["accuracy"] > 0.9


def test_unknown_labels_and_bad_rows_are_counted(shell, project, tmp_path):
    given = rows(20, seed=2)
    given[4]["stars"], given[6]["stars"] = "ugly", ""
    path = write_csv(tmp_path / "test.csv", given)
    assert "the label is missing" in shell("evaluate", project.model, path, *COLUMNS).error
    arguments = ["evaluate", project.model, path, *COLUMNS, "--on-bad-row", "skip"]
    found = json.loads(shell(*arguments, "--json").out)
    assert found["document_count"] == 18
    assert found["data"]["unknown_label_rows"] == 1
    assert found["data"]["rows"]["skipped"] == [["missing label", 1]]
    shown = shell(*arguments).out
    assert "  1 skipped: 1 missing label" in shown
    assert "1 row not scored: their label is none that the model knows (ugly)" in shown


def test_training_texts_are_told_of(shell, project):
    shown = shell("evaluate", project.model, project.training, *COLUMNS).out
    assert re.search(r"^\d\d texts also in the training data: scores may flatter", shown, re.M)
    assert "% of the tokens are unknown to the model" in shown


def test_errors_are_one_line(shell, project, tmp_path):
    given = write_csv(tmp_path / "other.csv", [{**row, "stars": "new"} for row in rows(3, 0)])
    only_unknown = shell("evaluate", project.model, given, *COLUMNS).error
    assert "of 3 documents none has a label that the model knows (bad, good)" in only_unknown
    asked = ["evaluate", project.model, project.test, "--text-column", "text"]
    assert "it has id, review" in shell(*asked).error
    assert "there is no folder" in shell("evaluate", tmp_path / "no", project.test).error
    wrong = shell("evaluate", project.model, project.test, *COLUMNS, "--out", "report.pdf").error
    assert wrong == "report.pdf cannot be written; its name must end in .html or .json"


def test_a_wrong_suffix_is_told_before_any_work(shell, project, tmp_path):
    """Nothing but the kind of the model is looked at."""
    ran = shell("evaluate", project.model, tmp_path / "no data", "--out", "report.md")
    assert ran.error == "report.md cannot be written; its name must end in .html or .json"


def test_a_report_of_no_known_kind_is_not_written(tmp_path, fitted):
    from regard import Document

    found = fitted.evaluate([Document("a great film", "good")])
    with pytest.raises(ConfigError, match=r"must end in \.html or \.json"):
        write_report(found, tmp_path / "report", render)
    assert not list(tmp_path.iterdir())
