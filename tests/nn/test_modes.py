"""Whether a network is learning or is being asked."""

import pytest
from torch import nn

from regard.nn.modes import in_evaluation


def modes(module):
    return [part.training for part in module.modules()]


def test_every_part_is_in_evaluation_and_then_as_it_was():
    network = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    network[0].eval()
    with in_evaluation(network):
        assert modes(network) == [False, False, False]
    assert modes(network) == [True, False, True]


def test_an_error_leaves_the_modes_as_they_were():
    network = nn.Dropout(0.5)
    with pytest.raises(ValueError, match="asked in vain"), in_evaluation(network):
        raise ValueError("asked in vain")
    assert network.training


def test_nothing_is_written_where_nothing_changes(monkeypatch):
    network = nn.Sequential(nn.Dropout(0.5)).eval()
    written = []
    monkeypatch.setattr(nn.Module, "__setattr__", lambda *given: written.append(given))
    with in_evaluation(network):
        pass
    assert not written
