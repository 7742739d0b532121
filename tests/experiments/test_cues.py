import numpy as np
import pytest
import torch

from regard.experiments.cues import (
    POOLED,
    PRICES,
    Penalty,
    PoolingComparison,
    draw_documents,
    overlap,
)
from regard.ragged import Ragged


@pytest.mark.parametrize("markers", [1, 3])
def test_the_words_behind_the_markers_tell_the_label(markers):
    found = draw_documents(200, length=11, markers=markers, words=10, seed=0)
    assert found.label_count == 2**markers
    for ids, label, places in zip(found.ids, found.labels, found.places, strict=True):
        told = 0
        for marker, place in enumerate(places):
            assert ids[place - 1] == 2 + marker
            assert (ids == 2 + marker).sum() == 1
            told = 2 * told + int(ids[place] - 2 - markers >= 5)
        assert label == told


def test_the_words_alone_do_not_tell():
    """Either label has about as many words of either half, but for the one that counts."""
    found = draw_documents(2000, length=40, words=10, seed=0)
    high = (found.ids >= 2 + 1 + 5).mean(1)
    assert abs(high[found.labels == 0].mean() - high[found.labels == 1].mean()) < 0.05


def test_a_batch_holds_the_chosen_documents():
    found = draw_documents(6, length=4, seed=0)
    batch = found.batch(np.array([4, 1]))
    assert batch.ids.values.view(2, 4).tolist() == found.ids[[4, 1]].tolist()
    assert batch.labels.tolist() == found.labels[[4, 1]].tolist()
    assert len(found.whole) == 6


def test_attention_finds_the_word_that_decides():
    """001-06: all four train; the weight of the mean is shared out evenly."""
    config = PoolingComparison(length=16, examples=1500, held_out=200, epochs=10)
    rows = config.run(0, lambda line: None).rows
    found = {row.name: row.values for row in rows}
    assert tuple(found) == POOLED
    assert found["attention"][0] > 0.9
    assert abs(found["mean"][2] - 3 / 16) < 0.02
    assert found["attention"][2] > 2 * found["mean"][2]


def test_the_overlap_falls_as_its_price_rises():
    """001-10: the mean of A A^T off its diagonal."""
    found = Penalty(length=14, examples=1500).run(0, lambda line: None)
    overlaps = [row.values[0] for row in found.rows]
    assert len(overlaps) == len(PRICES)
    assert overlaps == sorted(overlaps, reverse=True)
    assert overlaps[-1] < 0.5 * overlaps[0]


def test_overlap_is_the_mean_off_the_diagonal():
    rows = [torch.softmax(torch.randn(length, 3), 0) for length in (4, 2)]
    expected = 0.0
    for row in rows:
        product = row.T @ row
        expected += product[~torch.eye(3, dtype=torch.bool)].mean().item() / 2
    assert overlap(Ragged.from_rows(rows)) == pytest.approx(expected, rel=1e-5)


def test_hops_that_look_elsewhere_do_not_overlap():
    apart = Ragged.from_rows([torch.eye(2)])
    alike = Ragged.from_rows([torch.tensor([[1.0, 1.0], [0.0, 0.0]])])
    assert (overlap(apart), overlap(alike)) == (0.0, 1.0)
