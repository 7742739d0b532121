"""The scripts that measure what the documents claim: they run, and count rightly."""

import importlib.util
import json
import random
import re
import runpy
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from scipy.stats import fisher_exact

from regard.experiments.addition import Addition
from support.reviews import reviews, tiny

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"


def script(name):
    """Load a script of the benchmarks folder by itself."""
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for the names in their annotations
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def toy_reviews(tmp_path):
    """A file of toy reviews."""
    texts, labels = reviews(64)
    path = tmp_path / "train.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"text": texts, "label": labels}), path)
    return path


def test_mean_and_attention_are_compared_seed_by_seed(toy_reviews, monkeypatch, capsys):
    """001-22: a table with mean and deviation over the seeds, and paired tests."""
    monkeypatch.syspath_prepend(str(FOLDER))
    pooling = script("pooling")
    folder, found = toy_reviews.parent, {}
    toy_reviews.with_name("test.parquet").write_bytes(toy_reviews.read_bytes())
    monkeypatch.setattr(pooling, "save", lambda name, result: found.update(result))
    options = {"data": folder, "documents": 64, "test_documents": 64, "device": "cpu"}
    (run,) = (pooling.train("HN-AVE", 0, options) for _ in range(1))
    assert run["whole"] == pooling.unpacked(run["right_whole"], 64).mean()
    assert run["network"] == pooling.unpacked(run["right_network"], 64).mean()
    about = {"commit": "abc", "date": "2026-11-16", "machine": {"processor": "x"}}
    made_up = {"HN-ATT": 60, "HN-AVE": 30, "HN-MAX": 60, "CAHAN": 59}
    runs = [
        {"variant": name, "seed": seed, "whole": right / 64, "network": right / 64, **about}
        | {f"right_{part}": pooling.packed(np.arange(64) < right) for part in pooling.PARTS}
        for name, right in made_up.items()
        for seed in range(5)
    ]
    pooling.report(runs, Namespace(**options, name="pooling"))
    assert "HN-AVE: 46.88 (0.00)" in capsys.readouterr().out
    worse, same, alike = found["whole"]["pairs"]
    assert worse["pair"] == "HN-ATT - HN-AVE" and worse["difference"] == pytest.approx(30 / 64)
    assert worse["p_corrected"] < 0.001 and worse["seeds_won"] == 5
    assert same["p"] == 1 and alike["interval"][0] <= 0
    assert found["commit"] == "abc" and found["seeds"] == [0, 1, 2, 3, 4]


def test_poolings_that_share_what_no_network_has_a_say_in_are_as_those_trained_alone(
    toy_reviews, monkeypatch
):
    monkeypatch.syspath_prepend(str(FOLDER))
    pooling = script("pooling")
    toy_reviews.with_name("test.parquet").write_bytes(toy_reviews.read_bytes())
    options = {"data": toy_reviews.parent, "documents": 64, "test_documents": 64, "device": "cpu"}
    alone = pooling.train("HN-AVE", 0, options)
    for module, name in (
        (pooling.classifier, "prepare"),
        (pooling.classifier, "learn_own_vectors"),
        (pooling.wide, "learn_ngrams"),
    ):
        monkeypatch.setattr(module, name, getattr(module, name))  # given back after the test
    pooling.share_work()
    pooling.train("HN-ATT", 0, options)
    shared = pooling.train("HN-AVE", 0, options)
    assert {**shared, "seconds": 0} == {**alone, "seconds": 0}


def test_ngrams_that_are_learnt_once_are_those_of_every_variant(toy_reviews, monkeypatch):
    """Learnt once for a seed, they give each variant the answers that it has with its own."""
    monkeypatch.syspath_prepend(str(FOLDER))
    pooling = script("pooling")
    toy_reviews.with_name("test.parquet").write_bytes(toy_reviews.read_bytes())
    options = {"data": toy_reviews.parent, "documents": 64, "test_documents": 64, "device": "cpu"}
    own = pooling.train("HN-MAX", 1, options)
    learn, asked = pooling.wide.learn_ngrams, []

    def counted(*given, **named):
        asked.append(given)
        return learn(*given, **named)

    monkeypatch.setattr(pooling.wide, "learn_ngrams", pooling.once(counted, pooling.key_of_ngrams))
    pooling.train("HN-ATT", 1, options)
    recalled = pooling.train("HN-MAX", 1, options)
    assert len(asked) == 1 and recalled["right_whole"] == own["right_whole"]
    pooling.train("HN-MAX", 2, options)
    assert len(asked) == 2, "another seed holds other documents out"


def test_words_of_the_list_are_counted_among_the_heaviest_tenth_and_the_others(monkeypatch, capsys):
    """001-24: in toy reviews one word of the list decides each text, so it must weigh most."""
    monkeypatch.syspath_prepend(str(FOLDER))
    lexicon = script("lexicon")
    texts, labels = reviews(80)
    counts = lexicon.tally(tiny().fit(texts, labels), texts[:40])
    words = sum(len(re.findall(r"\w+|[^\w\s]", text)) for text in texts[:40])
    assert counts["heavy"] + counts["light"] == words
    lexicon.report(counts)
    heavy, light = counts["heavy_listed"], counts["light_listed"]
    table = [[heavy, counts["heavy"] - heavy], [light, counts["light"] - light]]
    chance = fisher_exact(table, alternative="greater").pvalue
    assert chance < 0.001
    assert f"p = {chance:.3g}" in capsys.readouterr().out


def test_ngrams_that_count_by_place_are_compared_on_what_they_have_not_seen(monkeypatch):
    """The end of each text says what it is, and what it begins with says nothing."""
    monkeypatch.syspath_prepend(str(FOLDER))
    emphasis = script("emphasis")
    draw = random.Random(0)
    said = [(draw.choice(["good", "bad"]), draw.choice(["good", "bad"])) for _ in range(500)]
    filler = " ".join(f"They walked past house {n}." for n in "abcdefgh")
    texts = [f"At first it is {first}. {filler} At last it is {last}." for first, last in said]
    found = emphasis.compare(texts, [last for _, last in said], emphasis.Set("", 500, asked=1))
    assert found["chosen"] == [(0.0, 2.0)] and found["answered"] == 100
    assert found["sentences"] == 10
    assert found["log_loss"][1] < found["log_loss"][0] and found["interval"][1] < 0


def test_signs_are_counted_as_the_example_of_keras_counts_them(monkeypatch, tmp_path):
    """Blanks behind a short total count too, so that whole totals are never more."""
    monkeypatch.syspath_prepend(str(FOLDER))
    addition = script("addition")
    wanted = [[5, 6, 7], [5, 6], [6, 5], [5]]
    assert addition.share_of_signs([[5, 6, 7], [5, 6], [5, 6], []], wanted, 3) == 9 / 12
    run = addition.run(0, replace(Addition.quick(), epochs=1))
    assert run["epochs"] == 1 and 0 <= run["exact"] <= run["signs"] < 1
    # Ended after its first epoch, it goes on as if nothing had been.
    settings = replace(Addition.quick(), epochs=2)
    whole = addition.run(0, settings)
    monkeypatch.setattr(addition, "TARGET", -1.0)
    assert addition.run(0, settings, tmp_path)["epochs"] == 1
    monkeypatch.undo()
    resumed = addition.run(0, settings, tmp_path)
    assert {**resumed, "cpu_seconds": 0} == {**whole, "cpu_seconds": 0}


@pytest.fixture
def accuracy(monkeypatch):
    """The script of the large table; it imports what the benchmarks share."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return script("accuracy")


def test_the_table_is_measured_once_and_kept(accuracy, tmp_path, monkeypatch, capsys):
    """13.5: every figure is kept as it comes, and a second run measures only what is missing."""
    texts, labels = reviews(64)
    (tmp_path / "mr").mkdir()
    for name, part in (("train", slice(0, 48)), ("test", slice(48, 64))):
        columns = pyarrow.table({"text": texts[part], "label": labels[part]})
        pyarrow.parquet.write_table(columns, tmp_path / "mr" / f"{name}.parquet")
    out = tmp_path / "accuracy.json"
    small = ["--set", "network.embedding_size=8", "--set", "training.epochs=1"]
    asked = ["accuracy.py", "--sets", "mr", "--seeds", "0", "--data", str(tmp_path), *small]
    monkeypatch.setattr("sys.argv", [*asked, "--out", str(out), "--threads", "1"])
    accuracy.main()
    runs = json.loads(out.read_text())["runs"]
    assert [(run["set"], run["seed"]) for run in runs] == [("mr", 0), ("mr", None), ("mr", None)]
    assert all(0 <= run["accuracy"] <= 1 and run["documents"] == 16 for run in runs)
    capsys.readouterr()
    accuracy.main()
    assert capsys.readouterr().out == ""
    found = json.loads(out.read_text())
    assert found["runs"] == runs and found["seeds"] == [0]
    lines = list(runpy.run_path(str(FOLDER.parent / "scripts" / "tables"))["accuracy"](found))
    assert lines[0] == [
        "set",
        runs[0]["method"],
        "TF-IDF + SVM",
        "naive Bayes 1-3-grams + LR",
        "must",
    ]
    assert lines[1][:-1] == ["MR", *(f"{100 * run['accuracy']:.2f}" for run in runs)]
    assert lines[1][-1].removesuffix(": **missed**") == "78"


def test_headers_and_quotes_of_a_post_are_cut(accuracy):
    """The lines that give the group away: headers, what others wrote, and who wrote it."""
    post = "From: me\nSubject: x\n\nIn article <1> you write\nann@b.c wrote:\n> old\nmine\n| his\n"
    assert accuracy.body({"text": post}).split() == ["mine"]


def test_runs_of_several_processes_are_kept_once_each(tmp_path, monkeypatch):
    """Issue 12.8: a file of runs names commit, machine, seeds and date, also without git."""
    measuring = script("measuring")
    monkeypatch.setattr(measuring, "RESULTS", tmp_path)
    monkeypatch.setenv("COMMIT", "abc1234")
    for seed, accuracy in ((1, 0.5), (0, 0.7), (1, 0.9)):
        measuring.keep_run("toys", {"seed": seed, "accuracy": accuracy}, same=("seed",))
    found = json.loads((tmp_path / "toys.json").read_text())
    assert [(run["seed"], run["accuracy"]) for run in found["runs"]] == [(0, 0.7), (1, 0.9)]
    assert found["commit"] == "abc1234" and found["seeds"] == [0, 1]
    assert found["date"] and found["machine"]["processor"]


def test_a_benchmark_that_was_stopped_goes_on_from_what_it_kept(tmp_path, monkeypatch, capsys):
    """Parts of several runs are added up, and the file names the commits of all of them."""
    monkeypatch.syspath_prepend(str(FOLDER))
    verdict, path, found = script("verdict"), tmp_path / "runs.jsonl", {}
    assert verdict.kept_runs(path) == []
    bands = {"reviews": verdict.BANDS, "planted": verdict.BODIES}
    for commit, faithful in (("abc", 1), ("def", 4)):
        monkeypatch.setenv("COMMIT", commit)
        for kind, some in bands.items():
            for band in map(verdict.named, some):
                counts = {"erasure, own, both": {"faithful": faithful, "weak": 5 - faithful}}
                about = {"kind": kind, "band": band, "method": "erasure", "seed": 0}
                verdict.add_run(path, {**about, "verdicts": counts})
    monkeypatch.setattr(verdict, "save", lambda name, result: found.update(result))
    verdict.report(verdict.kept_runs(path), {"documents": 10}, "verdict")
    assert found["commit"] == "abc, def" and found["seeds"] == [0] and found["documents"] == 10
    row = found["planted"]["21-60 words"]["erasure, own, both"]
    assert row == {"documents": 10, "faithful": 0.5, "weak": 0.5}


def test_a_bert_is_taught_and_tuned_on_files_like_ours(tmp_path, monkeypatch):
    """Each measure of benchmarks/bert.py is added to one file, with what was asked."""
    monkeypatch.syspath_prepend(str(FOLDER))
    bert = script("bert")
    monkeypatch.setattr(bert, "LABELS", 12)
    texts, labels = reviews(40)
    imdb = tmp_path / "imdb"
    imdb.mkdir()
    for name, first in (("train", 0), ("test", 30), ("unsup", 20)):
        some = {"text": texts[first : first + 20], "label": labels[first : first + 20]}
        pyarrow.parquet.write_table(pyarrow.table(some), imdb / f"{name}.parquet")
    start, folder, out = tmp_path / "start", tmp_path / "bert", tmp_path / "bert.json"
    sizes = ("hidden_size=16", "heads=2", "layers=1", "feed_size=16")
    small = [part for one in sizes for part in ("--set", f"network.{one}")]
    common = ["--data", str(tmp_path), "--out", str(out), "--device", "cpu"]
    for measure, more in (
        ("begin", ["--save", start, *small]),
        ("pretrain", ["--bert", start, "--save", folder, "--epochs", 1]),
        ("text", ["--bert", folder, "--epochs", 1, "--begins", "taught"]),
    ):
        monkeypatch.setattr(sys, "argv", ["bert.py", measure, *common, *map(str, more)])
        bert.main()
    taught, tuned = json.loads(out.read_text())["measures"]
    assert taught["texts"] == 30, "those of the test are left out"
    assert [run["begins"] for run in tuned["tries"]] == ["taught"] * 3
    assert [run["examples"] for run in tuned["runs"]] == [10]
    (one,) = bert.sentences(_treebank(tmp_path), "dev")
    assert [one.text[m.start : m.end] for m in one.marked] == ["It rains.", "We stay in."]
    assert bert.by_rule(one.text) == one.marked


def _treebank(folder):
    rows = {"split": ["dev", "dev", "test"], "text": ["It rains.", "We stay in.", "No."]}
    pyarrow.parquet.write_table(pyarrow.table(rows), folder / "ud.parquet")
    return folder / "ud.parquet"


def test_an_export_is_compared_weighed_and_timed(toy_reviews, monkeypatch, tmp_path):
    """Issue 16: the same answers, the size of the folder, and documents a second of both."""
    pytest.importorskip("onnx", reason="needs the extra export")
    monkeypatch.syspath_prepend(str(FOLDER))
    export = script("export")
    toy_reviews.rename(toy_reviews.with_name("test.parquet"))
    tiny(training__epochs=1).fit(*reviews(64)).save(tmp_path / "model")
    options = Namespace(data=toy_reviews.parent, rounds=1)
    found = export.measure(tmp_path / "model", tmp_path / "onnx", options)
    assert found["reviews"] == 64 and found["same_labels"] == 1
    assert max(found["differs_by"].values()) < 1e-4
    assert found["bytes"]["model.onnx"] > 1000 and len(found["documents_per_second"]) == 6
