import pytest
import torch

from regard.kernels import cpu
from regard.ragged import Ragged
from support.native_cases import INSTRUCTIONS, Case, distance, gradients, needs_native

pytestmark = needs_native

LENGTHS = [5, 0, 1, 17, 9, 3, 200, 3, 2, 1, 0, 30, 4]
SIZES = (1, 3, 7, 16, 50, 100, 129)


def context(size, attention_size=None, dtype=torch.float32):
    """Parameters that any two calls with the same sizes make the same."""
    torch.manual_seed(size)
    attention_size = attention_size or size
    tensors = (
        torch.randn(attention_size, size) / size**0.5,
        torch.randn(attention_size) / 10,
        torch.randn(attention_size),
    )
    return [tensor.to(dtype).requires_grad_() for tensor in tensors]


def plain_scores(values, matrix, bias, query):
    return torch.tanh(values @ matrix.t() + bias) @ query


def plain_attention(scores, values, lengths):
    """Softmax and sum of each row by itself."""
    weights = [row.softmax(0) for row in scores.split(lengths)]
    sums = [weight @ row for weight, row in zip(weights, values.split(lengths), strict=True)]
    return torch.stack(sums), torch.cat(weights)


def compare(found, wanted, leaves, true_leaves):
    """Both results, and the gradients of both taken together."""
    for one, two in zip(found, wanted, strict=True):
        assert distance(one, two) < 1e-5
    joined = [torch.cat([sums.flatten(), weights]) for sums, weights in (found, wanted)]
    for one, two in zip(
        gradients(joined[0], leaves), gradients(joined[1], true_leaves), strict=True
    ):
        assert distance(one, two) < 1e-5


def make_values(size):
    torch.manual_seed(size)
    values = torch.randn(sum(LENGTHS), size, requires_grad=True)
    return values, Ragged(values, torch.tensor(LENGTHS))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("instructions", INSTRUCTIONS)
def test_attended_rows_agree_with_softmax(instructions, size, monkeypatch):
    monkeypatch.setenv("REGARD_KERNELS", instructions)
    values, rows = make_values(size)
    scores = torch.randn(len(values), requires_grad=True)
    true = [tensor.detach().double().requires_grad_() for tensor in (scores, values)]
    wanted = plain_attention(*true, LENGTHS)
    compare(cpu.attend_rows(scores, values, rows), wanted, [scores, values], true)


@pytest.mark.parametrize("attention_size", [1, 30, 100])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("instructions", INSTRUCTIONS)
def test_context_attention_agrees_with_torch(instructions, size, attention_size, monkeypatch):
    """Issue 3: gradients within 1e-5 relative of the plain formula."""
    monkeypatch.setenv("REGARD_KERNELS", instructions)
    values, rows = make_values(size)
    parameters = context(size, attention_size)
    true = [tensor.detach().double().requires_grad_() for tensor in (values, *parameters)]
    wanted = plain_attention(plain_scores(*true), true[0], LENGTHS)
    found = cpu.attend_context(values, rows, cpu.ContextAttention(*parameters))
    compare(found, wanted, [values, *parameters], true)


@pytest.mark.parametrize("hidden_size", [1, 7, 16, 50, 64])
@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
@pytest.mark.parametrize("instructions", INSTRUCTIONS)
def test_a_level_in_one_go_is_its_parts_one_by_one(instructions, cell, hidden_size, monkeypatch):
    monkeypatch.setenv("REGARD_KERNELS", instructions)
    for directions in (1, 2):
        case = Case(cell, hidden_size, directions=directions, lengths=LENGTHS)
        projected, index, rows, weights, biases = case.inputs()
        attention = cpu.ContextAttention(*context(directions * hidden_size, 20))
        states = cpu.recur(cell, projected, index, rows, weights, biases)
        wanted = cpu.attend_context(states, rows, attention)
        layer = cpu.Recurrent(cell, weights, biases)
        found = cpu.attend(projected, index, rows, layer=layer, attention=attention)
        for one, two in zip(found, wanted, strict=True):
            assert distance(one, two) < 1e-5
            assert not one.requires_grad


def test_weights_sum_to_one_and_empty_rows_give_zeros():
    """Decision 3: attention is rows that sum to one; a row without items is a vector of zeros."""
    lengths = torch.tensor([0, 100_000, 1, 0, 3])
    values = torch.randn(int(lengths.sum()), 10)
    rows = Ragged(values, lengths)
    sums, weights = cpu.attend_rows(torch.randn(len(values)) * 10, values, rows)
    totals = torch.stack([row.double().sum() for row in weights.split(lengths.tolist())])
    torch.testing.assert_close(totals, (lengths > 0).double(), atol=1e-6, rtol=0)
    assert torch.equal(sums[lengths == 0], torch.zeros(2, 10))


def test_scores_of_any_height_neither_overflow_nor_vanish():
    values = torch.eye(4)
    scores = torch.tensor([1e30, -1e30, -5e4, -5e4])
    rows = Ragged(values, torch.tensor([2, 2]))
    _, weights = cpu.attend_rows(scores, values, rows)
    assert weights.tolist() == [1.0, 0.0, 0.5, 0.5]


@pytest.mark.parametrize("lengths", [[], [0], [0, 0]])
def test_nothing_can_be_attended_to(lengths):
    rows = Ragged(torch.zeros(0, 6), torch.tensor(lengths, dtype=torch.int64))
    values = torch.zeros(0, 6, requires_grad=True)
    parameters = context(6)
    sums, weights = cpu.attend_context(values, rows, cpu.ContextAttention(*parameters))
    assert sums.tolist() == [[0.0] * 6] * len(lengths) and weights.tolist() == []
    for gradient in torch.autograd.grad(sums.sum(), [values, *parameters]):
        assert not gradient.any()
    case = Case("gru", 3, lengths=lengths)
    projected, index, rows, weights, biases = case.inputs()
    sums, weights = cpu.attend(
        projected,
        index,
        rows,
        layer=cpu.Recurrent("gru", weights, biases),
        attention=cpu.ContextAttention(*parameters),
    )
    assert sums.tolist() == [[0.0] * 6] * len(lengths) and weights.tolist() == []


def test_threads_change_not_a_bit():
    """The same input gives the same bits for any number of threads."""
    lengths = torch.randint(0, 40, (1000,), generator=torch.Generator().manual_seed(1))
    values = torch.randn(int(lengths.sum()), 60, requires_grad=True)
    rows, parameters = Ragged(values, lengths), context(60)
    case = Case("gru", 30, lengths=lengths.tolist(), distinct=50)
    projected, index, _, weights, biases = case.inputs()
    layer, attention = cpu.Recurrent("gru", weights, biases), cpu.ContextAttention(*parameters)
    before, results = torch.get_num_threads(), []
    for count in (1, 2, 3):
        torch.set_num_threads(count)
        found = cpu.attend_context(values, rows, attention)
        back = torch.autograd.grad(found[0].square().sum(), [values, *parameters])
        level = cpu.attend(projected.detach(), index, rows, layer=layer, attention=attention)
        results.append([*found, *back, *level])
    torch.set_num_threads(before)
    for other in results[1:]:
        assert all(torch.equal(one, two) for one, two in zip(results[0], other, strict=True))


def test_going_back_twice_gives_the_same():
    values, rows = make_values(20)
    parameters = context(20)
    sums, _ = cpu.attend_context(values, rows, cpu.ContextAttention(*parameters))
    leaves = [values, *parameters]
    first = gradients(sums, leaves, retain_graph=True)
    assert all(map(torch.equal, gradients(sums, leaves), first))


def test_tensors_need_not_be_contiguous():
    values, rows = make_values(12)
    parameters = context(12)
    wanted = cpu.attend_context(values, rows, cpu.ContextAttention(*parameters))
    turned = values.t().contiguous().t()
    matrix = parameters[0].t().contiguous().t()
    found = cpu.attend_context(turned, rows, cpu.ContextAttention(matrix, *parameters[1:]))
    assert all(map(torch.equal, found, wanted))
    scores = torch.randn(len(values) * 2)[::2]
    found = cpu.attend_rows(scores, turned, rows)
    assert all(map(torch.equal, found, cpu.attend_rows(scores.clone(), values, rows)))


def test_wrong_arguments_are_errors_that_say_what_is_wrong():
    values, rows = make_values(6)
    matrix, bias, query = context(6)
    with pytest.raises(ValueError, match="need scores as"):
        cpu.attend_rows(torch.zeros(3), values, rows)
    with pytest.raises(ValueError, match="need values as"):
        cpu.attend_rows(torch.zeros(len(values) - 1), values[1:], rows)
    with pytest.raises(ValueError, match=r"matrix as torch.float32 \(6, 6\)"):
        cpu.attend_context(values, rows, cpu.ContextAttention(matrix[:, 1:], bias, query))
    with pytest.raises(ValueError, match="need bias as"):
        cpu.ContextAttention(matrix, bias[1:], query)
    with pytest.raises(ValueError, match="need query as"):
        cpu.ContextAttention(matrix, bias, query.double())
