"""Receipts of captions: each word loses the cells that it looked at, and as many at random."""

import numpy as np

from regard.explain.alignment_receipts import SETS, measure_receipt


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
    assert versions[1:4].sum(1).tolist() == [1, 6, 23]  # 18 of 20 rounded up to one of a few sizes
    assert [round(one.without, 3) for one in receipt.written] == [0, 0, 0]
    assert receipt.better_count == 3 and receipt.judgement.sets == SETS // 3
    sizes = versions[4:].sum(1)
    assert sorted(set(sizes.tolist())) == [1, 6, 23]
    chance = [one.random_drop for one in receipt.written]
    np.testing.assert_allclose(chance, [1 / 64, 6 / 64, 23 / 64], atol=0.07)


def test_a_word_that_looks_everywhere_loses_half_at_most():
    weights = np.full((1, 16), 1 / 16, dtype=np.float32)
    receipt = measure_receipt(weights, lambda gone: 1 - gone.mean(1, keepdims=True), share=0.9)
    assert receipt.taken == 8
    assert receipt.written[0].drop == receipt.written[0].random_drop == 0.5
