"""``regard compare``: a page, a picture and numbers; started again it goes on."""

import json

import pytest

from support.cli_files import COLUMNS

PLAIN = ["--models", "majority,tfidf", "--seeds", "2"]


@pytest.fixture(scope="module")
def compared(shell, project, tmp_path_factory):
    out = tmp_path_factory.mktemp("compare") / "page.html"
    asked = ["compare", project.training, "--test", project.test, *COLUMNS, *PLAIN, "--out", out]
    return asked, out, shell(*asked)


def test_it_writes_a_page_and_a_picture_and_prints_a_table(compared):
    _, out, ran = compared
    assert ran.code == 0
    assert "TF-IDF + linear" in ran.out and "most frequent class" in ran.out
    assert out.read_text().startswith("<!DOCTYPE html>")
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert "(2 of 2 done)" in ran.err


def test_started_again_it_trains_nothing(compared, shell):
    asked, out, _ = compared
    again = shell(*asked, "--json")
    assert f"2 of 2 trainings are kept in {out.with_name('page.trainings')}" in again.err
    assert json.loads(again.out)["test_documents"] == 30


def test_again_trains_anew(compared, shell):
    asked, _, _ = compared
    assert "kept" not in shell(*asked, "--again", "--no-picture").err


def test_without_test_data_a_fifth_is_held_out(shell, project, tmp_path):
    out = tmp_path / "numbers.json"
    ran = shell("compare", project.training, *COLUMNS, *PLAIN, "--out", out, "-q", "--no-picture")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    found = json.loads(out.read_text())
    assert (found["training_documents"], found["test_documents"]) == (64, 16)
    assert not out.with_suffix(".png").exists()


def test_test_texts_that_were_learnt_from_are_told(shell, project, tmp_path):
    lines = project.training.read_text().splitlines(keepends=True)
    test = tmp_path / "test.csv"
    test.write_text("".join(lines[:9]))
    ran = shell(
        *("compare", project.training, "--test", test, *COLUMNS, *PLAIN, "--no-picture"),
        *("--out", tmp_path / "page.html"),
    )
    assert "! 8 test texts are training texts too: scores may flatter" in ran.err


def test_a_picture_replaces_nothing_that_is_read(shell, project, tmp_path):
    (tmp_path / "page.png").write_bytes(project.training.read_bytes())
    ran = shell("compare", tmp_path / "page.png", *COLUMNS, "--out", tmp_path / "page.html")
    assert "write to another file" in ran.error


def test_mistakes_are_one_line(shell, project, tmp_path):
    out = ["--out", tmp_path / "page.html"]
    ran = shell("compare", project.training, *COLUMNS, "--models", "majority,tfdif", *out)
    assert "did you mean 'tfidf'?" in ran.error
    ran = shell("compare", project.training, *COLUMNS, "--test", project.training, *out)
    assert "give other documents" in ran.error
    ran = shell("compare", tmp_path / "nothing.csv", *out)
    assert "there is no file" in ran.error


def test_the_help_names_every_contender(shell):
    from regard.arena.contenders import CONTENDERS

    shown = "".join(shell("compare", "--help").out.split())
    assert all(name in shown for name in CONTENDERS)
