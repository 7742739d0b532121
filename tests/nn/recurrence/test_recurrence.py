import math

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from regard.nn.recurrence import Layer, batched, has_kernel, recur, recur_from
from regard.nn.recurrence.definition import define
from regard.ragged import Ragged
from support.native_cases import recur_batched

CELLS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
SHAPES = {
    "mixed": [3, 0, 7, 1, 7, 12, 0, 2],
    "one row": [5],
    "one item": [1],
    "many short": [1, 2] * 20,
    "empty rows": [0, 0],
    "no rows": [],
}
HIDDEN, SIZE = 4, 3
WAYS = {"definition": define, "batched": batched.run}


def parameters(layer):
    """The input weights and biases, then the recurrent ones, as ``recur`` takes them."""
    ends = ("", "_reverse") if layer.bidirectional else ("",)
    joined = [
        [getattr(layer, f"{name}_l0{end}") for end in ends]
        for name in ("weight_ih", "bias_ih", "weight_hh", "bias_hh")
    ]
    return (
        torch.cat(joined[0]),
        torch.cat(joined[1]),
        torch.stack(joined[2]),
        torch.stack(joined[3]),
    )


def by_torch(layer, vectors, lengths):
    """Torch's layer over each row by itself, never padded."""
    rows = [layer(row)[0] for row in vectors.split(lengths) if len(row)]
    return torch.cat(rows) if rows else vectors.new_zeros(0, HIDDEN)


def make(cell, directions, lengths, dtype=torch.float64):
    torch.manual_seed(len(lengths))
    layer = CELLS[cell](SIZE, HIDDEN, bidirectional=directions == 2, dtype=dtype)
    table = torch.randn(5, SIZE, dtype=dtype, requires_grad=True)
    index = torch.randint(0, 5, (sum(lengths),))
    rows = Ragged(index, torch.tensor(lengths, dtype=torch.int64))
    return layer, table, index, rows


def gradients(states, inputs):
    weights = torch.linspace(-1, 1, states.numel(), dtype=states.dtype).view_as(states)
    return torch.autograd.grad((states * weights).sum(), inputs, allow_unused=True)


@pytest.mark.parametrize("lengths", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_states_and_gradients_equal_torch(way, cell, directions, lengths, indexed):
    layer, table, index, rows = make(cell, directions, lengths)
    input_weights, input_biases, weights, biases = parameters(layer)
    inputs = table if indexed else table[index]
    projected = inputs @ input_weights.T + input_biases
    states, *_ = way(Layer(cell, weights, biases), projected, index if indexed else None, rows)
    assert states.shape == (sum(lengths), directions * HIDDEN)
    if not sum(lengths):
        return
    expected = by_torch(layer, table[index], lengths)
    torch.testing.assert_close(states, expected)
    leaves = [table, *layer.parameters()]
    for found, wanted in zip(gradients(states, leaves), gradients(expected, leaves), strict=True):
        torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("kept", [0, 1 << 28])
@pytest.mark.parametrize("span", [(1, 1), (8, 3), (5, 100)])
def test_where_a_visit_is_cut_changes_nothing(cell, kept, span, monkeypatch):
    layer, table, index, rows = make(cell, 2, SHAPES["mixed"])
    input_weights, input_biases, weights, biases = parameters(layer)
    projected = (table @ input_weights.T + input_biases).detach().requires_grad_()
    inputs = [projected, *layer.parameters()]
    whole = recur_batched(cell, projected, index, rows, weights, biases)
    expected = gradients(whole, inputs)
    monkeypatch.setattr(batched, "KEPT_BYTES", kept)
    monkeypatch.setattr(batched, "SPAN_SLOTS", span[0])
    monkeypatch.setattr(batched, "SPAN_STEPS", span[1])
    cut = recur_batched(cell, projected, index, rows, weights, biases)
    torch.testing.assert_close(cut, whole)
    for found, wanted in zip(gradients(cut, inputs), expected, strict=True):
        torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("cell", CELLS)
def test_gradients_equal_finite_differences(cell):
    layer, table, index, rows = make(cell, 2, [2, 0, 3])
    input_weights, input_biases, weights, biases = parameters(layer)
    projected = (table @ input_weights.T + input_biases).detach().requires_grad_()
    leaves = (projected, weights.detach().requires_grad_(), biases.detach().requires_grad_())
    # A second way back computes the gates again, by other products, so the last bits may differ.
    assert torch.autograd.gradcheck(
        lambda p, w, b: recur_batched(cell, p, index, rows, w, b), leaves, nondet_tol=1e-12
    )


@pytest.mark.parametrize("cell", CELLS)
def test_going_back_twice_gives_the_same_gradient(cell):
    """The kept gates are overwritten on the first way back; the second must not notice."""
    layer, table, index, rows = make(cell, 2, SHAPES["mixed"])
    input_weights, input_biases, weights, biases = parameters(layer)
    states = recur_batched(
        cell, table @ input_weights.T + input_biases, index, rows, weights, biases
    )
    first, second = (
        torch.autograd.grad(states.sum(), table, retain_graph=True)[0] for _ in range(2)
    )
    torch.testing.assert_close(first, second)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("directions", [1, 2])
def test_every_way_gives_what_the_definition_gives(cell, directions):
    """Whatever kernel this machine has, in single precision."""
    layer, table, index, rows = make(cell, directions, SHAPES["mixed"], torch.float32)
    input_weights, input_biases, weights, biases = parameters(layer)
    projected = (table @ input_weights.T + input_biases).detach().requires_grad_()
    defined, *_ = define(Layer(cell, weights, biases), projected, index, rows)
    leaves = [projected, *layer.parameters()]
    expected = gradients(defined, leaves)
    for way in (recur, recur_batched):
        states = way(cell, projected, index, rows, weights, biases)
        torch.testing.assert_close(states, defined, atol=1e-5, rtol=1e-5)
        for found, wanted in zip(gradients(states, leaves), expected, strict=True):
            torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)


def test_double_precision_has_no_kernel():
    assert not has_kernel("gru", torch.zeros(1, 12, dtype=torch.float64))


def test_the_plain_rnn_is_its_equation():
    """001-01: h = tanh(U x + W h + b), step by step."""
    layer, table, index, rows = make("rnn", 1, [6])
    input_weights, input_biases, weights, biases = parameters(layer)
    projected = table @ input_weights.T + input_biases
    state, expected = torch.zeros(HIDDEN, dtype=torch.float64), []
    for item in index.tolist():
        state = torch.tanh(projected[item] + weights[0] @ state + biases[0])
        expected.append(state)
    states = recur_batched("rnn", projected, index, rows, weights, biases)
    torch.testing.assert_close(states, torch.stack(expected), atol=1e-6, rtol=0)


def test_the_gru_is_its_equations_with_the_update_gate_turned_round():
    """001-04: the notes write h = (1 - z) h + z n; torch's and our z is 1 - z of that."""
    layer, table, index, rows = make("gru", 1, [6])
    input_weights, input_biases, weights, biases = parameters(layer)
    projected = table @ input_weights.T + input_biases
    state, expected = torch.zeros(HIDDEN, dtype=torch.float64), []
    for item in index.tolist():
        from_input = projected[item].split(HIDDEN)
        from_state = (weights[0] @ state + biases[0]).split(HIDDEN)
        reset = torch.sigmoid(from_input[0] + from_state[0])
        update = 1 - torch.sigmoid(from_input[1] + from_state[1])
        candidate = torch.tanh(from_input[2] + reset * from_state[2])
        state = (1 - update) * state + update * candidate
        expected.append(state)
    states = recur_batched("gru", projected, index, rows, weights, biases)
    torch.testing.assert_close(states, torch.stack(expected), atol=1e-6, rtol=0)


@pytest.mark.parametrize("length", [1, 10_000])
@pytest.mark.parametrize("cell", CELLS)
def test_the_same_weights_read_any_length(cell, length):
    """001-02: nothing depends on how long a row is."""
    layer, table, _, _ = make(cell, 2, [1], torch.float32)
    input_weights, input_biases, weights, biases = parameters(layer)
    index = torch.arange(length) % 5
    rows = Ragged(index, torch.tensor([length]))
    states = recur_batched(
        cell, table @ input_weights.T + input_biases, index, rows, weights, biases
    )
    assert states.shape == (length, 2 * HIDDEN)
    assert torch.isfinite(states).all()


def test_padding_and_packing_in_torch_agree_with_rows():
    """One more independent way: padded to a rectangle, lengths given."""
    layer, table, index, rows = make("gru", 1, [4, 2, 1])
    input_weights, input_biases, weights, biases = parameters(layer)
    padded = pad_sequence(table[index].split([4, 2, 1]), batch_first=True)
    outputs = layer(padded.transpose(0, 1))[0].transpose(0, 1)
    expected = torch.cat([outputs[row, :length] for row, length in enumerate([4, 2, 1])])
    states = recur_batched(
        "gru", table @ input_weights.T + input_biases, index, rows, weights, biases
    )
    torch.testing.assert_close(states, expected)


def test_autocast_leaves_the_recurrence_in_one_type():
    layer, table, index, rows = make("gru", 2, SHAPES["mixed"], torch.float32)
    input_weights, input_biases, weights, biases = parameters(layer)
    exact = recur_batched(
        "gru", table @ input_weights.T + input_biases, index, rows, weights, biases
    )
    with torch.autocast("cpu", dtype=torch.bfloat16):
        projected = nn.functional.linear(table, input_weights, input_biases)
        states = recur("gru", projected, index, rows, weights, biases)
    assert states.dtype == projected.dtype == torch.bfloat16
    assert math.isclose((states.float() - exact).abs().max().item(), 0, abs_tol=0.05)
    states.float().sum().backward()
    assert torch.isfinite(table.grad).all()


def started(cell, directions, lengths):
    torch.manual_seed(3)
    count = 2 if cell == "lstm" else 1
    shape = (len(lengths), directions * HIDDEN)
    return [torch.randn(shape, dtype=torch.float64, requires_grad=True) for _ in range(count)]


def by_torch_from(layer, vectors, lengths, start):
    """Torch's layer over each row by itself, from its own start; the states and the ends."""
    states, ends = [], []
    for row, vector in enumerate(vectors.split(lengths)):
        begin = [part[row].view(-1, 1, HIDDEN) for part in start]
        if not len(vector):
            ends.append([part[row] for part in start])
            continue
        hidden = tuple(begin) if len(begin) == 2 else begin[0]
        found, last = layer(vector[:, None], hidden)
        states.append(found[:, 0])
        ends.append([part.flatten() for part in (last if len(begin) == 2 else [last])])
    joined = torch.cat(states) if states else vectors.new_zeros(0, HIDDEN)
    return joined, [torch.stack(column) for column in zip(*ends, strict=True)]


@pytest.mark.parametrize("lengths", [SHAPES[name] for name in SHAPES if SHAPES[name]])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("span", [(1 << 16, 1 << 12), (5, 2)])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_given_start_is_gone_on_from(way, cell, directions, lengths, span, monkeypatch):
    """002-02: states, ends and every gradient as torch's, whatever spans the visit is cut into."""
    monkeypatch.setattr(batched, "SPAN_SLOTS", span[0])
    monkeypatch.setattr(batched, "SPAN_STEPS", span[1])
    layer, table, index, rows = make(cell, directions, lengths)
    input_weights, input_biases, weights, biases = parameters(layer)
    start = started(cell, directions, lengths)
    projected = table[index] @ input_weights.T + input_biases
    states, *ends = way(Layer(cell, weights, biases), projected, None, rows, tuple(start))
    expected, last = by_torch_from(layer, table[index], lengths, start)
    if sum(lengths):
        torch.testing.assert_close(states, expected)
    for found, wanted in zip(ends, last, strict=True):
        torch.testing.assert_close(found, wanted)
    leaves = [*start, table, *layer.parameters()]
    mine = gradients(torch.cat([states.flatten(), *[end.flatten() for end in ends]]), leaves)
    theirs = gradients(torch.cat([expected.flatten(), *[end.flatten() for end in last]]), leaves)
    for found, wanted in zip(mine, theirs, strict=True):
        if wanted is None:  # torch never saw this leaf: there was nothing to read
            assert found is None or not found.any()
        else:
            torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("cell", CELLS)
def test_without_a_start_every_row_begins_at_zeros(cell):
    layer, table, index, rows = make(cell, 2, SHAPES["mixed"])
    input_weights, input_biases, weights, biases = parameters(layer)
    projected = table[index] @ input_weights.T + input_biases
    made = Layer(cell, weights, biases)
    zeros = tuple(torch.zeros_like(part) for part in started(cell, 2, SHAPES["mixed"]))
    states, ends = recur_from(made, projected, rows)
    same, same_ends = recur_from(made, projected, rows, zeros)
    torch.testing.assert_close(states, same)
    torch.testing.assert_close(ends, same_ends)
    torch.testing.assert_close(
        states, recur_batched(cell, projected, None, rows, weights, biases), atol=0, rtol=0
    )


@pytest.mark.parametrize("cell", CELLS)
def test_only_the_ends_may_be_asked_for(cell):
    layer, table, index, rows = make(cell, 2, SHAPES["mixed"])
    input_weights, input_biases, weights, biases = parameters(layer)
    start = started(cell, 2, SHAPES["mixed"])

    def total(*begin):
        projected = table.detach()[index] @ input_weights.T + input_biases
        _, ends = recur_from(Layer(cell, weights, biases), projected, rows, begin)
        return ends[-1].sum()

    # The second way back computes the gates again, and rounds otherwise.
    assert torch.autograd.gradcheck(total, start, nondet_tol=1e-12)


def test_no_rows_have_no_ends():
    layer, table, index, rows = make("gru", 2, [])
    input_weights, input_biases, weights, biases = parameters(layer)
    start = torch.zeros(0, 2 * HIDDEN, dtype=torch.float64, requires_grad=True)
    projected = table[index] @ input_weights.T + input_biases
    states, ends = recur_from(Layer("gru", weights, biases), projected, rows, (start,))
    assert states.shape == ends[0].shape == (0, 2 * HIDDEN)
    (states.sum() + ends[0].sum()).backward()
    assert start.grad.shape == start.shape
