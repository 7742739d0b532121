import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy, mse_loss

from regard.data.series import SeriesBatch
from regard.errors import DataError
from regard.models.attention_lstm import AttentionLSTMConfig
from regard.tasks.loss import answer_loss

ROWS = [np.ones((2, 1)), np.zeros((3, 1))]


def model(answers):
    torch.manual_seed(0)
    return AttentionLSTMConfig(hidden_size=4).build(feature_count=1, answer_count=answers)


def test_classes_cost_their_cross_entropy():
    batch = SeriesBatch.from_rows(ROWS, [1, 0])
    network = model(2)
    expected = cross_entropy(network(batch).logits, batch.answers)
    torch.testing.assert_close(answer_loss(network, batch).mean, expected)


def test_numbers_cost_their_squared_error():
    batch = SeriesBatch.from_rows(ROWS, [[0.5, 1.0], [2.0, 0.1]])
    network = model(2)
    expected = mse_loss(network(batch).logits, batch.answers)
    torch.testing.assert_close(answer_loss(network, batch).mean, expected)


def test_answers_are_needed():
    with pytest.raises(DataError, match="needs answers"):
        answer_loss(model(1), SeriesBatch.from_rows(ROWS))
