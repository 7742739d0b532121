"""Caps cut as ``Tokens.truncated`` does, for many documents at once."""

import re
from itertools import chain

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.batch import Batch, collate
from regard.data.batches import cut_runs, places_in_row, places_of_rows, row_sums
from regard.data.caps import Caps, CutTally, count_cuts, cut, length_at, to_fixed_array
from regard.errors import ConfigError
from regard.ragged import Ragged
from regard.text.document import Tokens
from regard.text.tokenize import TextConfig, tokenize
from regard.text.vocab import Vocab, count_words

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


def batch_of(documents):
    """A batch of documents given as lists of sentences of ids."""
    sentences = [sentence for document in documents for sentence in document]
    ids = [id for sentence in sentences for id in sentence]
    lengths = torch.tensor([len(sentence) for sentence in sentences], dtype=torch.int64)
    counts = torch.tensor([len(document) for document in documents], dtype=torch.int64)
    return Batch(Ragged(torch.tensor(ids, dtype=torch.int64), lengths), counts)


def test_a_sentence_of_26_ids_becomes_26_ids_and_4_zeros():
    """001-16: the note's example, an array (1, doc_size, sent_size) with sent_size 30."""
    ids = list(range(2, 28))
    found = to_fixed_array(batch_of([[ids]]), document_size=1, sentence_size=30)
    assert found.ids.shape == (1, 1, 30)
    assert found.ids[0, 0].tolist() == ids + [0] * 4
    assert found.report.total.documents_cut == 0


def test_a_text_becomes_the_array_that_its_words_spell():
    """001-16: ids from a vocabulary, 1 for a word that is not in it, zeros after the last."""
    text = (
        "First of all the film that we saw in the evening was a story of two people and a town "
        "that nobody had ever heard of. It ends well."
    )
    config = TextConfig()
    tokens = tokenize(text, config)
    known = count_words([tokens], config)
    del known["town"]
    vocab = Vocab.from_counts(known, TextConfig(min_count=1))
    found = to_fixed_array(collate([tokens], vocab), document_size=3, sentence_size=30)
    assert found.ids.shape == (1, 3, 30)
    words = [word.lower() for word in re.findall(r"\w+|\.", text)]
    first, second = words[:27], words[27:]
    for row, sentence in zip(found.ids[0], (first, second, []), strict=True):
        spelled = [vocab.words[id] for id in row[: len(sentence)]]
        assert spelled == [word if word != "town" else vocab.words[1] for word in sentence]
        assert not row[len(sentence) :].any()


sentences = st.lists(st.integers(1, 99), min_size=1, max_size=6)
documents = st.lists(st.lists(sentences, max_size=5), max_size=5)


@settings(max_examples=200, deadline=None)
@given(documents, st.integers(1, 4), st.integers(1, 5))
def test_the_array_is_that_of_a_plain_loop(documents, document_size, sentence_size):
    found = to_fixed_array(
        batch_of(documents), document_size=document_size, sentence_size=sentence_size
    )
    wanted = np.zeros((len(documents), document_size, sentence_size), dtype=np.int64)
    for row, document in zip(wanted, documents, strict=True):
        for line, sentence in zip(row, document, strict=False):
            kept = sentence[:sentence_size]
            line[: len(kept)] = kept
    assert np.array_equal(found.ids, wanted)
    words = sum(len(sentence) for document in documents for sentence in document)
    assert found.report.total.words == words
    assert found.report.total.words_dropped == words - np.count_nonzero(found.ids)


def test_what_is_cut_is_counted_for_each_label():
    batch = batch_of([[[5, 6, 7]], [[5]], [[5], [6], [7]]])
    found = to_fixed_array(batch, document_size=2, sentence_size=2, labels=["a", "b", "b"])
    a, b = found.report.classes
    assert (a.documents_cut, a.words_dropped, a.sentences_dropped) == (1, 1, 0)
    assert (b.documents, b.documents_cut, b.words_dropped, b.sentences_dropped) == (2, 1, 1, 1)


def test_sizes_are_checked():
    with pytest.raises(ConfigError, match="sentence_size must be at least 1, got 0"):
        to_fixed_array(batch_of([]), document_size=1, sentence_size=0)
