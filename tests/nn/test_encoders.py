import pytest
import torch

from regard.nn.encoders import LAYERS, NoEncoder, RecurrentEncoder
from regard.ragged import Ragged

LENGTHS = [3, 0, 6, 1, 6]
SIZE, HIDDEN = 4, 3


def items(dtype=torch.float64, lengths=LENGTHS):
    torch.manual_seed(1)
    return Ragged(torch.randn(sum(lengths), SIZE, dtype=dtype), torch.tensor(lengths))


def encoder(cell="gru", layers=1, directions=2, dropout=0.0):
    torch.manual_seed(0)
    made = RecurrentEncoder(
        SIZE, HIDDEN, cell=cell, layers=layers, directions=directions, dropout=dropout
    )
    return made.double()


@pytest.mark.parametrize("cell", LAYERS)
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("directions", [1, 2])
def test_layers_and_directions_are_wired_as_in_torch(cell, layers, directions):
    """001-05, D10: the vector is both directions of the last layer, not of two layers."""
    made = encoder(cell, layers, directions)
    plain = LAYERS[cell](SIZE, HIDDEN, num_layers=layers, bidirectional=directions == 2).double()
    plain.load_state_dict(made.layers.state_dict())
    rows = items()
    states = made(rows)
    assert states.values.shape[1] == made.output_size == directions * HIDDEN
    for found, row in zip(states.rows(), rows.rows(), strict=True):
        if len(row):
            torch.testing.assert_close(found, plain(row)[0])


@pytest.mark.parametrize("cell", LAYERS)
def test_final_states_are_the_two_directions_of_the_last_layer(cell):
    """D10: torch's h_n[-2] is the forward end and h_n[-1] the backward end of one layer."""
    made = encoder(cell, layers=2)
    row = items(lengths=[5])
    states = made(row).values
    final = made.layers(row.values)[1]
    final = final[0] if cell == "lstm" else final
    torch.testing.assert_close(final[-2], states[-1, :HIDDEN])
    torch.testing.assert_close(final[-1], states[0, HIDDEN:])


@pytest.mark.parametrize("layers", [1, 2])
def test_a_table_gives_what_its_vectors_give(layers):
    made = encoder(layers=layers)
    table = torch.randn(3, SIZE, dtype=torch.float64, requires_grad=True)
    index = items().with_values(torch.randint(0, 3, (sum(LENGTHS),)))
    by_table = made.from_table(table, index)
    by_vectors = made(index.with_values(table[index.values]))
    torch.testing.assert_close(by_table.values, by_vectors.values)
    pair = [torch.autograd.grad(s.values.square().sum(), table)[0] for s in (by_table, by_vectors)]
    torch.testing.assert_close(*pair)


@pytest.mark.parametrize("cell", LAYERS)
def test_each_direction_sees_only_its_own_side(cell):
    """001-05: a changed item changes forward states from there on, backward states up to there."""
    made = encoder(cell)
    rows = items(lengths=[7])
    changed = rows.values.clone()
    changed[3] += 1
    moved = (made(rows).values - made(rows.with_values(changed)).values).abs() > 0
    assert moved[:, :HIDDEN].any(1).tolist() == [False] * 3 + [True] * 4
    assert moved[:, HIDDEN:].any(1).tolist() == [True] * 4 + [False] * 3


def test_rows_do_not_touch_each_other():
    made = encoder(layers=2)
    rows = items()
    together = made(rows).rows()
    for row, found in zip(rows.rows(), together, strict=True):
        alone = made(Ragged(row, torch.tensor([len(row)])))
        torch.testing.assert_close(found, alone.values)


@pytest.mark.parametrize("lengths", [[], [0], [0, 0]])
@pytest.mark.parametrize("layers", [1, 2])
def test_nothing_to_read_gives_nothing_and_goes_back(lengths, layers):
    made = encoder(layers=layers)
    rows = Ragged(
        torch.zeros(0, SIZE, dtype=torch.float64, requires_grad=True),
        torch.tensor(lengths, dtype=torch.int64),
    )
    states = made(rows)
    assert states.values.shape == (0, 2 * HIDDEN)
    states.values.sum().backward()
    assert all(not p.grad.any() for p in made.parameters() if p.grad is not None)
    unread = made.from_table(
        rows.values.new_zeros(0, SIZE), rows.with_values(torch.zeros(0).long())
    )
    assert unread.values.shape == (0, 2 * HIDDEN)


def test_dropout_is_between_layers_and_only_in_training():
    """D7: the knob is used."""
    rows = items()
    deep = encoder(layers=2, dropout=0.5)
    assert not torch.equal(deep.train()(rows).values, deep(rows).values)
    torch.testing.assert_close(deep.eval()(rows).values, encoder(layers=2)(rows).values)
    shallow = encoder(layers=1, dropout=0.5).train()
    torch.testing.assert_close(shallow(rows).values, shallow(rows).values)


def test_dropout_is_drawn_from_the_seed():
    deep, rows = encoder(layers=2, dropout=0.5).train(), items()
    drawn = []
    for _ in range(2):
        torch.manual_seed(5)
        drawn.append(deep(rows).values)
    assert torch.equal(*drawn)


def test_the_glass_box_leaves_the_vectors_as_they_are():
    made = NoEncoder(SIZE)
    rows = items()
    assert made.output_size == SIZE
    assert made(rows) is rows
    table = torch.randn(3, SIZE)
    index = rows.with_values(torch.randint(0, 3, (sum(LENGTHS),)))
    assert torch.equal(made.from_table(table, index).values, table[index.values])
    assert list(made.parameters()) == []


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("cell", LAYERS)
@pytest.mark.parametrize("hidden", [HIDDEN, 600])
def test_a_gpu_gives_what_the_cpu_gives(cell, hidden):
    """000-07; the larger size is beyond the kernels and goes through cuDNN."""
    torch.manual_seed(0)
    made = RecurrentEncoder(SIZE, hidden, cell=cell, layers=2)
    rows = items(torch.float32)
    expected = made(rows).values
    found = made.to("cuda")(rows.to("cuda")).values.cpu()
    torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-3)  # cuDNN rounds to tf32


@pytest.mark.parametrize("cell", LAYERS)
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("directions", [1, 2])
def test_every_layer_ends_as_in_torch(cell, layers, directions):
    """002-02, D10: forward end and backward end of the same layer, for each layer."""
    made, rows = encoder(cell, layers, directions), items()
    reading = made.read(rows)
    torch.testing.assert_close(reading.states.values, made(rows).values)
    assert len(reading.ends) == layers
    for number, row in enumerate(rows.rows()):
        for carried in range(2 if cell == "lstm" else 1):
            found = torch.stack([end[carried][number] for end in reading.ends])
            if not len(row):
                assert not found.any()
                continue
            last = made.layers(row)[1]
            last = last[carried] if cell == "lstm" else last
            torch.testing.assert_close(found, last.view(layers, -1))


@pytest.mark.parametrize("cell", LAYERS)
def test_the_packed_way_ends_in_the_same(cell):
    """What a GPU without a kernel does, done here."""
    made, rows = encoder(cell, layers=2), items()
    packed, plain = made._packed(rows), made.read(rows)
    torch.testing.assert_close(packed.states.values, plain.states.values)
    torch.testing.assert_close(packed.ends, plain.ends)


@pytest.mark.parametrize("lengths", [[], [0], [0, 0]])
@pytest.mark.parametrize("cell", LAYERS)
def test_nothing_to_read_ends_in_zeros(lengths, cell):
    made = encoder(cell, layers=2)
    nothing = torch.zeros(0, SIZE, dtype=torch.float64)
    rows = Ragged(nothing, torch.tensor(lengths, dtype=torch.int64))
    for reading in (made.read(rows), made._packed(rows)):
        for end in reading.ends:
            for part in end:
                assert torch.equal(part, torch.zeros(len(lengths), 2 * HIDDEN).double())
