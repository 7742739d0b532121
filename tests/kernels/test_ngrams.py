"""N-grams in C are those of the plain version."""

import copy
import pickle

import numpy as np
import pytest

from regard.kernels.ngrams import KeptTable, available
from regard.models.ngrams import (
    Emphasis,
    Marking,
    NGramTable,
    Picks,
    Rows,
    count_ngrams,
    weigh_tables,
)

pytestmark = pytest.mark.skipif(not available(), reason="there are no compiled kernels")


def drawn(seed, *, documents=30, words=12, longest_sentence=90):
    draw = np.random.default_rng(seed)
    sentences = draw.integers(0, 4, documents)
    lengths = draw.integers(0, longest_sentence, sentences.sum())
    ids = draw.integers(0, words, lengths.sum())
    ids[draw.random(len(ids)) < 0.02] = (1 << 21) + 5
    return Rows(ids, lengths, sentences)


def assert_same(table, rows, classes=3, threads=1):
    weights = np.random.default_rng(1).normal(size=(len(table), classes)).astype(np.float32)
    found = table.weigh(rows, weights, threads=threads)
    expected = table.values(rows).weighed_by(weights)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    shares = table.word_shares(rows, weights, threads=threads)
    expected = table.plain_word_shares(rows, weights)
    np.testing.assert_allclose(shares, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("longest", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_sums_and_shares_are_those_of_the_plain_version(seed, longest):
    rows = drawn(seed)
    counted = count_ngrams(rows, longest=longest)
    table = NGramTable(counted.keys, counted.rarity, longest)
    for other in (rows, drawn(seed + 100), drawn(seed, words=40)):
        assert_same(table, other)


MARKING = Marking(np.r_[0, 0, np.linspace(-3, 4, 10)].astype(np.float32))


@pytest.mark.parametrize("marking", [None, MARKING])
@pytest.mark.parametrize("emphasis", [Emphasis(last=2), Emphasis(first=0.5), Emphasis()])
@pytest.mark.parametrize("seed", range(3))
def test_sentences_may_count_differently(seed, emphasis, marking):
    rows = drawn(seed)
    counted = count_ngrams(rows)
    table = NGramTable(counted.keys, counted.rarity, emphasis=emphasis, marking=marking)
    for other in (rows, drawn(seed + 100), drawn(seed, words=40)):
        assert_same(table, other)


@pytest.mark.parametrize("seed", range(4))
def test_a_table_may_lack_what_stands_inside_its_ngrams(seed):
    rows = drawn(seed)
    counted = count_ngrams(rows)
    kept = np.random.default_rng(seed).random(len(counted.keys)) < 0.3
    assert_same(NGramTable(counted.keys[kept], counted.rarity[kept]), rows)


def test_a_long_document_is_counted_whole():
    rows = drawn(0, documents=2, words=3000, longest_sentence=20_000)
    counted = count_ngrams(rows, fewest=1)
    assert_same(NGramTable(counted.keys, counted.rarity), rows, classes=1)


def test_any_number_of_threads_gives_the_same_bits():
    rows = drawn(7)
    counted = count_ngrams(rows)
    table = NGramTable(counted.keys, counted.rarity)
    weights = np.ones((len(table), 2), np.float32)
    one, three = (table.weigh(rows, weights, threads=count) for count in (1, 3))
    assert one.tobytes() == three.tobytes()
    one, three = (table.word_shares(rows, weights, threads=count) for count in (1, 3))
    assert one.tobytes() == three.tobytes()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))])
def test_a_copy_stands_on_its_own_memory(copied):
    rows = drawn(7)
    counted = count_ngrams(rows)
    table = KeptTable(counted.keys, counted.rarity, 3)
    arguments = (rows.ids, rows.sentence_lengths, rows.sentences)
    weights = np.ones((len(counted.keys), 2), np.float32)
    (expected,) = table.weigh(*arguments, weights, threads=1)
    other = copied(table)
    del table
    assert np.array_equal(other.weigh(*arguments, weights, threads=1)[0], expected)


def test_no_documents_and_no_words_add_up_to_nothing():
    rows = drawn(7)
    counted = count_ngrams(rows)
    table = NGramTable(counted.keys, counted.rarity)
    none = np.zeros(0, np.int64)
    weights = np.ones((len(table), 2), np.float32)
    assert table.weigh(Rows(none, none, none), weights).shape == (0, 2)
    assert table.weigh(Rows(none, none, np.zeros(2, np.int64)), weights).tolist() == [[0, 0]] * 2
    assert table.word_shares(Rows(none, none, none), weights).shape == (0, 2)


def picked(seed, *, documents=300, sentences=40, words=12):
    """Documents of any sentences, in any order; many differ from the one before by one of them."""
    draw = np.random.default_rng(seed)
    lengths = draw.integers(0, 30, sentences)
    rows, row = [], list(range(10))
    for _ in range(documents):
        if draw.random() < 0.1:
            row = draw.integers(0, sentences, draw.integers(0, 12)).tolist()
        elif row:
            row = row.copy()
            row[draw.integers(len(row))] = int(draw.integers(sentences))
        rows.append(row)
    numbers = np.array([number for row in rows for number in row], np.int64)
    ids = draw.integers(0, words, lengths.sum())
    return Picks(ids, lengths, numbers, np.array([*map(len, rows)], np.int64))


@pytest.mark.parametrize("marking", [None, MARKING])
@pytest.mark.parametrize("emphasis", [Emphasis(), Emphasis(first=1, last=2)])
@pytest.mark.parametrize("longest", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_documents_put_together_are_weighed_as_in_full(seed, longest, emphasis, marking):
    picks = picked(seed)
    counted = count_ngrams(drawn(seed), longest=longest)
    table = NGramTable(counted.keys, counted.rarity, longest, emphasis, marking)
    weights = np.random.default_rng(1).normal(size=(len(table), 3)).astype(np.float32)
    found = table.weigh_picks(picks, weights)
    np.testing.assert_allclose(found, table.weigh(picks.rows, weights), rtol=1e-9, atol=1e-9)
    plain = table.values(picks.rows).weighed_by(weights)
    np.testing.assert_allclose(found, plain, rtol=1e-5, atol=1e-6)
    assert table.weigh_picks(picks, weights, threads=3).tobytes() == found.tobytes()


def test_a_document_without_ngrams_adds_up_to_nothing_after_any_other():
    picks = Picks(
        *(np.array(some, np.int64) for some in ([2, 3, 2, 1], [3, 1], [0, 1, 0], [1] * 3))
    )
    table = NGramTable(np.array([2, 3]), np.array([1.3, 2.7], np.float32))
    found = table.weigh_picks(picks, np.array([[0.1], [0.7]], np.float32))
    assert found[1].tolist() == [0.0] and found[0] == found[2] != 0


@pytest.mark.parametrize("emphasis", [Emphasis(), Emphasis(first=1, last=2)])
@pytest.mark.parametrize("marking", [None, MARKING])
def test_tables_of_words_are_weighed_beside_another_as_alone(emphasis, marking):
    """Words of which one table knows nothing, and words that only another knows."""
    rows = drawn(3)
    counted = count_ngrams(rows)
    words = np.arange(3, 40)
    tables = [
        NGramTable(counted.keys, counted.rarity, 3, emphasis, marking),
        NGramTable(words, np.linspace(1, 3, len(words), dtype=np.float32), 1, emphasis, marking),
    ]
    draw = np.random.default_rng(2)
    columns = [draw.normal(size=(3, len(table))).astype(np.float32) for table in tables]
    weights = [own.T for own in columns]  # which do not lie row after row
    together = weigh_tables(tables, weights, rows, threads=2)
    for table, own, found in zip(tables, weights, together, strict=True):
        assert found.tobytes() == table.weigh(rows, own).tobytes()
        plain = table.values(rows).weighed_by(own)
        np.testing.assert_allclose(found, plain, rtol=1e-5, atol=1e-6)
