"""``regard audit``: how far a model's explanations can be trusted."""

import json

import pytest

from regard.records.audit import Audit
from support.cli_files import COLUMNS

QUICK = ["--limit", "6", "--method", "attention", "--no-needle"]


@pytest.fixture(scope="session")
def marked(project):
    """The test reviews with their first word marked, one of them not at all."""
    lines = []
    for number, line in enumerate(project.new.read_text().splitlines()):
        row = json.loads(line)
        spans = [{"start_char": 0, "end_char": 3}] if number else None
        lines.append(json.dumps({**row, "label": "good", "evidence": spans}) + "\n")
    path = project.folder / "marked.jsonl"
    path.write_text("".join(lines))
    return path


def test_json_has_one_object_a_method(shell, project, marked):
    ran = shell("audit", project.model, marked, "--evidence-column", "evidence", "--json", *QUICK)
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert {"auprc", "comprehensiveness", "sufficiency"} <= found["methods"]["attention"].keys()
    assert found["methods"]["random"].keys() == found["methods"]["attention"].keys()
    assert Audit.from_json(ran.out).data == "marked.jsonl"


def test_numbers_are_printed_beside_their_baselines(shell, project):
    ran = shell("audit", project.model, project.test, *COLUMNS, *QUICK)
    assert ran.code == 0
    assert "6 documents" in ran.out and "Comprehensiveness" in ran.out
    assert "random ranking" in ran.out and "Evidence" not in ran.out


def test_one_document_is_too_few_to_tell_anything(shell, project, tmp_path):
    page = tmp_path / "audit.html"
    arguments = ["audit", project.model, project.test, *COLUMNS, "--limit", "1", "--no-needle"]
    ran = shell(*arguments, "--out", page, "--json")
    told = "too few documents were measured, 1: below 6 nothing can be told apart from chance"
    found = json.loads(ran.out)
    assert found["warnings"][0].startswith(told) and "NaN" not in ran.out
    metrics = [metric for one in found["rankings"] for metric in one["metrics"]]
    assert metrics and all(metric["interval"] is None for metric in metrics)
    assert "cannot be judged by so few documents" in page.read_text(encoding="utf-8")
    assert "95 % interval" not in shell(*arguments).out


def test_the_report_is_a_page_and_other_models_are_compared(shell, project, tmp_path):
    page = tmp_path / "audit.html"
    arguments = ["--models", project.model, "--uniform", project.model, "--out", page]
    quick = ["--limit", "20", "--method", "attention"]  # so many have sentences enough to plant
    ran = shell("audit", project.model, project.test, *COLUMNS, *quick, *arguments)
    assert ran.code == 0 and ran.out.startswith("The default explanation of this model")
    assert "Comprehensiveness" not in ran.out, "all numbers are on the page"
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>") and "Shared top sentences" in text
    assert f"<title>Audit of {project.model.name} on {project.test.name}</title>" in text
    assert "Blind spots" in text and "Gap to even attention, trained" in text


def test_even_attention_is_trained_on_request(shell, project):
    ran = shell(
        *("audit", project.model, project.test, *COLUMNS, *QUICK, "--json"),
        *("--train-data", project.training),
    )
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)["measures"]
    assert {"uniform_gap_trained", "probe_attention", "probe_adversarial"} <= set(found)


def test_the_same_seed_audits_the_same(shell, project):
    arguments = ["audit", project.model, project.test, *COLUMNS, *QUICK, "--json", "--seed", 3]
    assert shell(*arguments).out == shell(*arguments).out


def test_errors_are_one_line(shell, project):
    model, test = project.model, project.test
    wrong = shell("audit", model, test, *COLUMNS, "--out", "audit.pdf").error
    assert wrong == "audit.pdf cannot be written; its name must end in .html or .json"
    missing = shell("audit", model, test, *COLUMNS, *QUICK, "--evidence-column", "marks").error
    assert "no column 'marks' of evidence; there are id, author, day" in missing
    assert (
        "did you mean 'attention'"
        in shell("audit", model, test, *COLUMNS, "--method", "atention").error
    )
    both = shell("audit", model, test, "--uniform", model, "--train-data", test)
    assert both.code == 2 and "either --uniform or --train-data" in both.err
