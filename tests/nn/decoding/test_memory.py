import numpy as np
import pytest
import torch

from regard.nn.decoding.memory import WINDOWS, CrossAttention, LookConfig, weight_rows
from regard.ragged import Ragged

LENGTHS, SIZE, QUERY = [4, 0, 7, 1], 3, 5


def items(lengths=LENGTHS):
    torch.manual_seed(1)
    return Ragged(torch.randn(sum(lengths), SIZE), torch.tensor(lengths, dtype=torch.int64))


def queries(count=2, sources=4, size=QUERY):
    torch.manual_seed(2)
    return torch.randn(sources, count, size)


def attention(window="global", reach=2, score="general"):
    torch.manual_seed(0)
    return CrossAttention(QUERY, SIZE, LookConfig(score, 4, window, reach))


def by_loop(look, asked, row, step):
    """The weights of one question to one source, in NumPy and double precision."""
    config, count = look.config, len(row)
    matrix = look.score.key.weight.detach().double().numpy()
    question, keys = asked.double().numpy(), row.double().numpy()
    scores = np.array([question @ matrix @ key for key in keys])
    places, allowed = np.arange(count), np.ones(count, bool)
    if config.window == "monotonic":
        allowed = np.abs(places - min(step, count - 1)) <= config.reach
    if config.window == "predictive":
        inner, outer = look.place[0].weight, look.place[2].weight
        inner, outer = inner.detach().double().numpy(), outer.detach().double().numpy()
        centre = count / (1 + np.exp(-(outer @ np.tanh(inner @ question))[0]))
        allowed = np.abs(places - centre) <= config.reach
        scores = scores - (places - centre) ** 2 / (2 * (config.reach / 2) ** 2)
    grown = np.where(allowed, np.exp(scores - scores[allowed].max()), 0)
    return grown / grown.sum()


@pytest.mark.parametrize("window", WINDOWS)
def test_weights_and_contexts_are_their_formula(window):
    """002-06, 002-11: scores, softmax, weighted average; a window leaves the rest out."""
    look, rows = attention(window), items()
    asked = queries(3)
    found = look(asked, look.prepare(rows), torch.tensor([0, 2, 9]))
    for source, row in enumerate(rows.rows()):
        if not len(row):
            continue
        for number, step in enumerate([0, 2, 9]):
            expected = by_loop(look, asked[source, number], row, step)
            weights = found.weights[source, number].detach().numpy()
            np.testing.assert_allclose(weights[: len(row)], expected, atol=1e-6)
            assert not weights[len(row) :].any()
            context = found.contexts[source, number].detach().numpy()
            np.testing.assert_allclose(context, expected @ row.numpy(), atol=1e-6)


@pytest.mark.parametrize("window", WINDOWS)
def test_rows_sum_to_one_and_an_empty_source_gives_zeros(window):
    """002-06: over real tokens alone."""
    look, rows = attention(window), items()
    found = look(queries(), look.prepare(rows), torch.tensor([5]))
    sums = found.weights.sum(2)
    torch.testing.assert_close(sums[[0, 2, 3]], torch.ones(3, 2))
    assert not found.contexts[1].any()
    assert torch.isfinite(found.weights).all()


@pytest.mark.parametrize("lengths", [[0, 0], []])
def test_nothing_to_look_at_gives_zeros(lengths):
    look = attention()
    asked = queries(sources=len(lengths))
    found = look(asked, look.prepare(items(lengths)), torch.tensor([0]))
    assert torch.equal(found.contexts, torch.zeros(len(lengths), 2, SIZE))


def test_all_weights_are_finite_and_sharp_for_huge_scores():
    look, rows = attention(), items()
    found = look(1e6 * queries(), look.prepare(rows), torch.tensor([0]))
    assert torch.isfinite(found.weights).all()
    torch.testing.assert_close(found.weights[0].sum(1), torch.ones(2))


def test_a_monotonic_window_follows_the_step():
    look, rows = attention("monotonic", reach=1), items([7])
    found = look(queries(1, 1).expand(1, 7, QUERY), look.prepare(rows), torch.arange(7))
    seen = found.weights[0] > 0
    expected = (torch.arange(7)[:, None] - torch.arange(7)).abs() <= 1
    assert torch.equal(seen, expected)


def test_memory_of_some_sources_answers_as_before():
    look, rows = attention(), items()
    memory, asked = look.prepare(rows), queries()
    whole = look(asked, memory, torch.tensor([0]))
    chosen = torch.tensor([2, 0])
    part = look(asked[chosen], memory.taken(chosen), torch.tensor([0]))
    torch.testing.assert_close(part.weights, whole.weights[chosen])
    first = look(asked[:1], memory.first(1), torch.tensor([0]))
    torch.testing.assert_close(first.contexts, whole.contexts[:1])


@pytest.mark.parametrize("window", WINDOWS)
def test_gradients_are_those_of_finite_differences(window):
    look = attention(window, reach=3).double()
    rows = items([3, 0, 2])
    values = rows.values.double().requires_grad_()
    asked = queries(2, 3).double().requires_grad_()

    def contexts(question, value):
        memory = look.prepare(rows.with_values(value))
        return look(question, memory, torch.tensor([1])).contexts

    assert torch.autograd.gradcheck(contexts, (asked, values))


def test_weights_are_cut_to_the_length_of_their_source():
    weights = torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
    rows = weight_rows(weights, torch.tensor([2, 0, 3]))
    assert rows.lengths.tolist() == [2, 0, 3]
    torch.testing.assert_close(rows.values, torch.tensor([0.5, 0.5, 0.2, 0.3, 0.5]))
