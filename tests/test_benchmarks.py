"""The scripts that measure what the documents claim: they run, and count rightly."""

import importlib.util
import json
import re
import runpy
import statistics
import sys
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from scipy.stats import fisher_exact, ttest_rel

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
    """001-22: a table with mean and deviation over five seeds, and a paired test."""
    pooling = script("pooling")
    monkeypatch.setattr(pooling, "DATA", toy_reviews)
    seeds = range(5)
    scores = {name: [pooling.score(name, seed, 40) for seed in seeds] for name in pooling.POOLINGS}
    assert list(scores) == ["mean", "attention"]
    assert all(0 <= value <= 1 for values in scores.values() for value in values)
    capsys.readouterr()
    made_up = {"mean": [0.8, 0.9, 0.85, 0.7, 0.8], "attention": [0.9, 0.91, 0.9, 0.8, 0.85]}
    pooling.report(made_up, 5)
    printed = capsys.readouterr().out
    for name, values in made_up.items():
        mean, deviation = 100 * statistics.mean(values), 100 * statistics.stdev(values)
        assert f"| {name} | {mean:.2f} | {deviation:.2f} |" in printed
    expected = ttest_rel(made_up["attention"], made_up["mean"]).pvalue
    assert f"+6.20 points, 5 seeds, paired t-test p = {expected:.3g}" in printed


def test_words_of_the_list_are_counted_among_the_heaviest_tenth_and_the_others(capsys):
    """001-24: in toy reviews one word of the list decides each text, so it must weigh most."""
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
    assert lines[0] == ["set", runs[0]["method"], "TF-IDF + SVM", "naive Bayes 1-3-grams + LR"]
    assert lines[1] == ["MR", *(f"{100 * run['accuracy']:.2f}" for run in runs)]


def test_headers_and_quotes_of_a_post_are_cut(accuracy):
    """The lines that give the group away: headers, what others wrote, and who wrote it."""
    post = "From: me\nSubject: x\n\nIn article <1> you write\nann@b.c wrote:\n> old\nmine\n| his\n"
    assert accuracy.body({"text": post}).split() == ["mine"]
