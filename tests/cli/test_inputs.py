"""Commands read data as the training of their model did, and say so."""

import json
import re

import pytest

from regard import DocumentClassifier
from regard.cli.inputs import existing, near_file
from regard.errors import DataError
from regard.records.explanation import Explanation
from support.cli_files import COLUMNS, rows, write_csv
from support.reviews import FLAGS, tagged, tiny

AS_BEFORE = "read as in the training: --text-column review --label-column stars"


def timeless(printed):
    return re.sub(r'seconds": [0-9.e-]+', "", printed)


@pytest.mark.parametrize("command", ["evaluate", "look", "diff", "audit"])
def test_the_columns_of_the_training_are_read(shell, project, command):
    models = [project.model] * (2 if command == "diff" else 1)
    quick = {"audit": ["--limit", 3, "--no-needle"], "evaluate": []}.get(command, ["--limit", 5])
    ran = shell(command, *models, project.test, "--json", *quick)
    named = shell(command, *models, project.test, "--json", *quick, *COLUMNS)
    assert ran.code == 0 and timeless(ran.out) == timeless(named.out)
    assert ran.err == f"{AS_BEFORE}\n" and named.err == ""
    assert shell(command, *models, project.test, "--quiet", *quick).err == ""


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_the_text_is_found_where_no_label_is_needed(shell, project, command):
    ran = shell(command, project.model, project.test)
    assert ran.code == 0
    assert ran.err.startswith("read as in the training: --text-column review\n")
    assert ran.out == shell(command, project.model, project.test, "--text-column", "review").out


def test_the_usual_column_is_read_where_that_of_the_training_is_missing(shell, project):
    ran = shell("predict", project.model, project.new)
    told = f"{project.new} has no column 'review' as the training data had; column 'text' is read"
    assert f"{told} in its place\n" in ran.err
    assert "text" in json.loads(ran.out.splitlines()[0])
    error = shell("predict", project.model, project.new, "--text-column", "review").error
    assert "has no column 'review'; it has id, text; use --text-column" in error


@pytest.mark.parametrize("command", ["evaluate", "predict", "explain", "audit", "look", "diff"])
def test_a_file_in_the_place_of_the_model_is_told(shell, project, command):
    second = [project.model] if command == "diff" else []
    error = shell(command, project.test, project.model, *second).error
    told = f"{project.test} is a file and {project.model} a saved model: they are the wrong way"
    order = {"explain": "MODEL [DATA]", "diff": "OLD NEW DATA"}.get(command, "MODEL DATA")
    assert error == f"{told} round; it is regard {command} {order}"
    alone = shell(command, project.test, project.test, *second and [project.test]).error
    assert alone == f"{project.test} is a file; name the folder that regard train wrote"


def test_what_the_options_say_goes_first(shell, project, tmp_path):
    given = [{**row, "text": "a title", "label": "good"} for row in rows(5, seed=3)]
    path = write_csv(tmp_path / "both.csv", given)
    ran = shell("predict", project.model, path, "--text-column", "text")
    assert "read as in the training" not in ran.err
    assert json.loads(ran.out.splitlines()[0])["text"] == "a title"


def test_several_columns_make_one_text_in_every_command(shell, tmp_path):
    """They are remembered, read alike from every format, and handed back as they came."""
    given = [
        {"title": "A film", "note": "" if place % 3 else "seen twice", "review": row["review"]}
        | {"label": row["stars"]}
        for place, row in enumerate(rows(40, seed=0))
    ]
    data, model = write_csv(tmp_path / "data.csv", given), tmp_path / "model"
    named = ["--text-column", "title,note,review"]
    assert shell("train", data, *named, *FLAGS, "--epochs", 1, "--out", model, "-q").code == 0
    ran = shell("predict", model, data)
    assert ran.err.startswith("read as in the training: --text-column title,note,review\n")
    found = [json.loads(line) for line in ran.out.splitlines()]
    assert list(found[0])[:4] == ["title", "note", "review", "label"]
    assert [{name: row[name] for name in given[0]} for row in found] == given
    table = tmp_path / "data.jsonl"
    nulls = [{**row, "note": row["note"] or None} for row in given]
    table.write_text("".join(json.dumps(row) + "\n" for row in nulls))
    again = [json.loads(line) for line in shell("predict", model, table).out.splitlines()]
    assert [row["probabilities"] for row in again] == [row["probabilities"] for row in found]
    kept = tmp_path / "explained.jsonl"
    asked = ["--limit", 1, "--method", "attention", "--no-receipt"]
    assert shell("explain", model, data, *asked, "--out", kept).code == 0
    joined = f"A film\n\nseen twice\n\n{given[0]['review']}"
    assert Explanation.from_json(kept.read_text()).source == joined
    for command in ("evaluate", "look"):
        few = ["--limit", 5] if command == "look" else []
        assert shell(command, model, data, "-q", *few, "--out", tmp_path / "page.html").code == 0
    error = shell("audit", model, data, "--evidence-column", "note").error
    assert error == "evidence is offsets into one text; name one column by --text-column"


def test_several_labels_are_parted_as_in_the_training(shell, tmp_path):
    """Without the separator only the rows of one label were scored."""
    texts, labels = tagged(60)
    given = [
        {"body": text, "tags": "|".join(names) or "none"}
        for text, names in zip(texts, labels, strict=True)
    ]
    data = write_csv(tmp_path / "tags.csv", given)
    named = ["--text-column", "body", "--label-column", "tags", "--labels-separator", "|"]
    model = tmp_path / "model"
    assert shell("train", data, *named, *FLAGS, "--epochs", 1, "--out", model, "-q").code == 0
    ran = shell("evaluate", model, data, "--json")
    assert json.loads(ran.out)["document_count"] == 60
    assert ran.err.splitlines()[0].endswith("--labels-separator '|'")


@pytest.mark.parametrize("command", ["evaluate", "look", "diff", "audit"])
def test_a_document_without_any_label_is_no_bad_row_for_several(shell, tmp_path, command):
    """A model that learnt from lists remembers no separator."""
    texts, labels = tagged(40)
    model = tmp_path / "model"
    tiny(training__epochs=1).fit(texts, labels).save(model)
    given = [
        {"text": text, "label": ";".join(names) if place else ""}
        for place, (text, names) in enumerate(zip(texts, labels, strict=True))
    ]
    data = write_csv(tmp_path / "data.csv", given)
    models = [model] * (2 if command == "diff" else 1)
    quick = {"audit": ["--limit", 3, "--no-needle"], "evaluate": []}.get(command, ["--limit", 5])
    assert shell(command, *models, data, *quick).error == (
        f"{data}:2: the label is missing; a document may have none where --labels-separator says "
        "what stands between several; --on-bad-row skip leaves such rows out"
    )
    parted = shell(command, *models, data, *quick, "--labels-separator", ";")
    assert parted.code == 0, parted.err


def test_an_encoding_that_was_asked_for_is_remembered(shell, tmp_path):
    given = [{"text": f"größe {row['review']}", "label": row["stars"]} for row in rows(40, seed=0)]
    data = write_csv(tmp_path / "data.csv", given)
    data.write_bytes(data.read_text(encoding="utf-8").encode("cp437"))
    model = tmp_path / "model"
    asked = ["train", data, "--encoding", "cp437", *FLAGS, "--epochs", 1, "--out", model, "-q"]
    assert shell(*asked).code == 0
    ran = shell("predict", model, data)
    assert ran.err.startswith("read as in the training: --encoding cp437\n")
    assert json.loads(ran.out.splitlines()[0])["text"].startswith("größe")


def test_a_model_made_in_python_remembers_no_file(tmp_path):
    texts, labels = ["a great film", "a dull film"] * 10, ["good", "bad"] * 10
    tiny(training__epochs=1).fit(texts, labels).save(tmp_path / "model")
    facts = DocumentClassifier.load(tmp_path / "model").facts_
    assert not {"text_column", "label_column", "labels_separator", "encoding"} & facts.keys()


@pytest.mark.parametrize("command", ["look", "diff", "explain", "audit"])
def test_a_limit_of_any_size_is_a_limit(shell, project, tmp_path, command):
    """Issue 10: no number is too large to count to."""
    models = [project.model] * (2 if command == "diff" else 1)
    few = write_csv(tmp_path / "few.csv", rows(2, seed=3))
    quick = {"audit": ["--no-needle", "--method", "attention"], "explain": ["--no-receipt"]}
    asked = [command, *models, few, "-q", *quick.get(command, [])]
    assert shell(*asked, "--limit", 10**30).code == 0


@pytest.mark.parametrize("seed", [-1, 2**63])
@pytest.mark.parametrize("command", ["audit", "experiment", "demo"])
def test_a_seed_that_nothing_can_be_drawn_from_is_named(shell, project, tmp_path, command, seed):
    given = {"audit": [project.model, project.test], "experiment": ["scores", "--out", tmp_path]}
    given.setdefault("demo", ["--out", tmp_path])
    ran = shell(command, *given[command], f"--seed={seed}")
    assert ran.error == f"seed must lie between 0 and 2**63 - 1, got {seed}"


def test_what_exists_is_returned(tmp_path):
    assert existing(str(tmp_path)) == str(tmp_path)
    assert existing("-") == "-", "standard input"


def test_a_missing_file_is_named_with_the_one_that_was_meant(tmp_path):
    (tmp_path / "reviews.csv").write_text("")
    with pytest.raises(DataError, match=r"no file .*/review.csv; did you mean .*/reviews.csv\?"):
        existing(str(tmp_path / "review.csv"))
    assert near_file(str(tmp_path / "zzz.parquet")) == "check the name and the folder"
    assert near_file("no/such/folder/a.csv") == "check the name and the folder"


@pytest.mark.parametrize("times", [1, 500])
def test_a_text_in_place_of_a_file_is_told_where_it_belongs(shell, project, times):
    ran = shell("explain", project.model, "Nice and warm. " * times)
    assert ran.error.startswith("there is no file 'Nice and warm. ") and len(ran.error) < 200
    assert ran.error.endswith("; to explain a text itself, give it as --text")
    missing = shell("explain", project.model, "a b.csv")
    assert missing.error == "there is no file a b.csv; check the name and the folder"
    long = shell("predict", project.model, "x" * 5000)
    assert long.error.startswith("there is no file xxx") and long.error.count("x") < 500
