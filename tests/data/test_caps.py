"""Caps cut as ``Tokens.truncated`` does, for many documents at once."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.caps import Caps, CutTally, count_cuts, cut, length_at
from regard.data.runs import cut_runs, places_in_row, places_of_rows, row_sums
from regard.errors import ConfigError
from regard.text.document import Tokens

counts = st.lists(st.integers(0, 5), max_size=8)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 6), max_size=5), max_size=6),
    st.none() | st.integers(1, 4),
    st.none() | st.integers(1, 5),
)
def test_many_documents_are_cut_as_each_alone(documents, max_sentences, max_words):
    lengths = np.array([size for document in documents for size in document], dtype=np.int64)
    sentences = np.array([len(document) for document in documents], dtype=np.int64)
    kept = cut(lengths, sentences, Caps(max_sentences, max_words))
    first = 0
    tokens, per_sentence = [], []
    for document in documents:
        places = np.arange(first, first + sum(document), dtype=np.int32)
        first += sum(document)
        spans = np.stack([places, places + 1], axis=1)
        whole = Tokens("x" * first, spans, np.array(document, dtype=np.int32))
        left = whole.truncated(sentences=max_sentences, tokens=max_words)
        tokens += left.spans[:, 0].tolist()
        per_sentence.append(left.per_sentence.tolist())
    assert np.flatnonzero(kept.tokens).tolist() == tokens
    assert kept.sentence_lengths.tolist() == list(chain.from_iterable(per_sentence))
    assert kept.sentences.tolist() == [len(row) for row in per_sentence]
    dropped = count_cuts(lengths, sentences, kept)[:, 5]
    assert dropped.sum() == lengths.sum() - len(tokens)


def test_a_tally_counts_a_document_of_several_labels_once_in_all():
    tally = CutTally(Caps(max_words=1))
    lengths, sentences = np.array([3]), np.array([1])
    counts = count_cuts(lengths, sentences, cut(lengths, sentences, Caps(max_words=1)))
    tally.add(counts, ["b", "a"])
    report = tally.report()
    assert [entry.label for entry in report.classes] == ["a", "b"]
    assert report.total.words_dropped == report.classes[0].words_dropped == 2
    assert report.max_words == 1 and report.max_sentences is None


@given(st.lists(st.integers(0, 20), min_size=1, max_size=50), st.integers(1, 100))
def test_a_percentile_is_the_smallest_length_that_suffices(lengths, percent):
    found = length_at(np.bincount(lengths), percent / 100)
    shares = [sum(size <= limit for size in lengths) * 100 for limit in (found, found - 1)]
    assert shares[0] >= percent * len(lengths) > shares[1]


def test_of_nothing_every_percentile_is_zero():
    assert length_at(np.zeros(0, np.int64), 0.8) == 0


def test_settings_are_checked():
    with pytest.raises(ConfigError, match="max_words must be at least 1, got 0"):
        Caps(max_words=0)
    with pytest.raises(ConfigError, match="fraction must be above 0 and at most 1, got 80"):
        length_at(np.ones(3, np.int64), 80)


@given(counts)
def test_places_and_sums_of_rows_are_those_of_a_loop(lengths):
    sizes = np.array(lengths, dtype=np.int64)
    rows = [list(range(size)) for size in lengths]
    assert places_in_row(sizes).tolist() == list(chain.from_iterable(rows))
    starts = np.arange(len(sizes), dtype=np.int64) * 10
    assert places_of_rows(starts, sizes).tolist() == [
        10 * number + place for number, row in enumerate(rows) for place in row
    ]
    assert row_sums(places_in_row(sizes), sizes).tolist() == [sum(row) for row in rows]


def test_runs_are_as_long_as_the_limits_allow():
    runs = cut_runs(np.array([3, 3, 9, 1, 1, 1, 1]), most_items=3, most_total=6)
    assert list(runs) == [slice(0, 2), slice(2, 3), slice(3, 6), slice(6, 7)]
