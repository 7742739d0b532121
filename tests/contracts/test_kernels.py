"""A kernel is used only where it computes what the score and the pooling say."""

import pytest
import torch

from regard.nn.attention import SCORES, ContextScore
from regard.nn.encoders import RecurrentEncoder
from regard.nn.levels import Level
from regard.nn.pooling import AttentionPooling, PoolingConfig
from regard.nn.rows import row_softmax
from regard.ragged import Ragged

LENGTHS = torch.tensor([3, 0, 5, 1])


class SharpScore(ContextScore):
    """A score of somebody else's, made from ours: it asks ten times as loudly."""

    def ask(self, query):
        return 10 * query


class EvenPooling(AttentionPooling):
    """A pooling of somebody else's, made from ours: it weighs all items alike."""

    def forward(self, items, weights=None):
        even = 1 / items.lengths.clamp(min=1).float()
        return super().forward(items, even[items.row_ids] if weights is None else weights)


class DoublingEncoder(RecurrentEncoder):
    """An encoder of somebody else's, made from ours: its states are twice as large."""

    def forward(self, items):
        states = super().forward(items)
        return states.with_values(2 * states.values)


def made(score, monkeypatch, size=6):
    torch.manual_seed(0)
    monkeypatch.setitem(SCORES, "tried", score)
    pooling = AttentionPooling(size, PoolingConfig(attention_size=4, score="tried"))
    torch.nn.init.normal_(pooling.query)
    return pooling.eval(), Ragged(torch.randn(int(LENGTHS.sum()), size), LENGTHS)


@pytest.mark.parametrize("score", [*SCORES.values(), SharpScore], ids=[*SCORES, "derived"])
class TestEveryScore:
    def test_weighs_a_row_by_the_softmax_of_its_scores(self, score, monkeypatch):
        pooling, items = made(score, monkeypatch)
        wanted = row_softmax(items.with_values(pooling.score(pooling.query, items))).values
        found = pooling(items).weights.values
        torch.testing.assert_close(found, wanted)
        with torch.no_grad():
            torch.testing.assert_close(pooling(items).weights.values, wanted)

    def test_weighs_so_behind_an_encoder_too(self, score, monkeypatch):
        pooling, items = made(score, monkeypatch)
        encoder = RecurrentEncoder(6, 3).eval()
        states = encoder(items)
        wanted = row_softmax(states.with_values(pooling.score(pooling.query, states))).values
        with torch.no_grad():
            found = Level(encoder, pooling).eval()(items).weights.values
        torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("directions", [1, 2])
def test_a_derived_pooling_or_encoder_is_asked_itself(directions, monkeypatch):
    pooling, items = made(ContextScore, monkeypatch, size=3 * directions)
    inputs = items.with_values(torch.randn(len(items.values), 4))
    config = PoolingConfig(attention_size=4)
    even = EvenPooling(3 * directions, config).eval()
    plain = RecurrentEncoder(4, 3, directions=directions).eval()
    doubling = DoublingEncoder(4, 3, directions=directions).eval()
    with torch.no_grad():
        shares = Level(plain, even).eval()(inputs).weights.values
        found = Level(doubling, pooling).eval()(inputs).vectors
    torch.testing.assert_close(shares, (1 / LENGTHS.clamp(min=1).float())[items.row_ids])
    torch.testing.assert_close(found, pooling(doubling(inputs)).vectors)
