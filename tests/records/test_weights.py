"""What can be read off weights, against plain loops."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.records.weights import (
    PHRASE,
    Weights,
    importance,
    per_word,
    phrases,
    pieces_holding_half,
    sum_by,
)


def han(lengths: list[int], seed: int = 0, hops: int = 0) -> tuple[Weights, Weights]:
    """Random word and sentence weights of a document whose words are two letters and a space."""
    draw = random.Random(seed)

    def shares(count: int) -> list[float]:
        drawn = [draw.random() + 1e-3 for _ in range(count)]
        return [value / sum(drawn) for value in drawn]

    columns = [[value for length in lengths for value in shares(length)] for _ in range(hops or 1)]
    starts = [3 * place for place in range(sum(lengths))]
    firsts = [sum(lengths[:place]) for place in range(len(lengths))]
    sentences = tuple(
        (3 * first, 3 * (first + length) - 1) for first, length in zip(firsts, lengths, strict=True)
    )
    mean = tuple(sum(values) / len(columns) for values in zip(*columns, strict=True))
    words = Weights(
        "word",
        tuple((start, start + 2) for start in starts),
        mean,
        by="sentence",
        hops=tuple(map(tuple, columns)) if hops else (),
    )
    return words, Weights("sentence", sentences, tuple(shares(len(lengths))))


lengths = st.lists(st.integers(1, 9), min_size=1, max_size=8)


@given(lengths, st.integers(0, 99))
def test_importance_is_word_weight_times_sentence_weight_and_sums_to_one(lengths, seed):
    """001-13, without length correction."""
    words, sentences = han(lengths, seed)
    found = importance(words, sentences)
    expected = [
        words.values[sum(lengths[:row]) + place] * sentences.values[row]
        for row, length in enumerate(lengths)
        for place in range(length)
    ]
    assert found.values == pytest.approx(expected, abs=1e-15)
    assert math.fsum(found.values) == pytest.approx(1, abs=1e-12)
    assert (found.name, found.by, found.pieces) == ("importance", "document", words.pieces)


@given(lengths, st.integers(0, 99))
def test_length_correction_multiplies_by_the_words_of_the_sentence(lengths, seed):
    """001-13, with length correction: proportional to the product, and sums to one."""
    words, sentences = han(lengths, seed)
    found = importance(words, sentences, length_corrected=True)
    plain = importance(words, sentences).values
    per_word = [length for length in lengths for _ in range(length)]
    scaled = [value * length for value, length in zip(plain, per_word, strict=True)]
    assert found.values == pytest.approx([value / sum(scaled) for value in scaled], abs=1e-12)
    assert math.fsum(found.values) == pytest.approx(1, abs=1e-12)


def test_equal_sentences_need_no_length_correction():
    words, sentences = han([4, 4, 4])
    corrected = importance(words, sentences, length_corrected=True)
    assert corrected.values == pytest.approx(importance(words, sentences).values, abs=1e-12)


def test_every_hop_has_its_own_importance_and_their_mean_is_the_whole():
    words, sentences = han([3, 1, 5], hops=4)
    found = importance(words, sentences)
    assert len(found.hops) == 4
    for hop in range(4):
        alone = importance(words.at_hop(hop), sentences)
        assert found.hops[hop] == alone.values
        assert math.fsum(alone.values) == pytest.approx(1, abs=1e-12)
    means = [sum(column) / 4 for column in zip(*found.hops, strict=True)]
    assert found.values == pytest.approx(means, abs=1e-12)


def test_hops_of_sentences_are_not_paired_with_hops_of_words():
    words, sentences = han([2, 2], hops=2)
    hopped = Weights("sentence", sentences.pieces, sentences.values, hops=(sentences.values,) * 2)
    assert importance(words, hopped).hops == ()


def test_a_word_outside_every_sentence_is_an_error():
    words, sentences = han([2, 2])
    with pytest.raises(DataError, match="0:2 stands in no sentence"):
        importance(words, Weights("sentence", sentences.pieces[1:], (1.0,)))


def test_the_sum_over_words_is_the_weight_of_a_sentence():
    words, sentences = han([3, 1, 5], hops=2)
    found = sum_by(words, sentences.pieces)
    # The words of each sentence sum to one, so here each sum is one.
    assert found.values == pytest.approx([1, 1, 1])
    assert all(column == pytest.approx([1, 1, 1]) for column in found.hops)
    assert (found.name, found.by, found.pieces) == ("sentence", "document", sentences.pieces)


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([], 0),
        ([1.0], 1),
        ([0.5, 0.5], 1),
        ([0.1] * 10, 5),
        ([0.6, 0.2, 0.2], 1),
        ([-0.9, 0.1], 1),
        ([0.0, 0.0], 0),
    ],
)
def test_half_of_the_weight_is_held_by_so_few(values, count):
    assert pieces_holding_half(values) == count


def test_weights_must_fit_their_pieces():
    with pytest.raises(DataError, match="2 word weights do not fit 1 pieces"):
        Weights("word", ((0, 1),), (0.5, 0.5))
    with pytest.raises(DataError, match="0 word weights do not fit 1 pieces"):
        Weights("word", ((0, 1),), (1.0,), hops=((),))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_weights_must_be_numbers(value):
    with pytest.raises(DataError, match="not finite"):
        Weights("word", ((0, 1),), (value,))


def test_a_long_record_has_a_short_name():
    words, _ = han([9] * 100, hops=3)
    assert repr(words) == "Weights('word' by sentence, 900 pieces, 3 hops)"
    assert len(words) == 900


def test_a_phrase_is_the_mean_of_its_sentence_near_words_counting_most():
    """By two loops."""
    spans = [(3 * place, 3 * place + 2) for place in range(7)]
    scores, homes = [0.0, 3.0, -5.0, 1.0, 2.0, 0.0, 4.0], [0, 0, 0, 0, 1, 1, 2]
    words = Weights.from_scores("word", spans, scores, unit="log-odds")
    found = phrases(words, sum_by(words, [(0, 11), (12, 17), (18, 20)]))
    for place, score in enumerate(found.scores):
        own = [other for other in range(7) if homes[other] == homes[place]]
        bell = [math.exp(-0.5 * ((place - other) / PHRASE) ** 2) for other in own]
        total = sum(scores[other] * height for other, height in zip(own, bell, strict=True))
        assert score == pytest.approx(total / sum(bell))
    assert (found.name, found.pieces, found.unit) == ("phrase", words.pieces, "log-odds")
    assert found.scores[6] == 4.0, "alone in its sentence"


def test_phrases_of_weights_without_a_sign_are_shares():
    words = Weights("word", ((0, 1), (2, 3), (4, 5)), (0.0, 1.0, 0.0))
    found = phrases(words)
    assert found.scores is None and sum(found.values) == pytest.approx(1.0)
    assert found.heaviest() == [1, 0, 2]
    assert len(phrases(Weights("word", (), ()))) == 0


def test_a_long_sentence_has_no_lead_a_word_by_its_length():
    """Issue 12.6: what is drawn as bars of sentences can be made up for their length."""
    words = Weights.from_scores(
        "word", [(0, 1), (2, 3), (4, 5), (6, 7)], [0.2, 0.2, 0.2, 0.3], unit="log-odds"
    )
    sentences = sum_by(words, [(0, 5), (6, 7), (8, 9)])
    found = per_word(sentences, words)
    assert found.scores == pytest.approx((0.2, 0.3, 0.0)) and found.unit == "log-odds"
    assert sentences.heaviest() == [0, 1] and found.heaviest() == [1, 0]
    assert sum(found.values) == pytest.approx(1.0)
    shares = Weights("sentence", ((0, 5), (6, 7)), (0.6, 0.4))
    assert per_word(shares, words).amounts == pytest.approx((1 / 3, 2 / 3))
