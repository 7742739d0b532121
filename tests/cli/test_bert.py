"""``regard train --task bert-text`` and its kin: tuned, evaluated, predicted with, described."""

import json

import pytest
import torch

from regard.estimators.bert_folder import save_bert
from regard.models.bert import BertConfig
from support.pieces import learnt

CITIES = ["berlin", "rome"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny BERT with fresh weights."""
    pieces = learnt(110)
    torch.manual_seed(1)
    place = tmp_path_factory.mktemp("bert") / "bert"
    config = BertConfig(16, 1, 2, 16, longest=48, dropout=0.0)
    save_bert(place, config.build(vocab_size=len(pieces)), pieces)
    return place


def row(place: int) -> dict[str, object]:
    """A text that serves every usage."""
    city = CITIES[place % 2]
    text = f"a film in {city} {place}"
    start = text.index(city)
    return {
        "id": place,
        "text": text,
        "label": city,
        "first": "a film",
        "second": text,
        "question": "where",
        "spans": [{"start": start, "end": start + len(city), "label": "city"}],
    }


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A file of JSON lines."""
    path = tmp_path_factory.mktemp("data") / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row(place))}\n" for place in range(32)))
    return path


@pytest.mark.parametrize(
    ("task", "columns", "score", "answer"),
    [
        ("bert-text", [], "accuracy", "predicted"),
        ("bert-pair", ["--source-column", "first"], "macro f1", "probability"),
        ("bert-span", ["--source-column", "question"], "token f1", "answer_start"),
        ("bert-tag", [], "segment f1", "found"),
    ],
)
def test_each_usage_goes_all_the_way(shell, tmp_path, folder, data, task, columns, score, answer):
    """Tuned from a folder, scored with its own measure, and answered row by row."""
    model, out = tmp_path / "model", tmp_path / "answers.jsonl"
    told = shell(
        *("train", data, "--task", task, "--bert", folder, "--out", model, *columns),
        *("--epochs", "2", "--device", "cpu", "--set", "training.learning_rate=0.003"),
    )
    assert told.code == 0, told.err
    assert "held-out examples" in told.err and f"saved to {model}" in told.err
    scored = shell("evaluate", model, data, "--json")
    assert scored.code == 0, scored.err
    found = json.loads(scored.out)
    assert score.replace(" ", "_") in found["scores"] and found["examples"] == 32
    assert score in shell("evaluate", model, data).out
    renamed = tmp_path / "new.jsonl"
    names = {"label": "truth", "spans": "marked"}
    with renamed.open("w") as file:
        for place in range(5):
            given = {names.get(name, name): value for name, value in row(place).items()}
            file.write(f"{json.dumps(given)}\n")
    told = shell("predict", model, renamed, "--out", out)
    assert told.code == 0, told.err
    answers = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(answers) == 5 and all(
        answer in one and one["id"] == n for n, one in enumerate(answers)
    )
    described = shell("info", model)
    assert task in described.out and "tuning.layers" in described.out
    assert "milliseconds per document" in described.out and "parameters" in described.out
    refused = shell("explain", model, "--text", "a film")
    assert refused.code == 1 and "bert-han" in refused.err


@pytest.mark.parametrize(
    ("task", "columns", "answer"),
    [
        ("bert-pair", {"first": "a", "second": "b"}, "probability"),
        ("bert-span", {"question": "q", "text": "body"}, "answer_start"),
    ],
)
def test_new_texts_may_have_other_columns(shell, tmp_path, folder, data, task, columns, answer):
    model, new = tmp_path / "model", tmp_path / "new.jsonl"
    asked = ["--source-column", "question"] if task == "bert-span" else []
    told = shell(
        *("train", data, "--task", task, "--bert", folder, "--out", model, *asked),
        *("--epochs", "1", "--device", "cpu"),
    )
    assert told.code == 0, told.err
    given = {columns[name]: row(1)[name] for name in columns}
    new.write_text(f"{json.dumps(given)}\n")
    names = ["--source-column", "a", "--target-column", "b"]
    if task == "bert-span":
        names = ["--source-column", "q", "--text-column", "body"]
    told = shell("predict", model, new, *names)
    assert told.code == 0, told.err
    assert answer in json.loads(told.out)


def test_what_is_wrong_is_one_line(shell, tmp_path, folder, data):
    """No folder, an option of another task, a broken cell."""
    out = tmp_path / "model"
    told = shell("train", data, "--task", "bert-text", "--out", out)
    assert told.code == 1 and "--bert" in told.err
    told = shell("train", data, "--task", "classify", "--bert", folder, "--out", out)
    assert told.code == 1 and "--bert cannot be used with --task classify" in told.err
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"text": "a film", "spans": [[0, 99, "x"]]}\n' * 30)
    told = shell("train", broken, "--task", "bert-tag", "--bert", folder, "--out", out)
    assert told.code == 1 and "row 1: column 'spans' marks 0:99" in told.err
    both = ("--text-column", "text,first")  # spans are offsets into one of them
    told = shell("train", broken, "--task", "bert-tag", "--bert", folder, *both, "--out", out)
    assert told.code == 1 and "has no column 'text,first'" in told.err
    assert not out.exists()


def test_the_columns_of_texts_are_those_of_every_training(shell, tmp_path, data):
    """What a usage of BERT takes is not taken from the others."""
    out = tmp_path / "model"
    told = shell(
        *("train", data, "--out", out, "--text-column", "second", "--label-column", "label"),
        *("--epochs", "1", "--no-baseline", "--device", "cpu", "--wide", "off"),
    )
    assert told.code == 0, told.err
    told = shell("train", data, "--out", tmp_path / "b", "--source-column", "first")
    assert "it is for --task translate" in told.err
