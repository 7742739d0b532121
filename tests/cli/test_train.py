"""``regard train``: from a file of labelled texts to a saved model."""

import json
import os
import re
import shutil
import signal
import threading
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from regard import DocumentClassifier
from regard.cli.tasks.classifier_training import _describe_training
from regard.cli.training import describe_end
from regard.data.locks import hold_lock
from regard.data.readers import read_texts
from regard.estimators.fitting import FitOptions
from regard.training.observers import Observer
from support.cli_files import COLUMNS, rows, write_csv
from support.ctrl_c import ctrl_c
from support.reviews import FLAGS, reviews, tagged, tiny

ONE_EPOCH = [*FLAGS, "--epochs", "1", "--no-baseline"]


def test_it_says_what_it_found_how_it_went_and_what_to_do_next(project):
    lines = project.printed.err.splitlines()
    assert project.printed.code == 0 and project.printed.out == ""
    assert lines[0].startswith("72 training documents, 8 held out, ")
    assert "2 classes, one per document: bad 36, good 36" in lines
    assert f"{project.training}: 80 rows read" in lines
    assert any(line.startswith("training takes about ") for line in lines)
    epochs = [line for line in lines if line.startswith("epoch ")]
    assert len(epochs) == 8
    assert all("loss" in line and "accuracy" in line and "documents/s" in line for line in epochs)
    assert any(line.startswith("best epoch ") and "held-out" in line for line in lines)
    assert f"saved to {project.model}" in lines
    evaluate = f"regard evaluate {project.model} TEST.csv --out report.html"
    assert lines[-2].strip() == evaluate, "with the columns that were given"


def test_so_few_steps_that_little_was_learnt_are_told_of(shell, project, tmp_path):
    given = ["train", project.training, *COLUMNS, *ONE_EPOCH, "--out", tmp_path / "model"]
    assert "make 5 steps of training, which teach little" in shell(*given).err
    assert "which teach little" not in project.printed.err


def test_the_model_is_what_python_would_have_made(project):
    classifier = DocumentClassifier.load(project.model)
    assert classifier.network.hidden_size == 8 and classifier.training.epochs == 8
    assert classifier.baseline_ is not None
    assert classifier.facts_["data"] == "train.csv" and classifier.facts_["rows_skipped"] == 0
    assert "| data | `train.csv` |" in (project.model / "card.md").read_text()
    texts, labels = reviews(30, seed=1)
    assert classifier.score(texts, labels) > 0.9
    assert [path.name for path in project.folder.glob("model*")] == ["model"]


def test_the_same_command_gives_the_same_bits(shell, project, tmp_path):
    for name in ("a", "b"):
        made = shell("train", project.training, *COLUMNS, *ONE_EPOCH, "--out", tmp_path / name)
        assert made.code == 0
    first, second = (tmp_path / name / "weights.safetensors" for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()
    again = ["train", project.training, *COLUMNS, *ONE_EPOCH, "--out", tmp_path / "a"]
    assert shell(*again, "--overwrite", "--seed", "1").code == 0
    assert first.read_bytes() != second.read_bytes()


def test_quiet_is_silent(shell, project, tmp_path):
    ran = shell(
        "train", project.training, *COLUMNS, *ONE_EPOCH, "--quiet", "--out", tmp_path / "model"
    )
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_columns_default_to_text_and_label(shell, tmp_path):
    texts, labels = reviews(24)
    data = [{"text": text, "label": label} for text, label in zip(texts, labels, strict=True)]
    path = write_csv(tmp_path / "data.csv", data)
    assert shell("train", path, *ONE_EPOCH, "--out", tmp_path / "model").code == 0


def test_every_kind_of_file_gives_the_same_model(shell, tmp_path):
    """001-15: a table, lines, columns, or a folder for each label."""
    texts, labels = reviews(24)
    data = [{"text": text, "label": label} for text, label in zip(texts, labels, strict=True)]
    write_csv(tmp_path / "data.csv", data)
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in data))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(data), tmp_path / "data.parquet")
    for number, row in enumerate(data):
        place = tmp_path / "folder" / row["label"] / f"{number:03}.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(row["text"])
    found = {}
    for name in ("data.csv", "data.jsonl", "data.parquet", "folder"):
        ran = shell("train", tmp_path / name, *ONE_EPOCH, "--out", tmp_path / f"{name} model")
        assert ran.code == 0, ran.err
        found[name] = DocumentClassifier.load(tmp_path / f"{name} model")
    expected = found["data.csv"].predict_proba(texts)
    for name in ("data.jsonl", "data.parquet"):
        assert np.array_equal(found[name].predict_proba(texts), expected)
    assert found["folder"].facts_["training_documents"] == 22, "in another order"


def test_a_file_to_validate_on(shell, project, tmp_path):
    arguments = ["train", project.training, *COLUMNS, *ONE_EPOCH]
    given = rows(80, seed=0)[:2] + rows(6, seed=1)  # the first two are training documents
    path = write_csv(tmp_path / "valid.csv", given)
    ran = shell(*arguments, "--validation", path, "--out", tmp_path / "model")
    assert ran.code == 0
    assert ran.err.startswith("80 training documents, 8 held out")
    assert f"{path}: 8 rows read" in ran.err
    assert "2 of 8 validation documents are training documents too" in ran.err
    facts = DocumentClassifier.load(tmp_path / "model").facts_
    assert facts["data"] == "train.csv, valid.csv"


def test_texts_of_the_test_file_are_looked_for_among_the_training_ones(shell, project, tmp_path):
    """D4: and the file that is tested on is refused as the one that training stops by."""
    arguments = ["train", project.training, *COLUMNS, *ONE_EPOCH, "--out", tmp_path / "model"]
    given = rows(80, seed=0)[:3] + rows(6, seed=1)
    path = write_csv(tmp_path / "test.csv", given)
    ran = shell(*arguments, "--validation", "0", "--test", path)
    assert ran.code == 0
    assert "! 3 of 9 test documents are training documents too" in ran.err
    assert ran.err.startswith("80 training documents, "), "they are not trained on"
    refused = shell(*arguments, "--overwrite", "--validation", path, "--test", path)
    assert refused.code == 1
    assert "--validation and --test are both" in refused.err


def test_nothing_held_out_is_said(shell, project, tmp_path):
    arguments = ["train", project.training, *COLUMNS, *ONE_EPOCH, "--validation", "0"]
    ran = shell(*arguments, "--out", tmp_path / "model")
    assert "nothing was held out, so how good it is was not measured" in ran.err


@pytest.mark.parametrize("split", ["--group-column author", "--time-column day"])
def test_groups_and_times_decide_what_is_held_out(shell, project, tmp_path, split):
    ran = shell(
        "train", project.training, *COLUMNS, *ONE_EPOCH, *split.split(), "--out", tmp_path / "model"
    )
    assert ran.code == 0
    # Eight authors of ten texts each, or the last eight days.
    held_out = 10 if "author" in split else 8
    assert DocumentClassifier.load(tmp_path / "model").facts_["validation_documents"] == held_out


def test_a_recipe_changes_settings_and_what_is_asked_for_by_name_wins(shell, project, tmp_path):
    """13.3: --recipe fast | balanced | accurate, and one line that says what was picked."""
    asked = ["train", project.training, *COLUMNS, "--recipe", "fast"]
    small = ["--set", "network.hidden_size=8", "--set", "network.embedding_size=16"]
    ran = shell(*asked, *small, "--out", tmp_path / "m")
    assert "recipe fast, a short training of a small network; word vectors " in ran.err
    classifier = DocumentClassifier.load(tmp_path / "m")
    assert (classifier.training.epochs, classifier.network.embedding_size) == (3, 16)
    wrong = shell(*asked[:-1], "quick", "--out", tmp_path / "n")
    assert wrong.code == 1 and "there are accurate, balanced, fast" in wrong.err


def test_several_seeds_are_one_model(shell, project, tmp_path):
    """13.3: --seeds trains an ensemble, saved as one model that every command takes."""
    asked = ["train", project.training, *COLUMNS, *ONE_EPOCH, "--seeds", 2]
    ran = shell(*asked, "--out", tmp_path / "model")
    assert ran.code == 0
    told = "2 networks together with n-grams (accuracy of the first network alone "
    assert any(line.startswith(told) for line in ran.err.splitlines())
    assert json.loads(shell("info", tmp_path / "model", "--json").out)["seeds"] == 2
    for command in ("evaluate", "look"):
        assert shell(command, tmp_path / "model", project.test, *COLUMNS, "-q").code == 0
    ran = shell("diff", project.model, tmp_path / "model", project.test, *COLUMNS, "--json")
    assert ran.code in (0, 3) and json.loads(ran.out)["documents"] == 30
    refused = shell("train", project.training, "--task", "translate", "--seeds", 2, "--out", "x")
    assert "--seeds cannot be used with --task translate" in refused.err


def test_the_score_after_a_training_is_that_of_the_model(project):
    """13.4: the facts, and what is printed, are of network and n-grams together."""
    classifier = DocumentClassifier.load(project.model)
    score = classifier.facts_["validation_accuracy"]
    (line,) = (one for one in project.printed.err.splitlines() if one.startswith("best epoch "))
    alone = classifier.history_.best.validation_accuracy
    assert f"with n-grams (accuracy of the network alone {alone:.4f})" in line
    assert f": accuracy {score:.4f} and macro-F1" in line


def test_few_documents_are_dealt_out_to_folds_and_that_is_said(shell, tmp_path):
    """13.2: the line of the recipe, and whose score is printed."""
    data = tmp_path / "reviews.jsonl"
    made = zip(*reviews(200, seed=2), strict=True)
    data.write_text("".join(json.dumps({"text": t, "label": n}) + "\n" for t, n in made))
    ran = shell("train", data, *FLAGS, "--epochs", "1", "--out", tmp_path / "model")
    assert ran.code == 0
    assert "; every document held out once, in 4 folds (200 documents" in ran.err
    (line,) = (one for one in ran.err.splitlines() if one.startswith("epochs: 1, as many as"))
    assert "on 200 held-out documents, each in one of 4 folds" in line
    assert "to compare: accuracy" in ran.err


def test_the_score_of_folds_is_not_called_that_of_several_networks_together(shell, tmp_path):
    """The network of its fold answered each document: two and three seeds had the same score."""
    data = tmp_path / "train.jsonl"
    texts, labels = reviews(200)
    pairs = zip(texts, labels, strict=True)
    data.write_text("".join(json.dumps({"text": a, "label": b}) + "\n" for a, b in pairs))
    ran = shell("train", data, *ONE_EPOCH, "--wide", "off", "--seeds", 2, "--out", tmp_path / "m")
    (line,) = (one for one in ran.err.splitlines() if "held-out" in one)
    assert line.startswith("epochs: 1, as many as the folds took: accuracy ")
    assert ", each in one of 4 folds and answered by one network, not by the 2 together; " in line


class PressedAt(Observer):
    """Presses Ctrl-C at a step, counted through all trainings."""

    def __init__(self, at):
        self.left = at

    def on_step(self, step):
        self.left -= 1
        if not self.left:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("step", "said"), [(30, "best epoch "), (85, "ended in the first epoch"), (98, "best epoch 1")]
)
def test_a_training_that_was_ended_is_not_called_as_long_as_folds_took(step, said):
    """In the second of four folds of twenty steps, and in the two epochs of the last training."""
    classifier = tiny(training__epochs=2)
    options = FitOptions(observers=(PressedAt(step),), choose_method=False)
    classifier.fit_documents(read_texts(*reviews(200)), options=options)
    line, *_ = _describe_training(classifier, Path("model"))
    assert line.startswith(said) and "as many as the folds took" not in line
    assert describe_end(classifier.history_, [], stopped=True)[0].startswith("stopped by hand; ")


def test_unlabelled_texts_teach_word_vectors(shell, project, tmp_path):
    """13.2: --unlabelled FILE; labels that it may have are not read."""
    more = tmp_path / "more.csv"
    more.write_text("review\n" + "\n".join(["a great film", "an awful film"] * 9) + "\n")
    asked = ["train", project.training, *COLUMNS, *ONE_EPOCH]
    ran = shell(*asked, "--unlabelled", more, "--out", tmp_path / "m")
    assert ran.code == 0
    assert "learnt from all texts given: vectors of size 16 for " in ran.err
    missing = shell(*asked, "--unlabelled", tmp_path / "none.csv", "--out", tmp_path / "n")
    assert missing.code == 1 and "none.csv" in missing.err


def test_vectors_start_the_words_and_their_coverage_is_printed(shell, project, tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text(
        "great " + " ".join(["0.5"] * 16) + "\nawful " + " ".join(["-1"] * 16) + "\n"
    )
    frozen = ["--set", "training.freeze_vectors=true", "--vectors", vectors]
    ran = shell("train", project.training, *COLUMNS, *ONE_EPOCH, *frozen, "--out", tmp_path / "m")
    assert f"{vectors}: vectors of size 16 for 2 of " in ran.err
    classifier = DocumentClassifier.load(tmp_path / "m")
    vector = classifier.model_.embedding.weight[int(classifier.vocab_.ids(["great"])[0])]
    assert np.array_equal(vector.detach().numpy(), np.full(16, 0.5, dtype=np.float32))
    wrong = shell(
        *("train", project.training, *COLUMNS, *ONE_EPOCH, "--vectors", vectors),
        *("--set", "network.embedding_size=8", "--out", tmp_path / "n"),
    )
    assert wrong.code == 1
    assert (
        "vectors of size 16, the network wants 8; use --set network.embedding_size=16"
        in (wrong.err.splitlines()[-1])
    )


def test_several_labels_in_one_cell(shell, tmp_path):
    texts, labels = tagged(80)
    data = [
        {"text": text, "label": " ; ".join(several)}
        for text, several in zip(texts, labels, strict=True)
    ]
    path = write_csv(tmp_path / "data.csv", data)
    ran = shell(
        *("train", path, *FLAGS, "--labels-separator", ";", "--out", tmp_path / "model"),
        *("--set", "training.epochs=16"),
    )
    assert ran.code == 0 and "2 classes, several per document" in ran.err
    judged = shell("evaluate", tmp_path / "model", path, "--labels-separator", ";", "--json")
    found = json.loads(judged.out)
    assert found["task"] == "multi-label" and found["accuracy"] > 0.9
    assert found["baselines"][0]["name"].startswith("TF-IDF")


def test_bad_rows_are_skipped_and_counted_at_the_end(shell, tmp_path):
    data = rows(30, seed=0)
    data[3]["stars"] = data[7]["stars"] = ""
    path = write_csv(tmp_path / "data.csv", data)
    arguments = ["train", path, *COLUMNS, *ONE_EPOCH, "--out", tmp_path / "model"]
    advice = "--on-bad-row skip leaves such rows out"
    assert shell(*arguments).error == f"{path}:5: the label is missing; {advice}"
    ran = shell(*arguments, "--on-bad-row", "skip")
    assert ran.code == 0
    end = ran.err.split("documents/s")[-1]
    assert f"{path}: 28 rows read" in end and "2 skipped: 2 missing label" in end
    assert f"{path}:5: the label is missing" in end
    assert "| rows skipped | `2` |" in (tmp_path / "model" / "card.md").read_text()


def test_a_named_pipe_is_read_once(shell, project, tmp_path):
    """The baseline would wait for ever for somebody to write it a second time."""
    pipe = tmp_path / "train.csv"
    os.mkfifo(pipe)
    writing = threading.Thread(target=pipe.write_bytes, args=[project.training.read_bytes()])
    writing.start()
    given = ["train", pipe, *COLUMNS, *FLAGS, "--epochs", "1", "--out", tmp_path / "model"]
    ran = shell(*given)
    writing.join()
    assert ran.code == 0
    assert "a pipe is read once, so no baseline is fitted to compare with" in ran.err
    assert DocumentClassifier.load(tmp_path / "model").baseline_ is None


def test_a_pipe_is_read_once(shell, project, tmp_path):
    """The baseline, which would need a second reading, is left out."""
    ran = shell(
        *("train", "-", *COLUMNS, *FLAGS, "--epochs", "1", "--out", tmp_path / "model"),
        stdin=project.training.read_bytes(),
    )
    assert ran.code == 0 and "TF-IDF" not in ran.err
    assert DocumentClassifier.load(tmp_path / "model").facts_["training_documents"] == 72


def test_logs_for_tensorboard(shell, project, tmp_path):
    ran = shell(
        *("train", project.training, *COLUMNS, *ONE_EPOCH, "--out", tmp_path / "model"),
        *("--logs", tmp_path / "logs"),
    )
    assert ran.code == 0
    assert list((tmp_path / "logs").glob("events.*"))


ERRORS = {
    "missing file": (
        ["{folder}/trian.csv"],
        r"there is no file .*/trian.csv; did you mean .*/train.csv\?",
    ),
    "missing folder": (["nowhere/at/all.csv"], "there is no file nowhere/at/all.csv; check"),
    "missing columns": (
        ["{data}"],
        r"train.csv has no column 'text'; it has id, review, stars, author, day; use --text-column",
    ),
    "missing label column": (
        ["{data}", "--text-column", "review"],
        "has no column 'label'; it has id, .*; use --label-column",
    ),
    "bad --set name": (
        ["{data}", *COLUMNS, "--set", "network.hiden_size=5"],
        "HANConfig has no setting 'hiden_size'; did you mean 'hidden_size'",
    ),
    "bad --set part": (
        ["{data}", *COLUMNS, "--set", "netwrk.hidden_size=5"],
        "--set knows no part 'netwrk'; did you mean 'network'",
    ),
    "bad --set form": (["{data}", *COLUMNS, "--set", "epochs"], "--set takes part.name=value"),
    "bad --set value": (
        ["{data}", *COLUMNS, "--set", "training.epochs=many"],
        "TrainingConfig.epochs must be a whole number, got 'many'",
    ),
    "bad value": (["{data}", *COLUMNS, "--epochs", "0"], "epochs must be at least 1, got 0"),
    "bad share": (
        ["{data}", *COLUMNS, "--validation", "1.5"],
        "--validation takes a file or a share from 0 to below 1, got 1.5",
    ),
    "missing validation file": (
        ["{data}", *COLUMNS, "--validation", "{folder}/trian.csv"],
        r"--validation .*/trian.csv is neither a share nor a file; did you mean .*/train.csv\?",
    ),
    "two splits": (
        ["{data}", *COLUMNS, "--group-column", "author", "--time-column", "day"],
        "--group-column and --time-column each say what to validate on; give one",
    ),
    "bad network": (
        ["{data}", *COLUMNS, "--model", "hna"],
        "--model cannot be 'hna'; did you mean 'han'",
    ),
    "bad device": (["{data}", *COLUMNS, "--device", "abacus"], "device 'abacus' cannot be used"),
    "bad policy": (["{data}", *COLUMNS, "--on-bad-row", "shout"], "on_bad_row cannot be 'shout'"),
    "unknown suffix": (["{folder}/data.doc"], "data.doc has a suffix we cannot read; known are"),
    "spreadsheet": (["{folder}/data.xlsx"], "is a spreadsheet; save it as CSV"),
    "one class": (["{folder}/one.csv"], "all 3 documents have the label 'same'"),
    "empty file": (["{folder}/empty.csv"], "empty.csv is empty"),
    "header only": (["{folder}/header.csv"], "no documents to train on"),
    "same column": (
        ["{data}", "--text-column", "review", "--label-column", "review"],
        "text and label are both in column 'review'",
    ),
}


@pytest.fixture(scope="module")
def broken(project, tmp_path_factory):
    folder = tmp_path_factory.mktemp("broken")
    shutil.copy(project.training, folder / "train.csv")
    (folder / "data.doc").write_text("text,label\n")
    (folder / "data.xlsx").write_text("PK")
    (folder / "one.csv").write_text("text,label\na,same\nb,same\nc,same\n")
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("text,label\n")
    return folder


@pytest.mark.parametrize("name", ERRORS)
def test_a_users_error_is_one_line_that_says_what_to_do(shell, broken, tmp_path, name):
    arguments, message = ERRORS[name]
    filled = [part.format(folder=broken, data=broken / "train.csv") for part in arguments]
    ran = shell("train", *filled, "--out", tmp_path / "new" / "model")
    assert re.search(message, ran.error), ran.error
    assert list(tmp_path.iterdir()) == [], "not even the folder for the model"


def test_two_trainings_do_not_share_a_folder(shell, project, tmp_path):
    """They would write one corpus: wrong answers, or a bus error."""
    work = tmp_path / "model.partial"
    arguments = ["train", project.training, *COLUMNS, *ONE_EPOCH, "--out", tmp_path / "model"]
    with hold_lock(work / "lock", taken="taken"):
        (work / "corpus").mkdir()
        error = shell(*arguments).error
        assert "another training writes to" in error and "name another --out" in error
        assert (work / "corpus").exists() and not (tmp_path / "model").exists()
    assert shell(*arguments).code == 0, "the lock of one that ended holds nobody up"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_folder_that_is_no_model_is_refused_before_the_training(shell, project, tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    arguments = ["train", project.training, *COLUMNS, *ONE_EPOCH]
    assert "exists and is not a saved model" in shell(*arguments, "--out", tmp_path).error
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_model_is_not_replaced_unasked(shell, project, tmp_path):
    """And that is said before anything is read."""
    out = Path(shutil.copytree(project.model, tmp_path / "model"))
    before = (out / "config.json").read_bytes()
    arguments = ["train", project.training, *COLUMNS, *ONE_EPOCH, "--out", out]
    assert "holds a model; name another --out, or replace it with" in shell(*arguments).error
    assert "and nothing to resume" in shell(*arguments, "--resume").error
    assert "give one" in shell(*arguments, "--resume", "--overwrite").error
    assert (out / "config.json").read_bytes() == before
    assert shell(*arguments, "--overwrite").code == 0
    assert (out / "config.json").read_bytes() != before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_what_cannot_be_written_is_said_before_anything_is_read(shell, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    monkeypatch.chdir(tmp_path / "here")
    for out, message in (
        (".", "folder you are in"),
        ("/", "folder you are in"),
        ("../link", "link"),
    ):
        assert message in shell("train", "no such file.csv", "--out", out).error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "link"]


def test_what_a_killed_save_left_is_finished_by_the_next_training(shell, project, tmp_path):
    shutil.copytree(project.model, tmp_path / ".model.old")
    with pytest.warns(UserWarning, match="a save to .* what was there before was brought back"):
        ran = shell("train", project.training, *COLUMNS, "--out", tmp_path / "model")
    assert "holds a model" in ran.error and (tmp_path / "model").exists()


def test_what_is_unfinished_is_not_thrown_away_unasked(shell, project, tmp_path):
    unfinished = tmp_path / "model.partial" / "checkpoint" / "state.safetensors"
    unfinished.parent.mkdir(parents=True)
    unfinished.write_bytes(b"half a run")
    arguments = ["train", project.training, *COLUMNS, *ONE_EPOCH, "--out", tmp_path / "model"]
    assert "unfinished training" in shell(*arguments).error
    assert "--resume" in shell(*arguments).error
    assert unfinished.read_bytes() == b"half a run"


def test_resuming_nothing_starts_anew_and_says_so(shell, project, tmp_path):
    arguments = ["train", project.training, *COLUMNS, *ONE_EPOCH, "--out", tmp_path / "model"]
    ran = shell(*arguments, "--resume")
    assert ran.code == 0 and "there is nothing to resume; training from the start" in ran.err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("check_corpus", "stopped before anything was learnt: there is no model to save"),
        ("_after", "stopped by hand; "),
        ("fit_temperature", "stopped by hand after the training"),
        ("best_method_held_out", "stopped by hand after the training"),
        ("fit_baseline", "stopped by hand after the training"),
    ],
)
def test_ctrl_c_at_any_stage_saves_what_was_learnt(shell, project, tmp_path, name, said):
    """Issue 18.9: and it is said."""
    given = ["train", project.training, *COLUMNS, *FLAGS, "--epochs", "1"]
    with ctrl_c(name) as presses:
        ran = shell(*given, "--out", tmp_path / "model")
    assert presses.pressed
    assert any(line.startswith(said) for line in ran.err.splitlines()), ran.err
    if name == "check_corpus":
        assert ran.code == 130 and ran.err.endswith("stopped\n")
        assert not list(tmp_path.iterdir())
    else:
        assert ran.code == 0
        classifier = DocumentClassifier.load(tmp_path / "model")
        assert classifier.baseline_ is None
        assert ("explain_method" in classifier.facts_) == (name == "fit_baseline")
        assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_ctrl_c_while_saving_waits_until_it_is_saved(shell, project, tmp_path):
    with ctrl_c("write_folder"):
        ran = shell("train", project.training, *COLUMNS, *ONE_EPOCH, "--out", tmp_path / "model")
    assert ran.code == 0
    assert DocumentClassifier.load(tmp_path / "model").facts_["training_documents"] == 72


def test_the_network_may_stand_alone(shell, project, tmp_path):
    given = ("train", project.training, *COLUMNS, *ONE_EPOCH)
    ran = shell(*given, "--out", tmp_path / "m", "--wide", "off")
    assert ran.code == 0, ran.err
    assert not (tmp_path / "m" / "wide.safetensors").exists()
    refused = shell(*given, "--out", tmp_path / "n", "--wide", "of")
    assert refused.code and "--wide cannot be 'of'" in refused.err


def test_ngrams_have_settings(shell, project, tmp_path):
    given = ("train", project.training, *COLUMNS, *ONE_EPOCH, "--set", "wide.longest=2")
    ran = shell(*given, "--out", tmp_path / "m")
    assert ran.code == 0, ran.err
    assert json.loads((tmp_path / "m" / "config.json").read_text())["wide"]["longest"] == 2
    both = shell(*given, "--out", tmp_path / "n", "--wide", "off")
    assert both.code and "give one of them" in both.err


def test_a_model_that_is_no_better_than_one_answer_is_told_apart(shell, project, tmp_path):
    """Of 96 % that are good 96 % are right whatever a text says: that is no model."""
    data = tmp_path / "rare.jsonl"
    texts, _ = reviews(100)
    pairs = [(text, "rare" if n % 25 == 0 else "good") for n, text in enumerate(texts)]
    data.write_text("".join(json.dumps({"text": a, "label": b}) + "\n" for a, b in pairs))
    few = ["--epochs", "1", "--set", "training.learning_rate=1e-9", "--wide", "off"]
    ran = shell("train", data, *FLAGS, *few, "--validation", data, "--out", tmp_path / "m")
    told = "! always answering ‘good’ would be right about as often: add documents of other classes"
    assert told in ran.err.splitlines()
    assert "always answering" not in project.printed.err


def test_tfidf_is_scored_beside_the_model_with_advice_where_it_wins(shell, project, tmp_path):
    learnt = DocumentClassifier.load(project.model).facts_["baseline_accuracy"]
    line = f"TF-IDF + logistic regression, to compare: accuracy {learnt:.4f} on the same documents"
    assert learnt > 0.9 and line in project.printed.err.splitlines()
    assert "the plain method is better here" not in project.printed.err
    few = ["--wide", "off", "--epochs", "1", "--set", "training.learning_rate=1e-9"]
    given = ["train", project.training, *COLUMNS, *FLAGS, *few, "--validation", project.test]
    worse = shell(*given, "--out", tmp_path / "model").err
    assert "to compare: accuracy" in worse and "! the plain method is better here" in worse


def test_few_documents_make_smaller_steps_unless_their_size_is_named(shell, project, tmp_path):
    pairs = zip(FLAGS[::2], FLAGS[1::2], strict=True)
    small = [part for pair in pairs if "batch_size" not in pair[1] for part in pair]
    given = ["train", project.training, *COLUMNS, *small, "--epochs", "1", "--no-baseline"]
    ran = shell(*given, "--out", tmp_path / "a")
    assert ran.code == 0 and "steps of 8 documents in place of 64, since there are few" in ran.err
    assert DocumentClassifier.load(tmp_path / "a").training.batch_size == 8
    shell(*given, "--set", "training.batch_size=64", "--out", tmp_path / "b")
    assert DocumentClassifier.load(tmp_path / "b").training.batch_size == 64


def test_reasons_in_a_column_are_learnt_from(shell, tmp_path):
    """ERASER's way to write what people marked: spans of characters, in a column of the data."""
    rows = [
        {"text": f"we saw it and it was {word}", "label": label, "why": [[21, 21 + len(word)]]}
        for word, label in [("dull", "bad"), ("great", "good")] * 30
    ]
    data = tmp_path / "marked.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    ended = shell("train", data, "--out", tmp_path / "model", "--evidence-column", "why", *FLAGS)
    assert ended.code == 0, ended.err
    assert "the reasons that people marked in 60 documents are learnt from: column why" in ended.err
    assert "54 training documents, 6 held out" in ended.err
    assert "--evidence-column none leaves them" in ended.err
    audit = shell("audit", tmp_path / "model", data, "--evidence-column", "why", "--limit", "5")
    assert audit.code == 0, audit.err
    wrong = shell("train", data, "--out", tmp_path / "x", "--evidence-column", "because")
    assert "no column 'because' of evidence; there are why" in wrong.error
    several = shell(
        *("train", data, "--out", tmp_path / "x"),
        *("--text-column", "text,why", "--evidence-column", "why"),
    )
    assert "evidence is offsets into one text" in several.error
    other = shell("train", data, "--out", tmp_path / "x", "--task", "translate", "--marks", data)
    assert "--marks cannot be used with --task translate" in other.error
    piped = ("train", "-", "--out", tmp_path / "x", "--evidence-column", "why")
    once = shell(*piped, stdin=data.read_bytes())
    assert "--evidence-column reads the data more than once" in once.error


def test_a_column_called_evidence_is_learnt_from_unasked(shell, tmp_path):
    """ERASER's files call it so; something else that is called so is left aside, and said."""

    def trained(cell, *flags, last=None):
        rows = [
            {"text": f"we saw it and it was {word}", "label": label, "evidence": cell}
            for word, label in [("dull", "bad"), ("great", "good")] * 30
        ]
        rows[-1]["evidence"] = cell if last is None else last
        data = tmp_path / "marked.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        ended = shell("train", data, "--out", tmp_path / "model", "--overwrite", *flags, *FLAGS)
        assert ended.code == 0, ended.err
        return ended.err

    spans = [{"start_char": 21, "end_char": 25}]
    assert "marked in 60 documents are learnt from: column evidence" in trained(spans)
    for err in (
        trained(spans, "--evidence-column", "none"),
        trained("seen on Monday"),
        trained(""),
    ):
        assert "column evidence" not in err
    assert "! column evidence is not learnt from" in trained(spans, last=[[3, 999]])
