"""``regard predict``: labels and probabilities for new documents."""

import csv
import errno
import json
import os
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from regard import DocumentClassifier
from regard.data.readers import read_documents
from support.cli_files import COLUMNS, rows, write_csv
from support.reviews import reviews, tagged, tiny

TEXTS = reviews(25)[0]


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def expected(project):
    return DocumentClassifier.load(project.model).predict_proba(TEXTS)


def test_json_lines_keep_order_count_and_columns(shell, project, expected, tmp_path):
    """000-15: with probabilities; what came with a document goes with it."""
    out = tmp_path / "predictions.jsonl"
    ran = shell("predict", project.model, project.new, "--out", out)
    assert ran.code == 0 and ran.out == ""
    assert f"25 predictions written to {out}" in ran.err
    found = lines_of(out)
    assert [row["id"] for row in found] == list(range(25))
    assert [row["text"] for row in found] == TEXTS
    likely = [[row["probabilities"][name] for name in ("bad", "good")] for row in found]
    np.testing.assert_allclose(likely, expected, atol=1e-12)
    assert [row["predicted"] for row in found] == [("bad", "good")[n] for n in expected.argmax(1)]
    assert [row["probability"] for row in found] == pytest.approx(expected.max(1).tolist())


def test_csv_can_be_evaluated_again(shell, project, tmp_path):
    """000-15: true, predicted and text in one file."""
    out = tmp_path / "predictions.csv"
    ran = shell("predict", project.model, project.test, "--text-column", "review", "--out", out)
    assert ran.code == 0
    with out.open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    given = rows(30, seed=1)
    assert list(found[0]) == [
        *("id", "review", "stars", "author", "day"),
        *("predicted", "probability", "probabilities"),
    ]
    assert [row["id"] for row in found] == [row["id"] for row in given]
    assert [row["review"] for row in found] == [row["review"] for row in given]
    assert set(json.loads(found[0]["probabilities"])) == {"bad", "good"}
    judged = shell("evaluate", project.model, out, *COLUMNS, "--json")
    right = sum(row["stars"] == row["predicted"] for row in found)
    assert json.loads(judged.out)["accuracy"] == right / 30


@pytest.mark.parametrize("suffix", ["tsv", "parquet", "ndjson"])
def test_other_formats_hold_the_same(shell, project, expected, tmp_path, suffix):
    out = tmp_path / f"predictions.{suffix}"
    assert shell("predict", project.model, project.new, "--out", out, "-q").code == 0
    if suffix == "parquet":
        found = pyarrow.parquet.read_table(out).to_pylist()
    elif suffix == "tsv":
        with out.open(newline="") as file:
            found = list(csv.DictReader(file, delimiter="\t"))
    else:
        found = lines_of(out)
    assert [str(row["id"]) for row in found] == [str(n) for n in range(25)]
    np.testing.assert_allclose([float(row["probability"]) for row in found], expected.max(1))


def test_pipes_in_and_out(shell, project, expected):
    ran = shell("predict", project.model, "-", stdin=project.new.read_bytes())
    assert ran.code == 0
    found = [json.loads(line) for line in ran.out.splitlines()]
    assert [row["id"] for row in found] == list(range(25))
    assert "25 predictions written\n" in ran.err
    table = "id,text\n1,a great film\n2,\n"
    ran = shell("predict", project.model, "-", "--quiet", stdin=table.encode())
    assert ran.err == "" and [json.loads(line)["id"] for line in ran.out.splitlines()] == ["1", "2"]


def test_below_a_probability_no_label_is_given(shell, project, tmp_path):
    data = tmp_path / "new.jsonl"
    data.write_text('{"text": "great"}\n{"text": "unheard of"}\n')
    found = [json.loads(line) for line in shell("predict", project.model, data).out.splitlines()]
    threshold = str((found[0]["probability"] + found[1]["probability"]) / 2)
    ran = shell("predict", project.model, data, "--abstain-below", threshold)
    answers = [json.loads(line)["predicted"] for line in ran.out.splitlines()]
    assert answers == ["good", None]
    told = f"1 of 2 are given no label: their probability is below {float(threshold):g}\n"
    assert told in ran.err, "an empty cell is no surprise"
    assert "no label" not in shell("predict", project.model, data).err
    out = tmp_path / "answers.csv"
    ran = shell("predict", project.model, data, "--abstain-below", threshold, "--out", out)
    assert told in ran.err


def test_whole_number_labels_stay_numbers(shell, tmp_path):
    texts, labels = reviews(30)
    tiny(training__epochs=1).fit(texts, [{"bad": 1, "good": 5}[label] for label in labels]).save(
        tmp_path / "model"
    )
    (tmp_path / "new.jsonl").write_text('{"text": "a great film"}\n')
    ran = shell("predict", tmp_path / "model", tmp_path / "new.jsonl")
    assert json.loads(ran.out)["predicted"] in (1, 5)


def test_several_labels_come_as_a_list(shell, fitted_tags, tmp_path):
    fitted_tags.save(tmp_path / "model")
    texts = tagged(5)[0]
    data = tmp_path / "new.jsonl"
    data.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    found = [
        json.loads(line) for line in shell("predict", tmp_path / "model", data).out.splitlines()
    ]
    assert [tuple(row["predicted"]) for row in found] == list(fitted_tags.predict(texts))
    for row in found:
        whole = np.prod([max(p, 1 - p) for p in row["probabilities"].values()])
        assert row["probability"] == pytest.approx(whole), "of the whole answer, none included"


def test_what_weighed_most_can_be_added(shell, project):
    """000-15: predictions with explanations."""
    ran = shell("predict", project.model, project.new, "--explain")
    classifier = DocumentClassifier.load(project.model)
    for line, text in zip(ran.out.splitlines(), TEXTS, strict=True):
        row = json.loads(line)
        found = classifier.explain(text)
        assert row["heaviest_sentences"][0]["text"] == found.sentences(1)[0].text
        assert row["verdict"] == found.receipt.verdict
        for piece in row["heaviest_sentences"] + row["heaviest_words"]:
            assert text[piece["start"] : piece["end"]] == piece["text"]
    ran = shell("predict", project.model, project.new, "--explain", "--no-receipt")
    assert "heaviest_words" in ran.out and "verdict" not in ran.out


def test_bad_rows_are_told_of(shell, project, tmp_path):
    data = tmp_path / "new.jsonl"
    data.write_text('{"text": "great"}\n{"text": 3}\nno json\n{"text": "dull"}\n')
    assert shell("predict", project.model, data).err.startswith(f"error: {data}:2: ")
    ran = shell("predict", project.model, data, "--on-bad-row", "skip")
    assert ran.code == 0 and len(ran.out.splitlines()) == 2
    assert "2 skipped: 1 wrong type, 1 broken JSON" in ran.err


def test_nothing_half_written_is_left(shell, project, tmp_path):
    data, out = tmp_path / "new.jsonl", tmp_path / "out.csv"
    data.write_text('{"text": "great"}\nno json\n')
    assert "new.jsonl:2" in shell("predict", project.model, data, "--out", out).error
    assert [path.name for path in tmp_path.iterdir()] == ["new.jsonl"]


def test_a_column_is_never_replaced_unasked(shell, project, tmp_path):
    path = write_csv(tmp_path / "new.csv", [{"text": "great", "predicted": "by hand"}])
    error = shell("predict", project.model, path).error
    assert (
        error
        == "the data have a column 'predicted', which the predictions would replace; rename it"
    )


def test_another_column_called_text_is_carried(shell, project, tmp_path):
    path = write_csv(tmp_path / "new.csv", [{"text": "a title", "review": "a great film"}])
    row = json.loads(shell("predict", project.model, path, "--text-column", "review").out)
    assert row["text"] == "a title" and row["review"] == "a great film"


def test_an_empty_file_gives_an_empty_file(shell, project, tmp_path):
    (tmp_path / "new.csv").write_text("id,text\n")
    for suffix in ("jsonl", "csv", "parquet"):
        out = tmp_path / f"out.{suffix}"
        assert shell("predict", project.model, tmp_path / "new.csv", "--out", out).code == 0
        assert out.exists()


def test_odd_texts_come_through_unaltered(shell, project, tmp_path):
    texts = ["", " \t", "a\nb\r\n", "\ud800 lone", "nul \x00", "🎬 ناجح", '"quoted", ; | <b>']
    data = tmp_path / "new.jsonl"
    data.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    found = [json.loads(line) for line in shell("predict", project.model, data).out.splitlines()]
    assert [row["text"] for row in found] == texts
    shell("predict", project.model, data, "--out", tmp_path / "out.csv")
    again = [document.text for document in read_documents(tmp_path / "out.csv", _unlabelled())]
    assert again == [text.replace("\ud800", "\\ud800") for text in texts]


def _unlabelled():
    from regard.data.columns import Columns

    return Columns(label=None)


def test_errors_are_one_line(shell, project, tmp_path):
    assert (
        "a.doc cannot be written; its name must end in .csv or "
        in shell("predict", project.model, project.new, "--out", "a.doc").error
    )
    assert "did you mean" in shell("predict", project.model, project.folder / "new.json").error


@pytest.fixture
def unfinished(shell, project, tmp_path, monkeypatch):
    """Predict a folder or a file, and fail when the output gets its name."""
    rename = Path.replace

    def full(path, target):
        if Path(target).name == "out.jsonl":
            raise OSError(errno.ENOSPC, "No space left on device", str(target))
        return rename(path, target)

    def predict(data):
        command = ["predict", project.model, data, "--out", tmp_path / "out.jsonl"]
        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", full)
            assert "out.jsonl: No space left" in shell(*command).error
        return [*command, "--resume"]

    return predict


def test_a_folder_that_got_new_files_is_not_gone_on_with(shell, unfinished, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in ("b", "c"):
        (folder / f"{name}.txt").write_text("a great film")
    command = unfinished(folder)
    (folder / "a.txt").write_text("a dull film")
    error = shell(*command).error
    assert "begun with data" in error and "2 texts" in error and "3 texts" in error
    assert error.endswith(f"delete {tmp_path / 'out.jsonl.progress'} to start again")
    (folder / "a.txt").unlink()
    assert shell(*command).code == 0
    assert [row["file"] for row in lines_of(tmp_path / "out.jsonl")] == ["b.txt", "c.txt"]


def test_a_file_that_was_changed_is_not_gone_on_with(shell, unfinished, tmp_path):
    data = tmp_path / "new.jsonl"
    data.write_text('{"text": "great"}\n')
    command = unfinished(data)
    data.write_text('{"text": "dull!"}\n')
    assert "begun with data" in shell(*command).error


def test_a_pipe_is_not_gone_on_with(shell, project, tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    command = ["predict", project.model, tmp_path / "pipe.jsonl", "--out", tmp_path / "out.jsonl"]
    assert "pipe.jsonl can be read only once" in shell(*command, "--resume").error


def test_csv_comes_back_as_it_was_written(shell, project, tmp_path):
    """As Excel in most of Europe writes it, the answers behind the columns that were there."""
    given = "id;review;note\r\n1;good, fine;=1+1\r\n2;bad;schön\r\n"
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text(given, encoding="utf-8-sig", newline="")
    arguments = ("predict", project.model, path, "--text-column", "review", "--out", out, "-q")
    assert shell(*arguments).code == 0
    written = out.read_bytes().decode("utf-8").split("\r\n")
    assert written[0] == "\ufeffid;review;note;predicted;probability;probabilities"
    assert written[1].startswith("1;good, fine;=1+1;") and written[2].startswith("2;bad;schön;")
    assert shell(*arguments, "--protect-formulas").code == 0
    assert "1;good, fine;'=1+1;" in out.read_text(encoding="utf-8")


def test_formulas_are_a_matter_of_csv(shell, project, tmp_path):
    ran = shell("predict", project.model, project.new, "--protect-formulas")
    assert ran.error == "--protect-formulas is for .csv and .tsv, not for -"


@pytest.mark.parametrize("more", [["--shard", "1/2"], ["--resume"], ["--encoding", "latin-1"]])
def test_what_ray_does_itself_cannot_be_asked_for_beside_it(shell, project, tmp_path, more):
    ran = shell("predict", project.model, project.new, "--out", tmp_path / "out", "--ray", *more)
    assert ran.error == f"{more[0]} cannot be used with --ray, which reads and writes by itself"
