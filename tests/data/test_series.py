import numpy as np
import pytest
import torch

from regard.data.series import SeriesBatch
from regard.errors import DataError


def test_series_of_any_lengths_go_into_one_batch():
    batch = SeriesBatch.from_rows([np.ones((3, 2)), np.zeros((0, 2)), [[5, 6]]], [1, 0, 2])
    assert len(batch) == 3
    assert batch.steps.lengths.tolist() == [3, 0, 1]
    assert batch.steps.values.dtype == torch.float32
    assert batch.steps.values[-1].tolist() == [5, 6]


def test_whole_numbers_are_classes_and_others_are_numbers():
    rows = [np.ones((1, 1))] * 2
    assert SeriesBatch.from_rows(rows, [1, 0]).answers.dtype == torch.int64
    assert SeriesBatch.from_rows(rows, [0.5, 1.0]).answers.tolist() == [[0.5], [1.0]]
    assert SeriesBatch.from_rows(rows).answers is None
    moved = SeriesBatch.from_rows(rows, [1, 0]).to("cpu")
    assert moved.answers.tolist() == [1, 0]


@pytest.mark.parametrize("rows", [[], [np.ones(3)], [np.ones((1, 2)), np.ones((1, 3))]])
def test_series_with_other_features_are_refused(rows):
    with pytest.raises(DataError, match="the same features"):
        SeriesBatch.from_rows(rows)
