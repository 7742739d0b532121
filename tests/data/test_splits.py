"""Training and validation documents: no document, group or moment on both sides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.columns import Columns
from regard.data.corpus import build_corpus
from regard.data.splits import (
    deal_folds,
    split_by_group,
    split_by_time,
    split_random,
    split_validation,
)
from regard.errors import ConfigError, DataError
from regard.text.document import Document


def assert_whole(split, count):
    both = np.concatenate([split.training, split.validation])
    assert sorted(both.tolist()) == list(range(count))
    assert len(split.training) and len(split.validation)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=6, max_size=80), st.floats(0.01, 0.99))
def test_a_random_split_keeps_the_shares_of_the_classes(targets, fraction):
    classes = np.array(targets)
    split = split_random(classes, fraction, seed=0)
    assert_whole(split, len(targets))
    wanted = min(max(round(len(targets) * fraction), 1), len(targets) - 1)
    assert len(split.validation) == min(wanted, len(targets) - len(set(targets)))
    for name, size in zip(*np.unique(classes, return_counts=True), strict=True):
        taken = int((classes[split.validation] == name).sum())
        assert taken < size, "every class keeps a training document"
        share = size * wanted / len(targets)
        assert taken >= min(int(share), size - 1)


def test_shares_are_exact_where_they_can_be():
    classes = np.repeat([0, 1, 2], [700, 200, 100])
    held_out = classes[split_random(classes, 0.1, seed=3).validation]
    assert np.bincount(held_out).tolist() == [70, 20, 10]


def test_a_seed_decides_and_another_decides_otherwise():
    classes = np.arange(100) % 2
    first, same, other = (split_random(classes, 0.2, seed=seed) for seed in (1, 1, 2))
    assert first.validation.tolist() == same.validation.tolist() != other.validation.tolist()


def test_classes_of_one_document_stay_in_training():
    split = split_random(np.array([0, 1, 2, 3, 3, 3]), 0.5, seed=0)
    assert set(split.training.tolist()) >= {0, 1, 2}
    with pytest.raises(DataError, match=r"every class has only one document.* column of labels\?$"):
        split_random(np.arange(4), 0.5, seed=0)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=60), st.floats(0.01, 0.99))
def test_no_group_is_on_both_sides(groups, fraction):
    names = np.array(groups)
    if len(set(groups)) == 1:
        with pytest.raises(DataError, match="all documents are of one group"):
            split_by_group(names, fraction, seed=0)
        return
    split = split_by_group(names, fraction, seed=0)
    assert_whole(split, len(groups))
    assert not set(names[split.training].tolist()) & set(names[split.validation].tolist())


def test_groups_come_near_the_fraction_even_beside_a_large_one():
    groups = np.repeat(np.arange(101), [900, *[1] * 100])
    for seed in range(5):
        assert len(split_by_group(groups, 0.1, seed=seed).validation) == 100


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=2, max_size=60), st.floats(0.01, 0.99))
def test_every_validation_document_is_later_than_training(times, fraction):
    moments = np.array(times, dtype=float)
    if len(set(times)) == 1:
        with pytest.raises(DataError, match="all documents are of one time"):
            split_by_time(moments, fraction)
        return
    split = split_by_time(moments, fraction)
    assert_whole(split, len(times))
    assert moments[split.training].max() < moments[split.validation].min()


def test_the_latest_tenth_is_held_out():
    moments = np.random.default_rng(0).permutation(100)
    assert sorted(moments[split_by_time(moments, 0.1).validation]) == list(range(90, 100))


@pytest.fixture
def corpus(tmp_path):
    rows = [
        Document(f"text {n}", "ab"[n % 2], {"g": n // 4, "t": f"2024-01-{n + 1:02}"})
        for n in range(24)
    ]
    return build_corpus(rows, tmp_path, columns=Columns(group="g", time="t"))


@pytest.mark.parametrize("by", ["random", "group", "time"])
def test_a_corpus_is_split_each_way_within_the_chosen_documents(corpus, by):
    chosen = np.arange(4, 24)
    split = split_validation(corpus, 0.25, seed=0, by=by, indices=chosen)
    both = np.concatenate([split.training, split.validation])
    assert sorted(both.tolist()) == chosen.tolist()
    assert 4 <= len(split.validation) <= 5
    if by == "time":
        assert split.validation.tolist() == [19, 20, 21, 22, 23]
    if by == "random":
        assert sorted(corpus.class_counts(split.training).tolist()) == [7, 8]


def test_several_labels_and_none_are_split_by_chance(tmp_path):
    for number, label in enumerate([("a", "b"), None]):
        rows = [Document(f"text {n}", label) for n in range(10)]
        corpus = build_corpus(rows, tmp_path / str(number))
        assert len(split_validation(corpus, 0.2, seed=0).validation) == 2


def test_what_cannot_be_split_is_an_error(tmp_path, corpus):
    plain = build_corpus([Document("a", "x"), Document("b", "y")], tmp_path / "plain")
    with pytest.raises(DataError, match="a split by time needs a time column; use --time-column"):
        split_validation(plain, 0.5, seed=0, by="time")
    with pytest.raises(DataError, match="1 documents cannot be split"):
        split_validation(corpus, 0.5, seed=0, indices=[3])
    with pytest.raises(ConfigError, match="fraction must be between 0 and 1, got 1"):
        split_validation(corpus, 1.0, seed=0)
    with pytest.raises(ConfigError, match="by cannot be 'chance'"):
        split_validation(corpus, 0.5, seed=0, by="chance")


def test_folds_deal_out_every_class_evenly(tmp_path):
    labels = ["a"] * 21 + ["b"] * 8 + ["alone"] + ["pair"] * 2
    corpus = build_corpus([Document("word", label) for label in labels], tmp_path)
    folds = deal_folds(corpus, 4, seed=0)
    assert folds[29] == -1, "a class of one document is never held out"
    assert folds[30] != folds[31]
    for places in (range(21), range(21, 29)):
        counts = np.bincount(folds[list(places)], minlength=4)
        assert counts.max() - counts.min() <= 1
    assert np.array_equal(folds, deal_folds(corpus, 4, seed=0))
    assert not np.array_equal(folds, deal_folds(corpus, 4, seed=1))
