"""``train --task translate``, ``translate``, and ``evaluate`` and ``info`` on a translator."""

import csv
import json

import pytest

from support.cli_files import COLUMNS
from support.parrots import FLAGS, parrots

NAMES = ["--source-column", "small", "--target-column", "large"]


def write_pairs(path, count, *, seed=0):
    with path.open("w", newline="") as file:
        rows = zip(*parrots(count, seed=seed), strict=True)
        csv.writer(file, delimiter="\t").writerows([("small", "large"), *rows])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pairs")


@pytest.fixture(scope="module")
def model(shell, folder):
    """Train once from the shell; nobody may change the folder."""
    data, out = write_pairs(folder / "pairs.tsv", 600), folder / "model"
    write_pairs(folder / "test.tsv", 20, seed=1)
    ran = shell("train", data, "--task", "translate", *NAMES, *FLAGS, "--out", out)
    assert ran.code == 0, ran.err
    assert ran.err.startswith("540 training pairs, 60 held out; ")
    assert "\ntraining takes about " in ran.err
    assert "BLEU" in ran.err and "best epoch" in ran.err and f"saved to {out}" in ran.err
    assert not (folder / "model.partial").exists()
    return out


def test_a_text_is_translated(shell, model):
    assert shell("translate", model, "a b c").out == "A B C\n"
    assert shell("translate", model, "a b c", "--beam", 1).out == "A B C\n"


@pytest.mark.parametrize("words", [60, 600])
def test_a_text_too_long_for_the_name_of_a_file_is_translated(shell, model, words):
    ran = shell("translate", model, "aaaaaa " * words)
    assert ran.code == 0 and ran.out.count("\n") == 1


def test_several_come_with_rank_and_score(shell, model):
    lines = shell("translate", model, "a b c", "--n-best", 3).out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["1", "2", "3"]
    assert lines[0].endswith("\tA B C")


def test_standard_input_stays_in_step(shell, model):
    assert shell("translate", model, "-", stdin=b"a b\n\nc d e\n").out == "A B\n\nC D E\n"


def test_a_file_becomes_a_file(shell, model, tmp_path):
    (tmp_path / "new.txt").write_text("a b\nc d\n")
    ran = shell("translate", model, tmp_path / "new.txt", "--out", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == "A B\nC D\n"
    assert ran.out == "" and "2 texts translated" in ran.err
    rows = [{"id": 7, "small": "a b"}]
    (tmp_path / "new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "out.jsonl"
    shell("translate", model, tmp_path / "new.jsonl", "--n-best", 2, "--out", out)
    (row,) = [json.loads(line) for line in out.read_text().splitlines()]
    assert (row["id"], row["small"], row["translation"]) == (7, "a b", "A B")
    assert len(row["candidates"]) == 2


def test_sampling_follows_its_seed(shell, model):
    def drawn(seed):
        options = ("--sample", "--temperature", 3, "--seed", seed)
        return shell("translate", model, "a b c d", *options).out

    assert drawn(0) == drawn(0)
    assert len({drawn(seed) for seed in range(4)}) > 1


def test_a_line_given_often_is_sampled_anew_each_time(shell, model):
    lines = shell(
        *("translate", model, "-", "--sample", "--temperature", 3), stdin=b"a b c d\n" * 1060
    ).out.splitlines()
    assert len(lines) == 1060 and lines[1024:] != lines[: 1060 - 1024]


def test_evaluate_prints_scores_with_signatures(shell, model, folder):
    """002-18: the columns are those of the training."""
    ran = shell("evaluate", model, folder / "test.tsv")
    assert "BLEU  " in ran.out and "|tok:13a|" in ran.out and "chrF  " in ran.out
    out = folder / "scores.json"
    found = json.loads(shell("evaluate", model, folder / "test.tsv", "--json", "--out", out).out)
    assert found["pairs"] == 20 and found["exact"] > 0.9
    assert json.loads(out.read_text()) == found


@pytest.mark.parametrize("name", ["scores.md", "scores"])
def test_scores_are_a_page_or_json(shell, model, folder, name):
    ran = shell("evaluate", model, folder / "no data", "--out", folder / name)
    assert ran.error == f"{folder / name} cannot be written; its name must end in .html or .json"


def test_the_page_of_a_translator_has_its_scores_and_its_worst_pairs(shell, model, folder):
    page = folder / "scores.html"
    assert shell("evaluate", model, folder / "test.tsv", "--out", page).code == 0
    text = page.read_text(encoding="utf-8")
    assert f"<title>Translations: {model.name} on test.tsv</title>" in text
    assert "Worst translations" in text and text.count('<th scope="row"') == 20
    assert "https://" not in text


def test_info_describes_it(shell, model):
    facts = json.loads(shell("info", model, "--json").out)
    assert facts["task"] == "translate" and facts["target_column"] == "large"
    assert facts["units.kind"] == "words"


def test_a_translator_is_no_classifier(shell, model, folder):
    """Whichever command is asked, one line says what the model is and what fits."""
    data = folder / "test.tsv"
    for command, told in {
        "predict": "use regard translate to translate texts",
        "look": "use regard explain to see where it looks",
        "diff": "use regard evaluate on both models to compare their scores",
    }.items():
        models = [model] * (2 if command == "diff" else 1)
        wrong = shell(command, *models, data).error
        assert wrong == f"{model} holds a translator, which regard {command} does not take; {told}"


def test_a_classifier_is_no_translator(shell, project):
    told = "which regard translate does not take; use regard predict to label texts"
    assert shell("translate", project.model, "a").error.endswith(f"holds a classifier, {told}")


def test_options_for_other_models_are_refused(shell, model, project, folder):
    wrong = shell("evaluate", model, folder / "test.tsv", "--label-column", "large").error
    assert wrong == f"--label-column is for classifiers; {model} holds a translator"
    wrong = shell("evaluate", project.model, project.test, "--source-column", "review").error
    assert wrong == f"--source-column is for translators; {project.model} holds a classifier"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "has no column 'source'; it has small, large; use --source-column"),
        (NAMES[:2], "has no column 'target'; it has small, large; use --target-column"),
        ([*NAMES[:3], "small"], "source and target are both in column 'small'"),
        ([*NAMES, "--vectors", "x.txt"], "--vectors cannot be used with --task translate"),
        ([*NAMES, "--model", "smal"], "did you mean 'small'?"),
        ([*NAMES, "--set", "text.lowercase=true"], "--set knows no part 'text'"),
        ([*NAMES, "--set", "training.monitor=accuracy"], "monitor cannot be 'accuracy'"),
        ([*NAMES, "--validation", "x.tsv"], "is neither a share nor a file"),
    ],
)
def test_what_cannot_be_trained_is_one_line(shell, model, folder, tmp_path, arguments, message):
    given = ["--task", "translate", *arguments, "--out", tmp_path / "out"]
    assert message in shell("train", folder / "pairs.tsv", *given).error
    assert list(tmp_path.iterdir()) == [], "not even an unfinished model"


def test_options_of_the_other_task_are_refused(shell, project, tmp_path):
    ran = shell("train", project.training, *COLUMNS, *NAMES, "--out", tmp_path / "out")
    assert "are for --task translate" in ran.error
    ran = shell("train", project.training, "--task", "speak", "--out", tmp_path / "out")
    assert "--task cannot be 'speak'" in ran.error


def test_a_file_that_is_not_there_is_not_a_text(shell, model, tmp_path):
    (tmp_path / "new.txt").write_text("a\n")
    assert "did you mean" in shell("translate", model, tmp_path / "nw.txt").error
    assert "must end in" in shell("translate", model, "a", "--out", "x.doc").error


def test_an_unfinished_run_goes_on_when_asked(shell, folder, tmp_path):
    data, out = write_pairs(tmp_path / "pairs.tsv", 60), tmp_path / "model"
    given = ["train", data, "--task", "translate", *NAMES, *FLAGS, "--out", out, "--epochs", 1]
    state = tmp_path / "model.partial" / "checkpoint" / "state.safetensors"
    state.parent.mkdir(parents=True)
    state.write_bytes(b"")
    assert "continue it with --resume, or start again with --overwrite" in shell(*given).error
    assert "is damaged" in shell(*given, "--resume", "--quiet").error
    assert "--overwrite" in shell(*given, "--resume", "--quiet").error, "which can be done"
    assert shell(*given, "--overwrite").code == 0 and not state.exists()
    assert "holds a model and nothing to resume" in shell(*given, "--resume").error
