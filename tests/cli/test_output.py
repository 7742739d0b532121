"""What commands write: whole or not at all, and never over what is needed."""

import csv
import io
import json
import re
import shutil
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regard.cli.main import app
from regard.cli.output import REPORTS, counted, require_output, say
from regard.errors import ConfigError
from regard.training import observers
from support.cli_files import COLUMNS
from support.full_disk import full_disk
from support.reviews import reviews, tiny
from support.screens import Screen

TEXT = ("--text", "A great film. The music was dull.")
COMMANDS = {
    "evaluate": lambda p: ["evaluate", p.model, p.test, *COLUMNS],
    "audit": lambda p: ["audit", p.model, p.test, *COLUMNS, "--limit", 2, "--no-needle"],
    "look": lambda p: ["look", p.model, p.test, *COLUMNS, "--limit", 5],
    "diff": lambda p: ["diff", p.model, p.model, p.test, *COLUMNS, "--limit", 5],
    "explain": lambda p: ["explain", p.model, *TEXT],
}
WRITTEN = [(name, suffix) for name in COMMANDS for suffix in (".html", ".json")]
WRITTEN += [("explain", suffix) for suffix in (".jsonl", ".png", ".svg")]


@pytest.mark.parametrize(("command", "suffix"), WRITTEN)
def test_a_full_disk_leaves_the_report_before(shell, project, tmp_path, command, suffix):
    out = tmp_path / f"report{suffix}"
    out.write_text("the report before")
    with full_disk():
        ran = shell(*COMMANDS[command](project), "--out", out)
    assert ran.error.startswith(f"{out}: ")
    assert out.read_text() == "the report before"
    assert [entry.name for entry in tmp_path.iterdir()] == [out.name]


@pytest.fixture
def own(project, tmp_path):
    """A model and data of a test's own, which it may try to spoil."""
    model, test = tmp_path / "model", tmp_path / "test.json"
    shutil.copytree(project.model, model)
    with project.test.open(newline="", encoding="utf-8") as file:
        lines = [json.dumps(row) + "\n" for row in csv.DictReader(file)]
    test.write_text("".join(lines))
    return replace(project, folder=tmp_path, model=model, test=test)


def state(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


EVERY = {
    **COMMANDS,
    "explain": lambda p: ["explain", p.model, p.test, "--text-column", "review"],
    "predict": lambda p: ["predict", p.model, p.test, "--text-column", "review"],
}


@pytest.mark.parametrize("command", EVERY)
@pytest.mark.parametrize("name", ["model/config.json", "model/report.json", "model/deep/a.json"])
def test_nothing_is_written_into_a_saved_model(shell, own, command, name):
    (own.model / "deep").mkdir()
    before = state(own.folder)
    out = own.folder / (name.replace(".json", ".jsonl") if command == "predict" else name)
    error = shell(*EVERY[command](own), "--out", out).error
    assert error == f"{out} lies in the saved model {own.model}; write elsewhere"
    link = own.folder / f"link{out.suffix}"
    link.symlink_to(out)
    assert "lies in the saved model" in shell(*EVERY[command](own), "--out", link).error
    link.unlink()
    assert state(own.folder) == before


@pytest.mark.parametrize("command", EVERY)
def test_what_is_read_is_not_written_over(shell, own, command):
    if command == "predict":
        own = replace(own, test=own.test.rename(own.test.with_suffix(".jsonl")))
    before = state(own.folder)
    hard, soft = own.test.with_stem("hard"), own.test.with_stem("soft")
    hard.hardlink_to(own.test)
    soft.symlink_to(own.test)
    odd = own.test.parent / "model" / ".." / own.test.name
    for out in (own.test, hard, soft, odd):
        error = shell(*EVERY[command](own), "--out", out, "--quiet").error
        assert error == f"{out} is what is read from {own.test}; write to another file"
    hard.unlink()
    soft.unlink()
    assert state(own.folder) == before


def test_a_bad_row_does_not_cost_the_input(shell, own):
    data = own.folder / "in.csv"
    data.write_text("text\ngreat\na,b\n")
    error = shell("predict", own.model, data, "--out", data, "--on-bad-row", "skip").error
    assert "write to another file" in error and data.read_text() == "text\ngreat\na,b\n"


@pytest.mark.parametrize("command", EVERY)
def test_where_nothing_can_be_written_is_said_before_any_work(shell, project, tmp_path, command):
    """But for what kind of model it is, nothing is looked at: there is none."""
    (tmp_path / "file").touch()
    (tmp_path / "folder.jsonl").mkdir()
    model = project.model if command == "evaluate" else tmp_path / "none"
    asked = EVERY[command](replace(project, model=model))
    for name, told in {
        "folder.jsonl": "folder.jsonl is a folder; name a file to write",
        "none/a.jsonl": f"the folder {tmp_path / 'none'} does not exist; make it first",
        "file/a.jsonl": f"the folder {tmp_path / 'file'} is a file",
        "a.doc": "a.doc cannot be written; its name must end in",
    }.items():
        out = tmp_path / (name if command == "predict" else name.replace(".jsonl", ".json"))
        if name.startswith("folder"):
            out.mkdir(exist_ok=True)
            told = f"{out.name} is a folder; name a file to write"
        assert told in shell(*asked, "--out", out).error


def test_a_folder_that_may_not_be_written_to_is_said_before_any_work(shell, project):
    out = Path("/proc/self/a.json")
    error = shell("audit", project.folder / "none", project.test, "--out", out).error
    assert error == f"{out} cannot be written: {out.parent.resolve()} may not be changed"


def test_texts_to_translate_are_not_written_over(shell, tmp_path):
    text = tmp_path / "a.txt"
    text.write_text("eins zwei")
    error = shell("translate", tmp_path / "none", text, "--out", text).error
    assert error == f"{text} is what is read from {text}; write to another file"


@pytest.mark.parametrize("command", ["experiment", "demo"])
def test_folders_are_not_made_in_a_saved_model(shell, own, command):
    arguments = ["experiment", "order", "--quick"] if command == "experiment" else ["demo"]
    before = state(own.folder)
    for out in (own.model, own.model / "deep"):
        assert "lies in the saved model" in shell(*arguments, "--out", out).error
    assert state(own.folder) == before


STEERING = "\x1b]0;title\x07\x1b[31m\x9b2J\x85\u202e\u2066\r\b"
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def steering(tmp_path_factory):
    """A model whose labels, settings and data would steer a terminal."""
    folder = tmp_path_factory.mktemp("steering")
    texts, labels = reviews(40)
    named = {"good": f"good{STEERING}", "bad": f"{STEERING}bad"}
    labels = [named[label] for label in labels]
    tiny(training__epochs=1).fit(texts, labels).save(folder / "model")
    data = folder / "data.jsonl"
    rows = zip(texts, labels, strict=True)
    data.write_text("".join(json.dumps({"text": a + STEERING, "label": b}) + "\n" for a, b in rows))
    about = json.loads((folder / "model" / "config.json").read_text())
    about["facts"]["data"] = f"data{STEERING}.csv"
    (folder / "model" / "config.json").write_text(json.dumps(about))
    return folder


PRINTED = {
    "info": ["info", "model"],
    "info --json": ["info", "model", "--json"],
    "evaluate": ["evaluate", "model", "data.jsonl"],
    "evaluate --json": ["evaluate", "model", "data.jsonl", "--json"],
    "look": ["look", "model", "data.jsonl", "--limit", "5", "--word", f"a{STEERING}"],
    "diff": ["diff", "model", "model", "data.jsonl", "--limit", "5"],
    "audit": ["audit", "model", "data.jsonl", "--limit", "2", "--no-needle"],
    "explain": ["explain", "model", "--text", f"a great film{STEERING}"],
    "predict": ["predict", "model", "data.jsonl"],
    "no column": ["predict", "model", "data.jsonl", "--text-column", f"a{STEERING}"],
    "no file": ["predict", "model", f"data{STEERING}.csv"],
    "no model": ["predict", f"model{STEERING}", "data.jsonl"],
    "no format": ["predict", "model", "data.jsonl", "--out", f"a.{STEERING}"],
    "no option": ["predict", "model", "data.jsonl", f"--a{STEERING}"],
    "no number": ["explain", "model", "--text", "a", "--limit", f"a{STEERING}"],
    "no setting": ["train", "data.jsonl", "--out", "m", "--set", f"training.a{STEERING}=1"],
    "no experiment": ["experiment", f"a{STEERING}"],
}


@pytest.mark.parametrize("command", PRINTED)
def test_nothing_that_is_printed_steers_a_terminal(shell, steering, monkeypatch, command):
    monkeypatch.chdir(steering)
    ran = shell(*PRINTED[command])
    assert ran.out or ran.err
    assert not OBEYED.search(ran.out) and not OBEYED.search(ran.err), ran


def test_a_suffix_is_one_that_can_be_written(tmp_path):
    require_output(tmp_path / "a.HTML", REPORTS, inputs=())
    for name in ("a.pdf", "a", ".html"):
        with pytest.raises(ConfigError, match=r"must end in \.html or \.json"):
            require_output(tmp_path / name, REPORTS, inputs=())


@pytest.fixture(autouse=True)
def colours(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.mark.parametrize("stream", [Screen, io.StringIO])
def test_quiet_is_silent(stream):
    with redirect_stderr(stream()) as written:
        assert list(counted([1, 2], "reading", quiet=True)) == [1, 2]
        say("a word", quiet=True)
    assert written.getvalue() == ""


def test_items_are_counted_on_a_terminal_and_passed_on():
    with redirect_stderr(Screen()) as screen:
        assert list(counted(iter(range(3)), "reading")) == [0, 1, 2]
    assert "reading" in screen.plain()


def test_quick_work_is_silent_elsewhere():
    with redirect_stderr(io.StringIO()) as log:
        assert list(counted(iter(range(3)), "reading")) == [0, 1, 2]
    assert log.getvalue() == ""


def test_slow_work_has_one_line_elsewhere(monkeypatch):
    monkeypatch.setattr(observers, "LONG", 0.0)
    with redirect_stderr(io.StringIO()) as log:
        assert list(counted(iter(range(3)), "reading")) == [0, 1, 2]
    assert log.getvalue() == "reading, 1 done\n"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["predict"], "predicted"),
        (["evaluate", *COLUMNS], "evaluated"),
        (["explain"], "explained"),
        (["look", *COLUMNS, "--limit", 5], "looked through"),
        (["audit", *COLUMNS, "--limit", 3, "--no-needle"], "audited"),
    ],
)
def test_every_command_says_how_far_it_is(project, monkeypatch, command, shown):
    monkeypatch.setattr(observers, "LONG", 0.0)
    name, *options = command
    data = project.new if name in ("predict", "explain") else project.test
    ran = CliRunner().invoke(app, [name, *map(str, [project.model, data, *options])])
    assert ran.exit_code == 0, ran.output
    assert re.search(rf"^{shown}, 1( of \d+)? done", ran.stderr, re.MULTILINE)
    assert len(re.findall(rf"^{shown}, ", ran.stderr, re.MULTILINE)) == 1


def test_what_is_said_goes_to_standard_error(capsys):
    say("a word")
    assert capsys.readouterr() == ("", "a word\n")
