"""``regard explain``: on your own words, what decided."""

import json

import pytest

from regard import DocumentClassifier, Explanation, HANConfig, TrainingConfig
from support.reviews import reviews

TEXT = "The film was long. We saw a great story!"


def test_a_text_is_shown_on_the_terminal(shell, project):
    ran = shell("explain", project.model, "--text", TEXT)
    assert ran.code == 0 and ran.err == ""
    assert ran.out.startswith("good ") and "Heaviest words: " in ran.out
    assert "\x1b" not in ran.out, "no colour where there is no terminal"


@pytest.mark.parametrize("text", ["", "word", "<b>&\ud800", "🎬 ناجح 영화"])
def test_any_text_can_be_shown(shell, project, text):
    assert shell("explain", project.model, "--text", text).code == 0


def test_a_page_holds_every_document_of_a_file(shell, project, tmp_path):
    page = tmp_path / "page.html"
    ran = shell("explain", project.model, project.new, "--out", page)
    assert ran.code == 0 and f"written to {page}" in ran.err
    assert "explaining the first 20 documents; --limit explains more" in ran.err
    text = page.read_text(encoding="utf-8")
    assert "<html" in text and "https://" not in text
    ran = shell("explain", project.model, project.new, "--out", page, "--limit", "25", "--quiet")
    assert ran.err == "" and len(page.read_text(encoding="utf-8")) > len(text)


def test_json_can_be_read_back(shell, project, tmp_path):
    classifier = DocumentClassifier.load(project.model)
    for suffix in ("json", "jsonl"):
        out = tmp_path / f"found.{suffix}"
        shell("explain", project.model, project.new, "--limit", "3", "--out", out)
        text = out.read_text(encoding="utf-8")
        values = json.loads(text) if suffix == "json" else map(json.loads, text.splitlines())
        found = [Explanation.from_json(json.dumps(value)) for value in values]
        assert [explanation.source for explanation in found] == reviews(25)[0][:3]
        assert [explanation.label for explanation in found] == [
            explanation.label for explanation in classifier.explain(reviews(25)[0][:3])
        ]


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_a_picture_of_one_document(shell, project, tmp_path, suffix, start):
    out = tmp_path / f"picture.{suffix}"
    assert shell("explain", project.model, "--text", TEXT, "--out", out).code == 0
    assert out.read_bytes().startswith(start)
    many = shell("explain", project.model, project.new, "-q", "--out", tmp_path / f"many.{suffix}")
    assert "can hold one explanation, got 20; use --limit 1" in many.error
    assert not (tmp_path / f"many.{suffix}").exists()


def test_texts_come_through_a_pipe(shell, project):
    ran = shell("explain", project.model, "-", stdin=project.new.read_bytes())
    assert ran.code == 0 and ran.out.count("Heaviest words") == 20


def test_files_have_receipts_unless_they_are_not_wanted(shell, project, tmp_path):
    out = tmp_path / "found.jsonl"
    for options, known in (((), True), (("--no-receipt",), False)):
        assert shell("explain", project.model, project.new, "--out", out, *options).code == 0
        lines = out.read_text(encoding="utf-8").splitlines()
        found = [Explanation.from_json(line) for line in lines]
        assert {one.receipt is not None for one in found} == {known}


def test_json_is_printed_a_line_each(shell, project, tmp_path):
    given = ["explain", project.model, project.new, "--limit", "3", "-q"]
    ran = shell(*given, "--json")
    found = [Explanation.from_json(line) for line in ran.out.splitlines()]
    assert ran.code == 0 and len(found) == 3 and all(one.receipt for one in found)
    both = shell(*given, "--json", "--out", tmp_path / "page.html")
    assert both.out == ran.out and "<html" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_errors_are_one_line(shell, project, tmp_path):
    explain = ["explain", project.model]
    assert "did you mean" in shell(*explain, project.folder / "new.json").error
    wrong = shell(*explain, "--text", TEXT, "--out", "page.pdf").error
    assert wrong.startswith("page.pdf cannot be written; its name must end in .html or .json")
    method = shell(*explain, "--text", TEXT, "--method", "attentoin").error
    assert "method cannot be 'attentoin'; did you mean 'attention'" in method
    (tmp_path / "empty.csv").write_text("text\n")
    assert shell(*explain, tmp_path / "empty.csv").error.endswith("has no texts to explain")
    asked = ["--text-column", "text"]
    assert "has no column 'text'; it has id, review" in shell(*explain, project.test, *asked).error


def test_a_long_text_is_folded_on_the_terminal_unless_all_is_asked_for(shell, project):
    long = " ".join(f"Sentence {number} says little." for number in range(120)) + " It was great."
    folded = shell("explain", project.model, "--text", long, "--no-receipt")
    whole = shell("explain", project.model, "--text", long, "--no-receipt", "--all")
    assert "quiet sentences, " in folded.out and "quiet sentences" not in whole.out
    assert len(folded.out.splitlines()) < 100 < len(whole.out.splitlines())


def test_a_page_of_a_file_names_it_and_has_true_labels_and_receipts(shell, project, tmp_path):
    page = tmp_path / "page.html"
    shell("explain", project.model, project.test, "--limit", "2", "--out", page)
    text = page.read_text(encoding="utf-8")
    assert "<title>What decided: model on test.csv</title>" in text
    assert text.count("true label <b>") == 2 and text.count('class="rg-receipt') == 2


def test_heads_are_shown_where_there_are_some(shell, project, tmp_path):
    """004-13: a page, the terminal, and one line where a network has none."""
    ran = shell("explain", project.model, "--text", TEXT, "--heads", "last")
    assert ran.code == 1 and "no heads to show" in ran.err and ran.err.count("\n") == 1
    network = HANConfig(encoder="transformer", embedding_size=8, hidden_size=5)
    training = TrainingConfig(epochs=1, batch_size=8)
    classifier = DocumentClassifier(network, training=training, progress=False)
    classifier.fit(*reviews(24)).save(tmp_path / "model")
    page = tmp_path / "heads.html"
    ran = shell("explain", tmp_path / "model", "--text", TEXT, "--heads", "1.2", "--out", page)
    assert ran.code == 0 and "layer 1, head 2" in page.read_text(encoding="utf-8")
    ran = shell("explain", tmp_path / "model", "--text", TEXT, "--heads", "all")
    assert ran.code == 0 and "rollout: " in ran.out and "layer 1, head 5: " in ran.out
