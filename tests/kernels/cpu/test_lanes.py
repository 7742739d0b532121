"""Rows of about the same length, which prediction reads side by side where vectors are wide."""

import pytest
import torch

from regard.kernels import cpu
from regard.ragged import Ragged
from support.native_cases import INSTRUCTIONS, Case, distance, needs_native

pytestmark = needs_native

ROWS = {
    "of one length": [7] * 16,
    "of like lengths": [9, 8, 8, 7, 9, 9, 8, 9] * 5,
    "a few too few": [6] * 13,
    "of one item": [1] * 20,
    "empty": [0] * 17,
    "some empty": [4] * 15 + [0] * 4,
    "like and unlike": [12] * 16 + [3, 40, 1, 200, 5] + [11] * 16,
    "too long": [1030] * 16,
}


def attended(case, lengths, index, attention_size=20):
    """What the rows of a case are pooled to, and the weights."""
    size = case.weights.shape[0] * case.weights.shape[2]
    torch.manual_seed(size)
    attention = cpu.ContextAttention(
        torch.randn(attention_size, size) / size**0.5,
        torch.randn(attention_size) / 10,
        torch.randn(attention_size),
    )
    return cpu.attend(
        case.projected().detach(),
        index,
        Ragged(index, torch.tensor(lengths, dtype=torch.int64)),
        layer=cpu.Recurrent(case.cell, case.weights, case.biases),
        attention=attention,
    ), attention


@pytest.mark.parametrize("lengths", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("instructions", INSTRUCTIONS)
def test_reading_in_lanes_is_the_parts_one_by_one(instructions, lengths, monkeypatch):
    monkeypatch.setenv("REGARD_KERNELS", instructions)
    for hidden_size in (16, 50) if sum(lengths) < 1000 else (16,):
        case = Case("gru", hidden_size, lengths=lengths)
        found, attention = attended(case, lengths, case.index)
        states = cpu.recur("gru", *case.inputs())
        wanted = cpu.attend_context(states, case.rows, attention)
        for one, two in zip(found, wanted, strict=True):
            assert distance(one, two) < 1e-5


@pytest.mark.parametrize("hidden_size", [16, 17, 18, 19, 33, 50])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("instructions", INSTRUCTIONS)
def test_a_row_has_the_same_bits_alone_and_in_lanes(
    instructions, directions, hidden_size, monkeypatch
):
    """Company changes nothing, whichever way a row is read."""
    monkeypatch.setenv("REGARD_KERNELS", instructions)
    lengths = ROWS["like and unlike"]
    case = Case("gru", hidden_size, directions=directions, lengths=lengths)
    for attention_size in (1, 31, 100):
        (vectors, weights), _ = attended(case, lengths, case.index, attention_size)
        for row, (index, beside) in enumerate(
            zip(case.index.split(lengths), weights.split(lengths), strict=True)
        ):
            alone, _ = attended(case, [len(index)], index, attention_size)
            assert torch.equal(alone[0][0], vectors[row])
            assert torch.equal(alone[1], beside)


def without_each(text):
    """A text without each of its items."""
    return [torch.cat([text[:place], text[place + 1 :]]) for place in range(len(text))]


TEXT = torch.randint(0, 58, (41,), generator=torch.Generator().manual_seed(0))
ALIKE = {
    "without each item": without_each(TEXT),
    "of two texts": [*without_each(TEXT), *without_each(TEXT.flip(0))],
    "ending alike": [part for start in (0, 1, 2) for part in [TEXT[start:]] * 16],
    "beginning alike": [part for end in (41, 40, 39) for part in [TEXT[:end]] * 16],
}


@pytest.mark.parametrize("rows", ALIKE.values(), ids=ALIKE)
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("instructions", INSTRUCTIONS)
def test_rows_that_begin_or_end_alike_have_the_bits_that_each_has_alone(
    instructions, directions, rows, monkeypatch
):
    """What a row shares with the one before it is not read again."""
    monkeypatch.setenv("REGARD_KERNELS", instructions)
    case = Case("gru", 18, directions=directions, distinct=60)
    lengths = [*map(len, rows)]
    (vectors, weights), _ = attended(case, lengths, torch.cat(rows))
    for row, vector, beside in zip(rows, vectors, weights.split(lengths), strict=True):
        alone, _ = attended(case, [len(row)], row)
        assert torch.equal(alone[0][0], vector)
        assert torch.equal(alone[1], beside)


def test_what_is_no_number_stays_in_its_row():
    lengths = [9] * 12 + [8] * 4
    case = Case("gru", 16, lengths=lengths, distinct=40)
    case.index.clamp_(max=30)
    wanted, _ = attended(case, lengths, case.index)
    case.index[20] = 35  # in the third row
    with torch.no_grad():
        case.table[35] = float("nan")
    found, _ = attended(case, lengths, case.index)
    spoiled = torch.arange(16) == 2
    assert found[0][spoiled].isnan().all() and torch.equal(found[0][~spoiled], wanted[0][~spoiled])


@pytest.mark.parametrize("instructions", INSTRUCTIONS)
def test_gates_are_right_however_far_open_or_closed(instructions, monkeypatch):
    """With weights of zero a state is (1 - sigmoid(z)) tanh(n + sigmoid(r) bias)."""
    monkeypatch.setenv("REGARD_KERNELS", instructions)
    size, random = 24, torch.Generator().manual_seed(0)
    inputs = torch.randn(400, 3, size, generator=random) * torch.tensor([0.1, 3, 30, 1e4]).repeat(
        100
    ).view(400, 1, 1)
    biases = torch.zeros(1, 3 * size)
    biases[0, 2 * size :] = torch.randn(size, generator=random)
    rows = Ragged(torch.arange(400), torch.ones(400, dtype=torch.int64))
    weights = torch.zeros(1, 3 * size, size)
    found = cpu.recur("gru", inputs.flatten(1), None, rows, weights, biases)
    r, z, n = inputs.double().unbind(1)
    wanted = (1 - z.sigmoid()) * torch.tanh(n + r.sigmoid() * biases[0, 2 * size :].double())
    assert float((found - wanted).abs().max()) < 5e-7
