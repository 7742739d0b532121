"""Models in few bits: what is rounded, how coarsely, and that nothing else changes."""

import gzip
import json
import struct

import numpy as np
import pytest

from regard.export.packing import ALPHABET, fold_signs, narrowest, ngram_tree, pack, spell
from regard.export.rounding import round_vectors, round_weights, word_shifts
from regard.models.ngrams import NGramTable
from regard.models.wide import WidePart


def test_directions_that_matter_keep_more_digits():
    draw = np.random.default_rng(0)
    vectors, shifts = draw.normal(size=(500, 6)), np.zeros(500, np.uint8)
    matter = np.diag([1.0, 1.0, 1.0, 1e-2, 1e-2, 1e-2])
    found = round_vectors(vectors, matter, shifts, step=1e-3)
    errors = np.abs(found.vectors - vectors).max(0)
    assert (errors[:3] < 2e-3).all()
    assert (errors[3:] > errors[:3].max()).all() and (errors[3:] < 2e-2).all()


def test_a_finer_step_is_nearer():
    draw = np.random.default_rng(1)
    vectors, shifts = draw.normal(size=(200, 5)), word_shifts(200)
    errors = [
        np.abs(round_vectors(vectors, np.eye(5), shifts, step=step).vectors - vectors).max()
        for step in (1e-1, 1e-3, 1e-5)
    ]
    assert errors[0] > 50 * errors[1] > 2500 * errors[2] > 0


def test_rare_words_are_rounded_more_coarsely():
    shifts = word_shifts(30_000)
    assert shifts[0] == 0 and shifts[-1] > 0 and (np.diff(shifts.astype(int)) >= 0).all()


def test_directions_without_any_digit_are_left_out():
    vectors = np.zeros((10, 4))
    vectors[:, 0] = np.arange(10)
    found = round_vectors(vectors, np.eye(4), np.zeros(10, np.uint8), step=0.1)
    assert found.numbers.shape == (10, 1)
    np.testing.assert_allclose(found.vectors, vectors, atol=1e-9)


def test_of_two_labels_one_number_is_kept():
    table = NGramTable(np.arange(2, 5), np.ones(3, np.float32))
    part = WidePart(table, np.array([[1, 2], [0.5, -1], [3, 3]], np.float32))
    found = round_weights(part, step=1e-3, multilabel=False)
    assert found.numbers.tolist() == [[1000], [-1500], [0]]
    np.testing.assert_allclose(found.weights[:, 1] - found.weights[:, 0], [1, -1.5, 0], atol=1e-6)
    assert round_weights(part, step=1e-3, multilabel=True).numbers.shape == (3, 2)


def test_an_ngram_is_found_again_in_its_tree():
    bits = 21
    keys = [2, 5, 9, 2 << bits | 5, 2 << bits | 9, 5 << bits | 2, (2 << bits | 9) << bits | 5]
    tree = ngram_tree(np.array(keys), 12)
    singles = np.cumsum(tree["singles"].astype(int)).tolist()
    found, at = singles, 0
    for first, count in enumerate(tree["secondCounts"].tolist()):
        found = found + [
            first << bits | int(one)
            for one in np.cumsum(tree["second"][at : at + count].astype(int))
        ]
        at += count
    pairs, at = found[len(singles) :], 0
    for pair, count in zip(pairs, tree["thirdCounts"].tolist(), strict=True):
        found = found + [
            pair << bits | int(one) for one in np.cumsum(tree["third"][at : at + count].astype(int))
        ]
        at += count
    assert found == keys


@pytest.mark.parametrize("size", [0, 1, 2, 12, 13, 14, 1000])
def test_bytes_are_spelt_and_read_again(scripts, size):
    packed = np.random.default_rng(size).bytes(size)
    written = spell(packed)
    assert set(written) <= set(ALPHABET) and not set("<&\\") & set(written)
    read = "([written, alphabet, size]) => [...fromLetters(written, alphabet, size)]"
    assert bytes(scripts.evaluate(read, [written, ALPHABET, size])) == packed


def test_what_is_packed_can_be_read_again_and_is_always_the_same():
    numbers = np.array([0, -1, 1, -300, 300])
    arrays = {"a": narrowest(fold_signs(numbers)), "b": np.array([1.5, -2], np.float32)}
    packed = pack({"name": "ü\ud800"}, arrays)
    assert packed == pack({"name": "ü\ud800"}, arrays)
    raw = gzip.decompress(packed)
    (size,) = struct.unpack("<I", raw[:4])
    head = json.loads(raw[4 : 4 + size])
    assert head["name"] == "ü\ud800"
    assert head["arrays"] == [
        {"name": "a", "type": "u2", "count": 5},
        {"name": "b", "type": "f4", "count": 2},
    ]
    body = np.frombuffer(raw[4 + size :], np.uint8)
    assert (body[:5] + 256 * body[5:10].astype(int)).tolist() == [0, 1, 2, 599, 600]
