"""Word vectors from the company that words keep."""

import numpy as np

from regard.training.word_vectors import TokenRows, learn_vectors


def pairs_of_animals(count=400, seed=0):
    """Sentences of three: 2 and 3 (cat, dog) stand beside 6, 7; 4 and 5 (car, bus) beside 8, 9."""
    draw = np.random.default_rng(seed)
    kind = draw.integers(0, 2, count)
    rows = np.stack(
        [draw.integers(6, 8, count) + 2 * kind, draw.integers(2, 4, count) + 2 * kind], axis=1
    )
    return TokenRows(rows.ravel(), np.full(count, 2))


def similarity(vectors, one, other):
    return vectors[one] @ vectors[other] / np.prod(np.linalg.norm(vectors[[one, other]], axis=1))


def test_words_in_the_same_company_become_alike():
    vectors, known = learn_vectors([pairs_of_animals()], word_count=10, size=1000, seed=0)
    assert known.tolist() == [False, False] + [True] * 8
    assert similarity(vectors, 2, 3) > 0.15 > 0.05 > similarity(vectors, 2, 4)
    np.testing.assert_allclose(vectors[known].std(), 0.3, rtol=0.3)


def test_the_first_numbers_are_those_of_a_full_decomposition():
    """The power method finds what a dense singular value decomposition finds."""
    from regard.training.word_vectors import _count_pairs, _decompose, _surprise

    matrix = _surprise(_count_pairs([pairs_of_animals()], 10))
    left, values, _ = np.linalg.svd(matrix.toarray())
    found = _decompose(matrix, 2, 0)
    expected = left[:, :2] * np.sqrt(values[:2])
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-4)


def test_lots_count_as_one_and_sentence_ends_part():
    """Cutting the texts into lots changes nothing; a sentence of one word has no company."""
    whole = pairs_of_animals()
    halves = [
        TokenRows(whole.ids[part], whole.sentence_lengths[: len(whole.ids[part]) // 2])
        for part in (slice(0, 200), slice(200, None))
    ]
    one, _ = learn_vectors([whole], word_count=10, size=4, seed=0)
    two, _ = learn_vectors(halves, word_count=10, size=4, seed=0)
    np.testing.assert_allclose(np.abs(one), np.abs(two), atol=1e-3)
    alone = TokenRows(whole.ids, np.ones(len(whole.ids), np.int64))
    vectors, known = learn_vectors([alone], word_count=10, size=4, seed=0)
    assert not known.any() and not vectors.any()


def test_without_texts_no_word_has_a_vector():
    vectors, known = learn_vectors([], word_count=5, size=3, seed=0)
    assert vectors.shape == (5, 3) and not known.any()
    unknown = TokenRows(np.ones(6, np.int64), np.array([6]))
    assert not learn_vectors([unknown], word_count=5, size=3, seed=0)[1].any()


def test_words_in_the_same_company_are_still_told_apart():
    """From company alone these two would be one word to a network, whatever they mean.

    Where a half of each was its own, networks lost planted evidence that they find now.
    """
    draw = np.random.default_rng(0)
    rows = np.stack([np.full(400, 4), draw.integers(2, 4, 400), np.full(400, 5)], axis=1)
    texts = TokenRows(rows.ravel(), np.full(400, 3))
    vectors, _ = learn_vectors([texts], word_count=6, size=50, seed=0)
    apart = np.linalg.norm(vectors[2] - vectors[3]) / np.linalg.norm(vectors[2])
    assert apart > 1.1
    assert similarity(vectors, 2, 3) > similarity(vectors, 2, 4)
    again, _ = learn_vectors([texts], word_count=6, size=50, seed=0)
    assert np.array_equal(vectors, again)
