"""What every network that writes keeps, whatever it is made of."""

import json

import pytest
import torch

from regard.config import from_dict, to_dict
from regard.models import PAIR_MODELS
from regard.nn.rows import row_sum
from regard.tasks.generate import GenerationConfig, TokenLoss, generate
from support.small_pairs import CONFIGS, VOCAB, batch, build, pairs

pytestmark = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)


def test_it_is_one_of_the_table(config):
    assert type(config) in PAIR_MODELS.values()


def test_scores_every_token_of_the_targets(config):
    """002-17: the end counted; the first step reads the start token."""
    logits = build(config)(batch((3, 0, 5), (2, 4, 0))).logits
    assert logits.shape == (3 + 5 + 1, VOCAB)
    assert torch.isfinite(logits).all()


def test_company_changes_nothing(config):
    """002-03: mixed lengths and an empty source."""
    model, encoded = build(config), pairs((3, 0, 50, 1), (2, 40, 0, 3))
    together = model(encoded.batch(range(4)))
    alone = [model(encoded.batch([row])) for row in range(4)]
    torch.testing.assert_close(together.logits, torch.cat([one.logits for one in alone]))
    for layer in together.attention:
        parts = torch.cat([one.attention[0].weights.values for one in alone])
        torch.testing.assert_close(layer.weights.values, parts)


def test_attention_is_rows_that_sum_to_one_over_the_source(config):
    """002-06: whatever the order in which the source was read."""
    output = build(config)(batch((3, 0, 5), (2, 4, 0)))
    assert bool(output.attention) == config.attends
    for cross in output.attention:
        assert (cross.name, cross.by, cross.over) == ("cross", "step", "token")
        assert cross.weights.lengths.tolist() == [3] * 3 + [0] * 5 + [5]
        torch.testing.assert_close(row_sum(cross.weights), (cross.weights.lengths > 0).double())


def test_learns_from_every_parameter(config):
    model = build(config).train()
    TokenLoss()(model, batch()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and torch.isfinite(parameter.grad).all(), name


def test_same_seed_same_bits(config):
    """D14."""
    first, second = build(config), build(config)
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)


def test_settings_survive_json(config):
    assert from_dict(type(config), json.loads(json.dumps(to_dict(config)))) == config


def test_weights_survive_their_state(config):
    model, other = build(config), build(config, seed=1)
    other.load_state_dict(model.state_dict())
    assert torch.equal(model(batch()).logits, other(batch()).logits)
    names = [tensor.data_ptr() for tensor in model.state_dict().values()]
    assert len(set(names)) == len(names)  # no tensor is saved twice


def test_half_of_the_bits_give_about_the_same(config):
    """Mixed precision, told the truth and not, written whole and by steps."""
    model, pair = build(config, dtype=torch.float32), batch((3, 0, 5), (2, 4, 0))
    exact = TokenLoss()(model, pair).mean
    for forcing in (1.0, 0.0):
        with torch.autocast("cpu", torch.bfloat16):
            loss = TokenLoss(forcing)(model, pair).mean
        loss.backward()
        assert all(torch.isfinite(p.grad).all() for p in model.parameters())
        if forcing == 1:
            torch.testing.assert_close(loss, exact, atol=0.05, rtol=0)
    with torch.autocast("cpu", torch.bfloat16):
        assert len(generate(model, pair.source, GenerationConfig())) == 3


def test_takes_an_empty_batch(config):
    for forcing in (1.0, 0.5):
        output = build(config)(pairs((), ()).batch([]), forcing)
        assert output.logits.shape == (0, VOCAB)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_writes_what_the_cpu_writes(config):
    model, pair = build(config, dtype=torch.float32), batch((3, 0, 5), (2, 4, 0))
    expected = model(pair).logits
    found = model.to("cuda")(pair.to("cuda")).logits.cpu()
    torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-3)
