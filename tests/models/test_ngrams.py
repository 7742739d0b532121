"""N-grams: found within sentences, counted, weighed, and shared out to words exactly."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from regard.models.ngrams import Emphasis, Marking, NGramTable, Rows, count_ngrams, find_ngrams


def run_of_key(key):
    """The ids of the words that an n-gram's key stands for, 21 bits each."""
    parts = [(key >> shift) & ((1 << 21) - 1) for shift in (42, 21, 0)]
    return tuple(part for part in parts if part)


def rows_of(*documents):
    """Documents as lists of sentences, each a list of ids."""
    sentences = [sentence for document in documents for sentence in document]
    return Rows(
        np.array([id for sentence in sentences for id in sentence], np.int64),
        np.array([len(sentence) for sentence in sentences], np.int64),
        np.array([len(document) for document in documents], np.int64),
    )


def drawn_rows(seed, documents=6, words=9):
    draw = np.random.default_rng(seed)
    return rows_of(
        *(
            [draw.integers(1, words, size=draw.integers(0, 8)).tolist() for _ in range(size)]
            for size in draw.integers(0, 4, size=documents)
        )
    )


def plain_counts(rows, longest=3):
    """The n-grams of each document, found one by one."""
    counts, token, sentence = [], 0, 0
    for size in rows.sentences.tolist():
        found = Counter()
        for length in rows.sentence_lengths[sentence : sentence + size].tolist():
            ids = rows.ids[token : token + length].tolist()
            runs = (tuple(ids[a:b]) for a in range(length) for b in range(a + 1, length + 1))
            found.update(run for run in runs if len(run) <= longest and min(run) > 1)
            token += length
        sentence += size
        counts.append(found)
    return counts


def table_of(rows):
    counted = count_ngrams(rows)
    return NGramTable(counted.keys, counted.rarity)


def drawn_weights(table, classes=3):
    return np.random.default_rng(0).normal(size=(len(table), classes))


def test_a_key_holds_the_words_of_its_ngram():
    found = find_ngrams(rows_of([[5, 6, 7], [8, 9]]))
    runs = [[run_of_key(key) for key in part.keys.tolist()] for part in found]
    assert runs == [[(5,), (6,), (7,), (8,), (9,)], [(5, 6), (6, 7), (8, 9)], [(5, 6, 7)]]
    assert [part.starts.tolist() for part in found] == [[0, 1, 2, 3, 4], [0, 1, 3], [0]]


def test_unknown_words_and_ids_that_do_not_fit_are_in_no_ngram():
    found = find_ngrams(rows_of([[5, 1, 7], [1 << 21, 9]]))
    assert [part.keys.tolist() for part in found] == [[5, 7, 9], [], []]


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_ngrams_found_one_by_one(seed):
    rows = drawn_rows(seed)
    expected = plain_counts(rows)
    held_by = Counter(run for document in expected for run in document)
    counted = count_ngrams(rows)
    runs = [run_of_key(key) for key in counted.keys.tolist()]
    assert sorted(runs) == sorted(run for run, count in held_by.items() if count >= 2)
    assert (np.diff(counted.keys) > 0).all()
    counts = np.array([[document[run] for run in runs] for document in expected])
    values = np.where(counts, (1 + np.log(np.maximum(counts, 1))) * counted.rarity, 0)
    norms = np.sqrt((values**2).sum(1, keepdims=True))
    expected = values / np.where(norms, norms, 1)
    np.testing.assert_allclose(counted.values.toarray(), expected, rtol=1e-6)


def test_with_a_limit_the_ngrams_of_most_documents_are_kept():
    rows = rows_of([[2, 3]], [[2, 3]], [[2, 4]], [[4]])
    assert [run_of_key(key) for key in count_ngrams(rows).keys.tolist()] == [
        (2,),
        (3,),
        (4,),
        (2, 3),
    ]
    assert [run_of_key(key) for key in count_ngrams(rows, most=3).keys.tolist()] == [(2,)]
    assert len(count_ngrams(rows, most=0).keys) == 0


def test_values_are_tf_idf_of_length_one():
    rows = rows_of([[2, 2, 2]], [[2], [3]], [[3]])
    values = count_ngrams(rows, longest=1).values.toarray()
    rare = np.log(4 / 3) + 1  # each is in two of three documents
    np.testing.assert_allclose(values[0], [1, 0], rtol=1e-6)
    np.testing.assert_allclose(values[1], [0.5**0.5, 0.5**0.5], rtol=1e-6)
    found = count_ngrams(rows, longest=1)
    np.testing.assert_allclose(found.rarity, [rare, rare], rtol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_what_was_counted_is_found_again(seed):
    rows = drawn_rows(seed)
    counted, found = count_ngrams(rows), table_of(rows).values(rows)
    assert found.features.tolist() == counted.values.sorted_indices().indices.tolist()
    assert found.counts.tolist() == np.diff(counted.values.indptr).tolist()
    np.testing.assert_array_equal(found.values, counted.values.sorted_indices().data)


def test_a_feature_counts_by_where_it_stands():
    rows = rows_of([[2], [3], [2]], [[2], [3], [4]], [[4]])
    table = NGramTable(np.array([2, 3, 4]), np.ones(3, np.float32), 1, Emphasis(first=9, last=18))
    first, middle, last = 1 + 9 * 25 / 36 + 18 / 36, 1 + 9 / 4 + 18 / 4, 1 + 9 / 36 + 18 * 25 / 36
    rows_to_weigh = [[(1 + np.log(2)) * (first + last) / 2, middle, 0], [first, middle, last]]
    expected = [row / np.linalg.norm(row) for row in np.array(rows_to_weigh)]
    found = table.values(rows).matrix(3).toarray()
    np.testing.assert_allclose(found, [*expected, [0, 0, 1]], rtol=1e-6)
    # An occurrence has the part of it that its sentence has.
    shares = table.plain_word_shares(rows, np.array([[1.0], [0], [0]], np.float32))[:3, 0]
    np.testing.assert_allclose(shares[2] / shares[0], last / first, rtol=1e-6)
    np.testing.assert_allclose(shares.sum(), expected[0][0], rtol=1e-6)


def test_a_feature_counts_by_what_stands_around_it():
    """A sentence counts by the mean of how likely its words are to be marked, unknown ones too."""
    marking = Marking(np.array([0, 0, 3, -1, 0.5], np.float32))
    rows = rows_of([[2, 3], [3, 4], [1], [4, 9, 2]], [[], [3]])
    means = np.array([1, -0.25, 0, 3.5 / 3, 0, -1])
    lengths = rows.sentence_lengths
    np.testing.assert_allclose(marking.heights(rows.ids, lengths), 1 / (1 + np.exp(2 - means)))
    table = NGramTable(np.array([3, 4]), np.ones(2, np.float32), 1, marking=marking)
    first, second, _, third, _, _ = marking.heights(rows.ids, lengths)
    expected = (1 + np.log(2)) * np.array([first + second, second + third]) / 2
    found = table.values(rows).matrix(2).toarray()
    np.testing.assert_allclose(found, [expected / np.linalg.norm(expected), [1, 0]], rtol=1e-6)


@pytest.mark.parametrize("marking", [None, Marking(np.linspace(0, 3, 9, dtype=np.float32))])
@pytest.mark.parametrize("emphasis", [Emphasis(), Emphasis(first=1, last=2)])
@pytest.mark.parametrize("seed", range(5))
def test_shares_of_words_add_up_to_what_the_features_say(seed, emphasis, marking):
    rows = drawn_rows(seed)
    table = replace(table_of(rows), emphasis=emphasis, marking=marking)
    weights = drawn_weights(table)
    together = np.zeros((len(rows.sentences), 3))
    np.add.at(together, rows.homes, table.plain_word_shares(rows, weights))
    np.testing.assert_allclose(together, table.values(rows).weighed_by(weights), atol=1e-12)


def test_nothing_is_found_in_nothing():
    table = table_of(drawn_rows(1))
    weights = drawn_weights(table)
    assert table.values(rows_of()).weighed_by(weights).shape == (0, 3)
    assert table.values(rows_of([], [[1, 1]])).weighed_by(weights).tolist() == [[0, 0, 0]] * 2
    empty = table_of(rows_of([[2]], [[3]]))
    assert len(empty) == 0
    assert empty.values(rows_of([[2]])).counts.tolist() == [0]
    assert empty.word_shares(rows_of([[2]]), np.zeros((0, 3), np.float32)).tolist() == [[0, 0, 0]]
