import pytest
import torch

from regard.nn.decoding.stacks import BRIDGES, BridgeConfig, RecurrentStack
from regard.nn.encoders import LAYERS, RecurrentEncoder
from regard.nn.recurrence import CELLS
from regard.ragged import Ragged

SIZE, HIDDEN, LENGTHS = 3, 4, [3, 0, 5, 1]


def stack(cell, layers=2, dropout=0.0):
    torch.manual_seed(0)
    return RecurrentStack(SIZE, HIDDEN, cell=cell, layers=layers, dropout=dropout).double()


def started(cell, rows, layers=2):
    torch.manual_seed(1)
    parts = 2 if cell == "lstm" else 1
    return tuple(
        tuple(torch.randn(rows, HIDDEN, dtype=torch.float64) for _ in range(parts))
        for _ in range(layers)
    )


def inputs():
    torch.manual_seed(2)
    return Ragged(torch.randn(sum(LENGTHS), SIZE, dtype=torch.float64), torch.tensor(LENGTHS))


def by_torch(made, row, carries, number):
    hidden = [
        torch.stack([carry[part][number] for carry in carries]) for part in range(len(carries[0]))
    ]
    return made.layers(row, tuple(hidden) if len(hidden) == 2 else hidden[0])


@pytest.mark.parametrize("cell", LAYERS)
def test_running_along_rows_is_torchs_layer_from_the_same_start(cell):
    """002-02: two layers, each from its own state."""
    made, rows = stack(cell), inputs()
    carries = started(cell, len(LENGTHS))
    found = made.run(rows.with_values(made.project(rows.values)), carries)
    for number, (states, row) in enumerate(zip(found.rows(), rows.rows(), strict=True)):
        if len(row):
            torch.testing.assert_close(states, by_torch(made, row, carries, number)[0])


@pytest.mark.parametrize("cell", LAYERS)
def test_a_step_is_a_row_of_one(cell):
    made, rows = stack(cell), inputs()
    carries = started(cell, 3)
    items = rows.values[:3]
    stepped = made.step(made.project(items), carries)
    for number in range(3):
        states, ends = by_torch(made, items[number : number + 1], carries, number)
        torch.testing.assert_close(stepped[-1][0][number], states[0])
        ends = ends if cell == "lstm" else (ends,)
        for part, end in enumerate(ends):
            found = torch.stack([carry[part][number] for carry in stepped])
            torch.testing.assert_close(found, end)


@pytest.mark.parametrize("cell", LAYERS)
def test_parts_of_an_input_add_up(cell):
    made, values = stack(cell), inputs().values
    whole = made.project(values)
    parts = made.project(values[:, :1], slice(1)) + made.project(
        values[:, 1:], slice(1, None), bias=False
    )
    torch.testing.assert_close(whole, parts)


@pytest.mark.parametrize("cell", LAYERS)
def test_a_start_from_nothing_is_zeros(cell):
    made = stack(cell)
    zeros = made.zeros(3)
    assert len(zeros) == 2 and len(zeros[0]) == (2 if cell == "lstm" else 1)
    assert all(part.shape == (3, HIDDEN) and not part.any() for carry in zeros for part in carry)


def test_dropout_is_between_layers_and_only_in_training():
    """D7."""
    made, rows = stack("gru", dropout=0.5), inputs()
    given = rows.with_values(made.project(rows.values))
    carries = started("gru", len(LENGTHS))
    assert not torch.equal(made.train().run(given, carries).values, made.run(given, carries).values)
    made.eval()
    torch.testing.assert_close(made.run(given, carries).values, made.run(given, carries).values)
    projected = made.project(rows.values[:4])
    steps = [made.train().step(projected, carries)[-1][0] for _ in range(2)]
    assert not torch.equal(*steps)


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
