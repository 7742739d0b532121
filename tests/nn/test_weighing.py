import pytest
import torch

from regard.nn.positions import sinusoids
from regard.nn.rows import row_sum
from regard.nn.weighing import FeatureAttention, StepAttention
from regard.ragged import Ragged

LENGTHS, SIZE = [4, 0, 1, 6], 3


def items(lengths=LENGTHS):
    torch.manual_seed(1)
    values = torch.randn(sum(lengths), SIZE, dtype=torch.float64)
    return Ragged(values, torch.tensor(lengths, dtype=torch.int64))


def layer(kind, shared=False):
    torch.manual_seed(0)
    return kind(SIZE, shared=shared).double()


@pytest.mark.parametrize("shared", [False, True])
def test_every_feature_shares_out_one_over_the_steps_of_a_row(shared):
    weighed = layer(StepAttention, shared)(items())
    sums = row_sum(weighed.weights)
    torch.testing.assert_close(sums, (torch.tensor(LENGTHS) > 0)[:, None].expand(4, 3).double())


@pytest.mark.parametrize("shared", [False, True])
def test_every_step_shares_out_one_over_its_features(shared):
    """003-08."""
    weighed = layer(FeatureAttention, shared)(items())
    torch.testing.assert_close(weighed.weights.values.sum(1), torch.ones(11).double())


@pytest.mark.parametrize("kind", [StepAttention, FeatureAttention])
@pytest.mark.parametrize("shared", [False, True])
def test_items_are_multiplied_by_their_weights(kind, shared):
    rows = items()
    weighed = layer(kind, shared)(rows)
    torch.testing.assert_close(weighed.items.values, rows.values * weighed.weights.values)
    assert torch.equal(weighed.items.lengths, rows.lengths)


def test_shared_weights_are_the_mean_over_features():
    """003-11: one vector, the same for every feature."""
    own, shared = layer(StepAttention), layer(StepAttention, shared=True)
    weights = shared(items()).weights.values
    assert torch.equal(weights, weights[:, :1].expand_as(weights))
    torch.testing.assert_close(weights[:, 0], own(items()).weights.values.mean(1))


def test_shared_feature_weights_are_the_mean_over_steps():
    own, shared = layer(FeatureAttention), layer(FeatureAttention, shared=True)
    means = own(items()).weights.values.split(LENGTHS)
    for found, expected in zip(shared(items()).weights.rows(), means, strict=True):
        if len(found):
            torch.testing.assert_close(found, expected.mean(0).expand_as(found))


def test_the_weights_of_features_are_their_formula():
    """003-08: a dense layer with a softmax on a plain vector."""
    made, rows = layer(FeatureAttention), items([1])
    expected = torch.softmax(made.score.weight @ rows.values[0] + made.score.bias, 0)
    torch.testing.assert_close(made(rows).weights.values[0], expected)


def test_the_weights_of_steps_are_their_formula():
    made, rows = layer(StepAttention), items([4])
    scores = []
    for at, item in enumerate(rows.values):
        place = sinusoids(torch.tensor([at]), 32)[0].double()
        mixed = torch.tanh(made.item(item) + made.place(place))
        scores.append(made.score(mixed))
    expected = torch.softmax(torch.stack(scores), 0)
    torch.testing.assert_close(made(rows).weights.values, expected)


@pytest.mark.parametrize("kind", [StepAttention, FeatureAttention])
def test_rows_do_not_touch_each_other_and_may_have_any_length(kind):
    """D18."""
    made, rows = layer(kind), items()
    together = made(rows).items.rows()
    for row, found in zip(rows.rows(), together, strict=True):
        alone = made(Ragged(row, torch.tensor([len(row)])))
        torch.testing.assert_close(alone.items.values, found)
    long = made(Ragged(torch.randn(5000, SIZE).double(), torch.tensor([5000])))
    assert torch.isfinite(long.items.values).all()


@pytest.mark.parametrize("kind", [StepAttention, FeatureAttention])
def test_gradients_are_those_of_finite_differences(kind):
    made, rows = layer(kind, shared=True), items([2, 0, 3])
    values = rows.values.requires_grad_()
    assert torch.autograd.gradcheck(lambda v: made(rows.with_values(v)).items.values, values)


def test_attention_plugs_into_a_network_of_ones_own():
    """003-13, 003-08: the number that counts gets the largest weight."""
    torch.manual_seed(0)
    attention, answer = FeatureAttention(32), torch.nn.Linear(32, 1)
    optimizer = torch.optim.Adam([*attention.parameters(), *answer.parameters()], lr=0.01)
    for _ in range(300):
        values = torch.randn(256, 32)
        target = (torch.rand(256) < 0.5).float()
        values[:, 1] = target
        weighed = attention(Ragged(values, torch.ones(256, dtype=torch.int64)))
        logits = answer(weighed.items.values).squeeze(1)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert weighed.weights.values.mean(0).argmax() == 1
