import pytest
import torch

from regard.nn.decoding.bridges import BRIDGES, BridgeConfig
from regard.nn.encoders import RecurrentEncoder
from regard.nn.recurrence import CELLS
from regard.ragged import Ragged

HIDDEN, LAYERS = 3, 2


def ended(cell):
    torch.manual_seed(0)
    encoder = RecurrentEncoder(4, HIDDEN, cell=cell, layers=LAYERS)
    rows = Ragged(torch.randn(7, 4), torch.tensor([4, 0, 3]))
    return encoder, rows, encoder.read(rows).ends


def bridge(name, cell, size=5):
    torch.manual_seed(1)
    return BRIDGES[name](BridgeConfig(2 * HIDDEN, size, LAYERS, cell))


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("name", BRIDGES)
def test_every_layer_gets_a_start_of_the_right_shape(name, cell):
    """002-02."""
    size = 2 * HIDDEN if name == "copy" else 5
    starts = bridge(name, cell, size)(ended(cell)[2])
    assert len(starts) == LAYERS
    for start in starts:
        assert [part.shape for part in start] == [(3, size)] * CELLS[cell].carries


@pytest.mark.parametrize("cell", CELLS)
def test_copying_hands_over_both_directions_of_the_same_layer(cell):
    """D10: layer n starts from h_n[2n] and h_n[2n + 1]; the two are not two layers."""
    encoder, rows, ends = ended(cell)
    starts = bridge("copy", cell, 2 * HIDDEN)(ends)
    last = encoder.layers(rows.rows()[0])[1]
    for part, theirs in enumerate(last if cell == "lstm" else (last,)):
        for layer in range(LAYERS):
            forward, backward = theirs[2 * layer], theirs[2 * layer + 1]
            torch.testing.assert_close(starts[layer][part][0], torch.cat([forward, backward]))


def test_the_linear_bridge_is_its_formula():
    _, _, ends = ended("lstm")
    made = bridge("linear", "lstm")
    starts = made(ends)
    for layer in range(LAYERS):
        state, memory = made.layers[2 * layer], made.layers[2 * layer + 1]
        torch.testing.assert_close(starts[layer][0], torch.tanh(state(ends[layer][0])))
        torch.testing.assert_close(starts[layer][1], memory(ends[layer][1]))


def test_no_bridge_lets_nothing_across():
    _, _, ends = ended("gru")
    assert not any(part.any() for start in bridge("none", "gru")(ends) for part in start)
