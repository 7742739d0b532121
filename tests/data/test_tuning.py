"""Texts that are too long for a row lose their middle, and of two the longer one loses more."""

import numpy as np
import pytest

from regard.data.tuning import cut_middle, fit_both


def test_the_first_quarter_of_the_room_and_the_rest_from_the_end_stay():
    """Sun et al. (2019): of 510 pieces the first 127 and the last 383 stay."""
    ids = np.arange(2000)
    kept = cut_middle(ids, 510)
    assert kept.tolist() == [*range(127), *range(2000 - 383, 2000)]
    assert cut_middle(ids, 2000).tolist() == ids.tolist()
    assert cut_middle(ids, 1).tolist() == [1999]
    assert cut_middle(ids, 0).tolist() == []


@pytest.mark.parametrize("room", [0, 1, 2, 7, 10])
def test_two_texts_fill_the_room_between_them(room):
    """Nothing is cut that fits, no room is left, and a text shorter than half is whole."""
    for one in range(15):
        for other in range(15):
            first, second = fit_both(np.arange(one), np.arange(other), room)
            assert len(first) + len(second) == min(one + other, room)
            half = room // 2
            assert len(first) == one or len(first) >= half
            assert len(second) == other or len(second) >= half
            if len(first) < one and len(second) < other:
                assert abs(len(first) - len(second)) <= 1
