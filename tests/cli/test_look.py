"""``regard look``: attention over a whole corpus."""

import json

from regard.records.look import Look
from support.cli_files import COLUMNS


def test_the_terminal_shows_every_part(shell, project):
    ran = shell("look", project.model, project.test, *COLUMNS, "--word", "film", "--word", "great")
    assert ran.code == 0 and ran.err == ""
    for part in ("Looked through 30 documents.", "‘film’ by answer", "great (", "What decides for"):
        assert part in ran.out


def test_json_and_page_hold_the_same(shell, project, tmp_path):
    page = tmp_path / "look.html"
    ran = shell("look", project.model, project.test, *COLUMNS, "--json", "--out", page)
    found = Look.from_json(ran.out)
    assert ran.code == 0 and f"written to {page}" in ran.err
    assert found.documents == found.labelled == 30
    assert found.title == "model on test.csv"
    assert "Deciding sentences" in page.read_text(encoding="utf-8")
    saved = tmp_path / "look.json"
    shell("look", project.model, project.test, *COLUMNS, "--out", saved, "--quiet")
    assert json.loads(saved.read_text(encoding="utf-8")) == json.loads(ran.out)


def test_data_without_labels_are_looked_through_too(shell, project):
    ran = shell("look", project.model, project.new, "--unlabelled", "--limit", "5")
    assert ran.code == 0 and "Looked through 5 documents." in ran.out
    assert "suspicious" not in ran.out


def test_errors_are_one_line(shell, project, tmp_path):
    look = ["look", project.model]
    assert (
        "no word 'graet'; did you mean 'great'"
        in shell(*look, project.test, *COLUMNS, "--word", "graet").error
    )
    assert "has no column 'stars'" in shell(*look, project.new).error
    assert "must end in .html or .json" in shell(*look, project.new, "--out", "a.pdf").error
    (tmp_path / "empty.csv").write_text("text,label\n")
    assert "no documents to look through" in shell(*look, tmp_path / "empty.csv").error
