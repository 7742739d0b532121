import dataclasses
import json

import numpy as np
import pytest
import torch

from regard.config import from_dict, to_dict
from regard.data.series import SeriesBatch
from regard.errors import ConfigError
from regard.models.attention_lstm import AttentionLSTMConfig, FeatureAttention, StepAttention
from regard.nn.positions import sinusoids
from regard.nn.rows import row_sum
from regard.ragged import Ragged
from regard.tasks.loss import answer_loss

VARIANTS = {
    f"{attend} over {over}{' shared' if shared else ''}": AttentionLSTMConfig(
        attend=attend, over=over, shared_attention=shared, hidden_size=8, attention_size=8
    )
    for attend in ("before", "after")
    for over in ("steps", "features")
    for shared in (False, True)
}
every_variant = pytest.mark.parametrize("config", VARIANTS.values(), ids=VARIANTS)


def built(config, features=2, answers=3):
    torch.manual_seed(0)
    return config.build(feature_count=features, answer_count=answers).eval()


def rows(lengths=(4, 0, 1, 6), features=2):
    draw = np.random.default_rng(0)
    return [draw.normal(size=(length, features)) for length in lengths]


@every_variant
class TestEveryVariant:
    def test_answers_for_series_of_any_length(self, config):
        """D18: an empty one and one of a thousand steps among them."""
        logits = built(config)(SeriesBatch.from_rows(rows((4, 0, 1000)))).logits
        assert logits.shape == (3, 3)
        assert torch.isfinite(logits).all()

    def test_company_changes_nothing(self, config):
        model = built(config)
        together = model(SeriesBatch.from_rows(rows()))
        alone = [model(SeriesBatch.from_rows([row])) for row in rows()]
        expected = torch.cat([one.logits for one in alone])
        torch.testing.assert_close(together.logits, expected)

    def test_gives_weights_that_sum_to_one(self, config):
        (layer,) = built(config)(SeriesBatch.from_rows(rows())).attention
        sums = row_sum(layer.weights).view(len(layer.weights), -1)
        filled = (layer.weights.lengths > 0).float()[:, None].expand_as(sums)
        torch.testing.assert_close(sums, filled)
        assert layer.over == config.over.removesuffix("s")

    def test_one_vector_serves_all_where_it_is_shared(self, config):
        """003-11: the (T, D) weights are identical over D."""
        (layer,) = built(config)(SeriesBatch.from_rows(rows())).attention
        values = layer.weights.values
        if config.over == "steps":
            same = torch.equal(values, values[:, :1].expand_as(values))
            assert same == config.shared_attention

    def test_settings_survive_json(self, config):
        text = json.dumps(to_dict(config))
        assert from_dict(AttentionLSTMConfig, json.loads(text)) == config

    def test_learns_from_every_parameter(self, config):
        model = built(config).train()
        answer_loss(model, SeriesBatch.from_rows(rows(), [0, 1, 2, 1])).backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None and torch.isfinite(parameter.grad).all(), name


PLANTED, STEPS = 15, 20


def planted(count, seed=0):
    """Noise but for one step, which tells the answer."""
    draw = np.random.default_rng(seed)
    answers = draw.integers(0, 2, count)
    values = draw.normal(size=(count, STEPS, 2)).astype(np.float32)
    values[:, PLANTED] = answers[:, None]
    return values, answers


def learned(attend, shared, epochs=5):
    torch.manual_seed(0)
    config = AttentionLSTMConfig(attend=attend, shared_attention=shared, hidden_size=16)
    model = config.build(feature_count=2, answer_count=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    values, answers = planted(3000)
    for epoch in range(epochs):
        order = np.random.default_rng(epoch).permutation(3000)
        for part in np.array_split(order, 40):
            optimizer.zero_grad()
            answer_loss(model, SeriesBatch.from_rows(list(values[part]), answers[part])).backward()
            optimizer.step()
    return model


def mean_weights(model):
    """003-12: over 300 series that were never trained on, (steps,); and their mean entropy."""
    values, answers = planted(300, seed=1)
    output = model(SeriesBatch.from_rows(list(values), answers))
    right = (output.logits.argmax(1) == torch.from_numpy(answers)).float().mean()
    weights = output.attention[0].weights.values.detach().view(300, STEPS, -1)
    entropy = -(weights * weights.clamp(min=1e-9).log()).sum(1).mean()
    return right.item(), weights.mean((0, 2)), entropy.item()


@pytest.mark.parametrize("attend", ["before", "after"])
def test_the_planted_step_is_found_and_one_shared_vector_is_sharper(attend):
    """003-09, 003-10, 003-11: the peak is at the planted step, after the LSTM there or next."""
    entropies = []
    for shared in (False, True):
        right, weights, entropy = mean_weights(learned(attend, shared))
        assert right > 0.95
        peak = weights.argmax().item()
        assert peak in ((PLANTED,) if attend == "before" else (PLANTED, PLANTED + 1))
        entropies.append(entropy)
    assert entropies[1] < entropies[0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"attend": "befor"}, "did you mean 'before'"),
        ({"over": "time"}, "over cannot be 'time'"),
        ({"hidden_size": 0}, "hidden_size must be at least 1"),
        ({"directions": 0}, "directions must be 1 or 2"),
        ({"dropout": 1.0}, "dropout must be from 0 to below 1"),
    ],
)
def test_wrong_settings_are_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        dataclasses.replace(AttentionLSTMConfig(), **wrong)


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
