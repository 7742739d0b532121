"""BERT put to use: what is frozen, where numbers are dropped, and how fast each layer learns."""

from dataclasses import replace

import pytest
import torch

from regard.models.bert import BertConfig
from regard.models.tuned_bert import TunedBert, TuningConfig
from regard.nn.dropout import drop
from regard.ragged import Ragged
from regard.training.config import TrainingConfig
from regard.training.optimizers import build_optimizer

CONFIG = BertConfig(hidden_size=16, layers=3, heads=2, feed_size=24, longest=12, dropout=0.0)
IDS = Ragged(torch.arange(3, 12), torch.tensor([5, 4]))
SEGMENTS = torch.tensor([0, 0, 0, 1, 1, 0, 0, 1, 1])


def tuned(config=CONFIG, scored="rows", **tuning):
    """A network as it is while it learns."""
    torch.manual_seed(0)
    given = TuningConfig(**tuning)
    model = TunedBert(config, given, vocab_size=20, outputs=3, scored=scored, rate=0.1)
    return model.train()


@pytest.mark.parametrize("scored", ["rows", "pieces"])
def test_dropout_stands_before_the_last_layer(scored):
    """Over the pooled state of the first piece of each row, or over the states of all pieces."""
    model = tuned(scored=scored, dropout=0.5)
    states = model.bert(IDS, SEGMENTS)
    given = states.values
    if scored == "rows":
        given = torch.tanh(model.bert.pooler(given[[0, 5]]))
    torch.manual_seed(1)
    expected = model.head(drop(given, 0.5, training=True))
    torch.manual_seed(1)
    torch.testing.assert_close(model(IDS, SEGMENTS), expected)


@pytest.mark.parametrize(("layers", "still"), [(0, 3), (1, 2), (3, 0), (None, None)])
def test_what_is_frozen_drops_nothing(layers, still):
    """Its states are the same each time, as if they were read from a file; above they are not."""
    model = tuned(replace(CONFIG, dropout=0.5), layers=layers)
    first, second = (model.bert.states(IDS, SEGMENTS) for _ in range(2))
    same = [torch.equal(a.values, b.values) for a, b in zip(first, second, strict=True)]
    frozen = 0 if still is None else still + 1  # what enters the first layer too
    assert same == [place < frozen for place in range(4)]


def test_the_optimizer_moves_each_layer_at_its_rate():
    """The last layer and the pooler at the whole rate; each below at a share of that above."""
    model = tuned(layer_decay=0.5)
    optimizer = build_optimizer(model, TrainingConfig(learning_rate=0.1))
    rates = {id(one): group["lr"] for group in optimizer.param_groups for one in group["params"]}
    for name, parameter in model.named_parameters():
        place = next((n for n in range(3) if name.startswith(f"bert.blocks.{n}.")), None)
        below = name.startswith(("bert.embedding", "bert.places", "bert.segments", "bert.norm"))
        steps = 3 if below else 0 if place is None else 2 - place
        assert rates[id(parameter)] == pytest.approx(0.1 * 0.5**steps), name
