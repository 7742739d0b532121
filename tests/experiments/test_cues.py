import numpy as np
import pytest

from regard.experiments.cues import draw_documents


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
