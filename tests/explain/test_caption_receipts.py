"""Receipts of captions: each word loses the cells that it looked at, and as many at random."""

import numpy as np

from regard.explain.alignment_receipts import SETS, measure_receipt
from regard.explain.caption_receipts import cover_cells
from regard.records.alignment import LEAST_DECIDED
from regard.records.explanation import FAITHFUL, UNDECIDED


def test_each_word_loses_the_cells_that_hold_most_of_its_weight():
    """004-09: what was looked at is covered whole, whether a word looked at one cell or at many."""
    weights = np.full((3, 64), 0.001, dtype=np.float32)
    weights[0, 5] = weights[1, 8:14] = weights[2, 20:40] = 1.0
    weights /= weights.sum(1, keepdims=True)
    asked = []

    def likely(gone):
        """A word is lost as far as the cells that it rests on are gone."""
        asked.append(gone)
        needs = np.stack([weights[row] > 0.01 for row in range(3)])
        return 1 - gone.astype(float) @ needs.T / needs.sum(1)

    receipt = measure_receipt(weights, likely, share=0.9)
    (versions,) = asked
    assert versions[:2].sum(1).tolist() == [0, 64], "nothing is gone, and everything"
    assert versions[2:5].sum(1).tolist() == [1, 6, 23]  # 18 of 20 rounded up to one of a few sizes
    assert [round(one.without, 3) for one in receipt.written] == [0, 0, 0]
    assert receipt.better_count == 3 and receipt.judgement.sets == SETS // 3
    assert [one.blind for one in receipt.written] == [0, 0, 0]
    assert min(one.p_value for one in receipt.written) >= 1 / (1 + SETS // 3), "its own set counts"
    sizes = versions[5:].sum(1)
    assert sorted(set(sizes.tolist())) == [1, 6, 23]
    chance = [one.random_drop for one in receipt.written]
    np.testing.assert_allclose(chance, [1 / 64, 6 / 64, 23 / 64], atol=0.07)


def test_a_word_that_looks_everywhere_loses_half_at_most():
    weights = np.full((1, 16), 1 / 16, dtype=np.float32)
    receipt = measure_receipt(weights, lambda gone: 1 - gone.mean(1, keepdims=True), share=0.9)
    assert receipt.taken == 8
    assert receipt.written[0].drop == receipt.written[0].random_drop == 0.5


def test_cells_are_covered_with_the_mean_colour_and_the_rest_stays():
    pixels = np.zeros((3, 4, 4), np.uint8)
    pixels[:, 2:, 2:] = [[[200]], [[100]], [[48]]]  # the last of four cells
    gone = np.array([[0, 0, 0, 1], [1, 0, 1, 0], [0, 0, 0, 0]], bool)
    last, left, none = cover_cells(pixels, gone).numpy()
    assert last[:, 3, 3].tolist() == left[:, 0, 0].tolist() == [50, 25, 12]
    assert not last[:, :2].any() and np.array_equal(left[:, :, 2:], pixels[:, :, 2:])
    assert np.array_equal(none, pixels)


def peaked(words):
    """Weights of words that look at one cell of sixteen each."""
    return np.eye(words, 16, dtype=np.float32)


def test_a_word_that_the_picture_does_not_decide_is_no_part_of_the_verdict():
    """004-09: "of" follows from the words before it; what it loses is rounding, and no evidence."""
    weights = peaked(5)

    def likely(gone):
        """The first three words need their cell; the others are as sure without any."""
        left = 1 - gone[:, :5].astype(float)
        left[:, 3:] = 1 - 1e-7 * gone.sum(1, keepdims=True)
        return left

    receipt = measure_receipt(weights, likely, share=0.9)
    assert [one.decided for one in receipt.written] == [True, True, True, False, False]
    assert len(receipt.decided) == receipt.better_count == 3 and receipt.verdict == FAITHFUL
    assert receipt.mean_drop == 1.0, "of the three alone"


def test_where_the_picture_decides_no_word_the_verdict_says_so():
    receipt = measure_receipt(peaked(4), lambda gone: np.full((len(gone), 4), 0.9), share=0.9)
    assert receipt.verdict == UNDECIDED and receipt.judgement.p_value is None
    assert not receipt.decided and len(receipt.written) == 4
    assert receipt.mean_drop == receipt.mean_random_drop == receipt.better_count == 0


def test_a_word_is_decided_from_one_percentage_point_on():
    """The rule is fixed; a word that gains without the picture is not decided by it."""
    lost = np.array([LEAST_DECIDED + 1e-6, LEAST_DECIDED - 1e-6, -0.3])

    def likely(gone):
        return 0.5 - np.outer(gone.all(1), lost)

    written = measure_receipt(peaked(3), likely, share=0.9).written
    assert [one.decided for one in written] == [True, False, False]
