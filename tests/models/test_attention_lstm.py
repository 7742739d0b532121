import dataclasses
import json

import numpy as np
import pytest
import torch

from regard.config import from_dict, to_dict
from regard.data.series import SeriesBatch
from regard.errors import ConfigError
from regard.models.attention_lstm import AttentionLSTMConfig
from regard.nn.rows import row_sum
from regard.tasks.answering import answer_loss

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
