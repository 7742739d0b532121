"""``regard info``: what a model is, or what this machine computes with."""

import json
import re

import torch

import regard
from support.reviews import reviews, tiny


def test_a_model_is_described(shell, project):
    ran = shell("info", project.model)
    told = dict(line.split("  ", 1) for line in ran.out.splitlines())
    told = {name.strip(): value.strip() for name, value in told.items()}
    assert ran.code == 0 and ran.err == ""
    assert told["model"] == "han" and told["classes"] == "bad, good"
    assert told["data"] == "train.csv" and told["training documents"] == "72"
    assert told["network.hidden_size"] == "8", "as --set takes it"
    assert told["training.patience"] == "none"


def test_json_has_the_numbers_on_one_line(shell, project):
    ran = shell("info", project.model, "--json")
    assert ran.out.count("\n") == 1
    told = json.loads(ran.out)
    assert told["classes"] == ["bad", "good"] and told["several_labels"] is False
    assert told["parameters"] > 1000 and told["network.hidden_size"] == 8
    sizes = [path.stat().st_size for path in project.model.iterdir()]
    assert told["bytes_on_disk"] == sum(sizes)


def test_time_and_memory_are_measured_on_the_spot(shell, project, tmp_path):
    told = json.loads(shell("info", project.model, "--json").out)
    assert told["milliseconds_per_document"] > 0 and told["documents_per_second"] > 0
    assert told["peak_memory_bytes"] is None or told["peak_memory_bytes"] >= 0
    assert told["measured_on"].startswith("a review of 2")
    (tmp_path / "text.txt").write_text("We saw a film. " * 5)
    for text in (tmp_path / "text.txt", "We saw a film. " * 5):
        told = json.loads(shell("info", project.model, "--json", "--text", text).out)
        assert told["measured_on"].startswith("the given text of 20 words")
    assert "milliseconds" not in shell("info", project.model, "--no-measure").out


def test_many_classes_are_cut_short(shell, tmp_path):
    texts, labels = reviews(50, classes=[f"class {n}" for n in range(10, 60)])
    tiny(training__epochs=1, validation=0.0).fit(texts, labels).save(tmp_path / "model")
    assert "class 29, ... (50 in all)" in shell("info", tmp_path / "model").out


def test_without_a_model_the_installation_is_described(shell):
    told = json.loads(shell("info", "--json").out)
    assert told["regard"] == regard.__version__ and told["torch"] == str(torch.__version__)
    assert {"python", "threads", "gpu"} <= told.keys()
    assert any("kernels" in name for name in told), "which path computes"
    assert re.match(rf"regard +{re.escape(regard.__version__)}\n", shell("info").out)


def test_what_is_no_model_is_one_line(shell, tmp_path):
    assert "it has no config.json" in shell("info", tmp_path).error
    (tmp_path / "ok.csv").touch()
    assert "ok.csv is a file; name the folder" in shell("info", tmp_path / "ok.csv").error


def test_an_unknown_choice_of_kernels_is_named(shell, monkeypatch):
    monkeypatch.setenv("REGARD_KERNELS", "fast")
    assert "REGARD_KERNELS" in shell("info").error and "fast" in shell("info").error
