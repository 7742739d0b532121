from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / ".." / "shared" / "data"

pytestmark = pytest.mark.skipif(
    not (DATA / "sentence_boundaries").is_dir(), reason=f"needs the treebanks in {DATA.name}"
)


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    """The script that makes the table of the documentation, so that both measure the same."""
    spec = importlib.util.spec_from_file_location("sentences", ROOT / "benchmarks" / "sentences.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sentences"] = module  # dataclasses look their module up
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")  # where scripts find what they share
        spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("with_last", [True, False])
@pytest.mark.parametrize(
    ("treebank", "target"),
    [("English EWT, reviews", 88), ("German GSD", 92), ("Korean GSD", 87), ("Korean Kaist", 99)],
)
def test_sentences_end_where_the_treebank_says(benchmark, treebank, target, with_last):
    """Issue 2: also if the text's own end, which no one can miss, does not count."""
    sentences = benchmark.read_treebank(DATA, treebank, "test")
    assert benchmark.score_sentences(sentences, with_last=with_last).f1 >= target


@pytest.mark.parametrize("treebank", ["English EWT, reviews", "German GSD", "Korean GSD"])
def test_words_are_those_of_the_treebank(benchmark, treebank):
    sentences = benchmark.read_treebank(DATA, treebank, "test")
    assert benchmark.score_words(sentences).f1 >= 98


def test_at_least_forty_of_the_english_golden_rules_hold(benchmark):
    rules = [r for r in benchmark.read_golden(DATA) if r.name == benchmark.GOLDEN_ENGLISH]
    assert len(rules) == 48
    assert benchmark.golden_passed(rules) >= 40


@pytest.mark.parametrize(("language", "count"), [("zh", 2), ("ja", 4), ("de", 3), ("fr", 5)])
def test_all_golden_rules_hold(benchmark, language, count):
    rules = [rule for rule in benchmark.read_golden(DATA) if rule.language == language]
    assert benchmark.golden_passed(rules) == len(rules) == count
