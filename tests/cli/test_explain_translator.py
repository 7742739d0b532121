"""``regard explain`` and ``evaluate --links`` on a translator: where it looked."""

import json

import pytest

from regard.records.alignment import Alignment
from support.aligned import KOREAN
from support.parrots import new_translator, parrots

TEXT = "a b c"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A translator that has learnt little: what it writes does not matter here."""
    folder = tmp_path_factory.mktemp("model") / "model"
    made = new_translator(training__epochs=3, training__monitor="loss").fit(*parrots(100))
    made.save(folder)
    return folder


def test_the_matrix_is_shown_on_the_terminal(shell, model):
    """002-15: a text, and where each piece of its translation looked."""
    ran = shell("explain", model, "--text", TEXT)
    assert ran.code == 0 and ran.err == "" and ran.out.startswith("a b c\n")
    assert "A piece looked at" in ran.out and "of 3 pieces of the source" in ran.out
    assert "\x1b" not in ran.out, "no colour where there is no terminal"


@pytest.mark.parametrize("text", ["", " ", "<b>&", KOREAN, "\x1b[31m"])
def test_any_text_can_be_shown(shell, model, text):
    for options in ((), ("--whole-words", "--n-best", 2)):
        assert shell("explain", model, "--text", text, *options).code == 0


@pytest.mark.parametrize(
    ("suffix", "start"), [("html", b"<!DOCTYPE"), ("svg", b"<?xml"), ("png", b"\x89PNG")]
)
def test_it_is_written_where_asked(shell, model, tmp_path, suffix, start):
    """004-05: exported as a page and as a picture."""
    out = tmp_path / f"looked.{suffix}"
    ran = shell("explain", model, "--text", TEXT, "--out", out)
    assert f"written to {out}" in ran.err and out.read_bytes().startswith(start)


def test_json_can_be_read_back(shell, model, tmp_path):
    """004-05: exportable data."""
    (tmp_path / "new.txt").write_text("a b\nc d e\n")
    for suffix in ("json", "jsonl"):
        out = tmp_path / f"looked.{suffix}"
        shell("explain", model, tmp_path / "new.txt", "--n-best", 2, "--out", out)
        text = out.read_text()
        values = json.loads(text) if suffix == "json" else map(json.loads, text.splitlines())
        found = [Alignment.from_json(json.dumps(value)) for value in values]
        assert [one.source for one in found] == ["a b", "a b", "c d e", "c d e"]


def test_several_translations_are_on_one_page(shell, model, tmp_path):
    out = tmp_path / "page.html"
    shell("explain", model, "--text", TEXT, "--n-best", 3, "--out", out)
    assert out.read_text().count('<table class="rg-matrix"') == 3
    picture = shell("explain", model, "--text", TEXT, "--n-best", 3, "--out", tmp_path / "x.png")
    assert "can hold one alignment, got 3; use --limit 1 and --n-best 1" in picture.error


def test_options_of_the_other_kind_are_refused(shell, model, project):
    ran = shell("explain", model, "--text", TEXT, "--label", "good")
    assert "--label is for classifiers" in ran.error and "holds a translator" in ran.error
    ran = shell("explain", project.model, "--text", TEXT, "--n-best", 2)
    assert "--n-best is for translators" in ran.error
    ran = shell("evaluate", project.model, project.test, "--links", "gold.txt")
    assert "--links is for translators" in ran.error


def test_known_links_give_an_alignment_error_rate(shell, model, tmp_path):
    """002-15: AER where gold alignments exist."""
    pytest.importorskip("sacrebleu", reason="the extra translate is not installed")
    data, gold = tmp_path / "test.tsv", tmp_path / "gold.txt"
    data.write_text("source\ttarget\na b\tA B\nc d\tC D\n")
    gold.write_text("0-0 1-1\n0-0 1?1\n")
    ran = shell("evaluate", model, data, "--links", gold, "--json")
    scores = json.loads(ran.out)["alignment"]
    assert (scores["pairs"], scores["links"]) == (2, 4) and 0 <= scores["error_rate"] <= 1
    assert "alignment error rate" in shell("evaluate", model, data, "--links", gold).out
    gold.write_text("0-0\n")
    wrong = shell("evaluate", model, data, "--links", gold, "-q").error
    assert "has links of 1 pairs, but there are 2 pairs" in wrong
    missing = shell("evaluate", model, data, "--links", tmp_path / "gld.txt", "-q").error
    assert "did you mean" in missing


def test_texts_and_files_have_receipts_unless_they_are_not_wanted(shell, model, tmp_path):
    said = "The source decides none of these pieces"  # the network has hardly learnt anything
    assert said in shell("explain", model, "--text", TEXT, "--whole-words").out
    assert said not in shell("explain", model, "--text", TEXT, "--no-receipt").out
    out = tmp_path / "looked.jsonl"
    (tmp_path / "new.txt").write_text("a b c d\n")
    for options, known in (((), True), (("--no-receipt",), False)):
        assert shell("explain", model, tmp_path / "new.txt", "--out", out, *options).code == 0
        assert (Alignment.from_json(out.read_text()).receipt is not None) is known


def test_an_audit_of_a_translator_measures_its_looks(shell, tmp_path):
    model = tmp_path / "model"
    new_translator(training__epochs=12, training__monitor="loss").fit(*parrots(100)).save(model)
    data, page = tmp_path / "new.csv", tmp_path / "audit.html"
    data.write_text("text\n" + "\n".join(parrots(12, seed=2)[0]) + "\n")
    ran = shell("audit", model, data, "--text-column", "text", "--limit", 8, "--out", page)
    assert ran.code == 0, ran.err
    assert "Measured on 8 documents of new.csv" in ran.out
    assert "Lost without what was looked at" in ran.out and "random pieces" in ran.out
    assert "Looks that matter" in page.read_text() and "Looking" in page.read_text()
    found = json.loads(shell("audit", model, data, "--text-column", "text", "--json").out)
    looks = {"source_decides", "looked_at_drop", "looked_at_better"}
    assert found["methods"]["attention"].keys() == looks
    refused = shell("audit", model, data, "--method", "erasure")
    assert refused.code == 1 and "holds a translator" in refused.error


def test_an_audit_says_where_nothing_depends_on_the_source(shell, model, tmp_path):
    """No look is worth anything then: that is told, and not that there is nothing to warn of."""
    (tmp_path / "new.csv").write_text("text\n" + "\n".join(parrots(8, seed=2)[0]) + "\n")
    ran = shell("audit", model, tmp_path / "new.csv", "--text-column", "text")
    assert "There is 1 warning" in ran.out and "does not depend on its source" in ran.out
    assert "Decided by the source" in ran.out and "Lost without" not in ran.out
