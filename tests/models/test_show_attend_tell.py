"""Show, attend and tell: weights over cells, the choices of attention, and what they cost."""

import itertools
import math

import numpy as np
import pytest
import torch

from regard.data.captions import EncodedCaptions
from regard.errors import ConfigError
from regard.models.show_attend_tell import ShowAttendTellConfig
from regard.nn.decoding.writing import Written
from regard.nn.rows import row_sum
from regard.ragged import Ragged
from regard.tasks.generate import GenerationConfig, TokenLoss, generate

SMALL = {
    "side": 16,
    "channels": 8,
    "halvings": 2,
    "embedding_size": 8,
    "memory_size": 12,
    "hidden_size": 12,
    "attention_size": 8,
    "heads": 2,
    "feed_size": 24,
    "dropout": 0.0,
}
CAPTIONS = [[4, 5, 6], [7], [4, 8, 9, 5, 6], []]


def captions(seed=0):
    draw = np.random.default_rng(seed)
    pictures = draw.integers(0, 256, (3, 3, 16, 16), dtype=np.uint8)
    return EncodedCaptions(pictures, [0, 1, 2, 0], CAPTIONS, cells=16)


def build(**settings):
    torch.manual_seed(0)
    return ShowAttendTellConfig(**{**SMALL, **settings}).build(target_size=10)


@pytest.mark.parametrize(
    ("decoder", "attention"),
    [
        *itertools.product(("xu", "bahdanau", "luong"), ("soft", "hard", "mean")),
        *itertools.product(("transformer",), ("soft", "mean")),
    ],
)
class TestEveryWay:
    def test_weights_over_cells_sum_to_one(self, attention, decoder):
        """004-07: for every word a row over all cells of its picture."""
        batch = captions().batch(range(4))
        model = build(attention=attention, decoder=decoder).eval()
        (looked,) = model(batch).attention
        assert (looked.by, looked.over) == ("step", "region")
        assert looked.weights.lengths.tolist() == [16] * sum(len(one) + 1 for one in CAPTIONS)
        torch.testing.assert_close(row_sum(looked.weights), torch.ones(len(looked.weights)))

    def test_writes_on_its_own_as_it_is_told(self, attention, decoder):
        data = captions()
        model = build(attention=attention, decoder=decoder).eval()
        pictures = data.look_at([1])
        ((found,),) = generate(model, pictures, GenerationConfig(method="greedy", longest=5))
        assert found.weights.shape == (len(found.ids), 16)
        ids = [one for one in found.ids.tolist() if one != 3]
        told = EncodedCaptions(data.pictures, [1], [ids], cells=16).batch([0])
        (looked,) = model(told).attention
        weights = looked.weights.values.view(-1, 16)[: len(found.ids)]
        torch.testing.assert_close(weights, found.weights)

    def test_company_changes_nothing(self, attention, decoder):
        data, model = captions(), build(attention=attention, decoder=decoder).eval()
        together = model(data.batch(range(4))).logits
        alone = torch.cat([model(data.batch([place])).logits for place in range(4)])
        torch.testing.assert_close(together, alone)


def test_a_cell_is_what_is_there_and_where_it_is():
    """What is there is never negative; where, which is added afterwards, may be.

    The mean of all cells opens the state and the memory of the LSTM, each by a layer of its own.
    """
    model, batch = build(decoder="xu").eval(), captions().batch(range(4))
    maps = model.encoder(batch.source.values)
    found = model.encode(batch.source)
    cells = [torch.relu(model.project(picture.flatten(1).T)) + model.places for picture in maps]
    torch.testing.assert_close(found.memory.values, torch.cat(cells))
    means = torch.stack([one.mean(0) for one in cells])
    state, memory = model.bridge.layers
    torch.testing.assert_close(found.carries, ((torch.tanh(state(means)), memory(means)),))


def test_without_an_opening_and_feeding_a_word_knows_what_it_looks_at_alone():
    """Other pictures change nothing but what each look finds: no other road leads to a word."""
    data = captions()
    model = build(decoder="luong", opening="nothing", feeding=False).eval()
    told = [[4, 5, 6]] * 2
    batch = EncodedCaptions(data.pictures, [0, 1], told, cells=16).batch(range(2))
    first, second = model(batch).logits.view(2, 4, -1)
    assert not torch.allclose(first, second)
    with torch.no_grad():
        model.decoder.combine.weight[:, :12] = 0  # the columns of what a look found
    first, second = model(batch).logits.view(2, 4, -1)
    torch.testing.assert_close(first, second)


def test_a_transformer_of_one_layer_knows_what_it_looks_at_alone():
    """Words look back at words, never at what was seen when those were written."""
    data = captions()
    model = build(decoder="transformer", layers=1, heads=2, hidden_size=8).eval()
    batch = EncodedCaptions(data.pictures, [0, 1], [[4, 5, 6]] * 2, cells=16).batch(range(2))
    first, second = model(batch).logits.view(2, 4, -1)
    assert not torch.allclose(first, second)
    with torch.no_grad():
        model.decoder.blocks[0].cross.leave.weight.zero_()
    first, second = model(batch).logits.view(2, 4, -1)
    torch.testing.assert_close(first, second)


@pytest.mark.parametrize("attention", ["soft", "mean"])
def test_unseen_cells_have_no_weight_in_training(attention):
    batch = captions().batch(range(4))
    model = build(attention=attention, unseen=0.5).train()
    (looked,) = model(batch).attention
    rows = looked.weights.values.view(-1, 16)
    assert 0.2 < (rows == 0).float().mean() < 0.8
    torch.testing.assert_close(rows.sum(1), torch.ones(len(rows)))
    first = rows[: len(CAPTIONS[0]) + 1] == 0
    assert (first == first[0]).all(), "all words of a caption see the same cells"
    (looked,) = model.eval()(batch).attention
    assert (looked.weights.values > 0).all()


@pytest.mark.parametrize("decoder", ["xu", "luong"])
def test_missed_cells_keep_their_weight_and_only_in_training(decoder):
    batch = captions().batch(range(4))
    plain, missing = (build(decoder=decoder, missed=share).train() for share in (0.0, 0.5))
    told, found = plain(batch), missing(batch)
    before, after = (one.attention[0].weights.values.view(-1, 16) for one in (told, found))
    torch.testing.assert_close(after[0], before[0])
    torch.testing.assert_close(after.sum(1), torch.ones(len(after)))
    assert not torch.allclose(found.logits[0], told.logits[0]), "what it missed it does not know"
    torch.testing.assert_close(missing.eval()(batch).logits, plain.eval()(batch).logits)


def test_a_feature_is_dropped_in_all_cells_of_a_picture():
    model = build(dropout=0.5, channels=32).train()
    given = []
    model.project.register_forward_pre_hook(lambda layer, args: given.append(args[0]))
    model.encode(captions().look_at([0, 1, 2]))
    gone = (given[0] == 0).all(1)  # (pictures, features)
    assert 0.3 < gone.float().mean() < 0.8 and not torch.equal(gone[0], gone[1])
    with torch.no_grad():
        model.eval().encode(captions().look_at([0]))
    kept = (given[1][0] != 0) & ~gone[0]
    torch.testing.assert_close(given[0][0][kept], 2 * given[1][0][kept])


@pytest.mark.parametrize("decoder", ["xu", "transformer"])
def test_the_mean_looks_everywhere_alike(decoder):
    model = build(decoder=decoder, attention="mean").eval()
    assert not model.config.attends
    (looked,) = model(captions().batch(range(4))).attention
    torch.testing.assert_close(
        looked.weights.values, torch.full_like(looked.weights.values, 1 / 16)
    )


def test_evenness_charges_for_cells_that_are_looked_at_more_than_others():
    """The doubly stochastic penalty of Xu et al.: nothing where all cells share the words."""
    batch = captions().batch(range(4))
    even = build(attention="mean", evenness=2.0)(batch).penalty
    assert even.item() == pytest.approx(0, abs=1e-9)
    with torch.no_grad():
        found = build(attention="soft", evenness=2.0)(batch)
    weights = found.attention[0].weights.values.view(-1, 16)
    price, start = 0.0, 0
    for caption in CAPTIONS:
        rows = weights[start : start + len(caption) + 1]
        price += 2.0 * float((len(rows) / 16 - rows.sum(0)).square().sum())
        start += len(rows)
    assert float(found.penalty) == pytest.approx(price / len(CAPTIONS), rel=1e-5)


def test_focus_charges_for_looks_that_are_spread_over_more_than_a_quarter_of_the_cells():
    """By their entropy: what is spread evenly over a quarter of the cells costs nothing."""
    batch = captions().batch(range(4))
    with torch.no_grad():
        spread = build(attention="mean", focus=2.0)(batch)
        found = build(attention="soft", focus=2.0)(batch)
    assert float(spread.penalty) == pytest.approx(2.0 * math.log(4), rel=1e-5)
    weights = found.attention[0].weights.values.view(-1, 16).double()
    entropy = -(weights * weights.log()).sum(1)
    price = 2.0 * (entropy - math.log(16 / 4)).clamp(min=0).mean()
    assert float(found.penalty) == pytest.approx(float(price), rel=1e-5)
    model = build(attention="soft", focus=2.0)
    look = torch.zeros(3, 16)
    look[0, 0], look[1, :4], look[2] = 1.0, 1 / 4, 1 / 16  # one cell, a quarter of them, all
    target = Ragged(torch.zeros(3, dtype=torch.long), torch.tensor([2, 1]))
    written = Written(torch.zeros(3, 7), Ragged(look.flatten(), torch.full((3,), 16)))
    assert float(model._penalty(written, target)) == pytest.approx(2.0 * math.log(4) / 3, rel=1e-5)


def test_hard_attention_is_moved_by_what_the_drawn_cells_brought():
    """REINFORCE: log-probabilities of drawn cells, times how much better their words went.

    Beside it the entropy is worth something, so that it does not choose the same cell always.
    """
    batch = captions().batch(range(4))
    model = build(attention="hard", reward=0.7, curiosity=0.3).train()
    torch.manual_seed(5)
    found = model(batch)
    torch.manual_seed(5)
    written = model.decoder.write(model.start(batch.source), batch.previous)
    logs = torch.log_softmax(found.logits, 1)
    rewards, drawn, entropies, start = [], [], [], 0
    for caption in CAPTIONS:
        steps = range(start, start + len(caption) + 1)
        told = batch.target.values[start : steps.stop]
        rewards.append(
            sum(logs[step, id] for step, id in zip(steps, told, strict=True)) / len(told)
        )
        rows = [found.attention[0].weights.values.view(-1, 16)[step] for step in steps]
        drawn.append(sum(row[written.chosen[s]].log() for row, s in zip(rows, steps, strict=True)))
        entropies.append(sum(-(row * row.log()).sum() for row in rows))
        start = steps.stop
    expected = 0.0
    for place, (one, looks, entropy) in enumerate(zip(rewards, drawn, entropies, strict=True)):
        others = sum(rewards[:place] + rewards[place + 1 :]) / 3
        expected -= 0.7 * (one - others) * looks + 0.3 * entropy
    assert found.penalty.item() == pytest.approx(expected.item() / 4, rel=1e-4)
    found.penalty.backward()
    scores = [part for name, part in model.named_parameters() if "look.score" in name]
    assert all(part.grad is not None and part.grad.any() for part in scores)
    assert model.decoder.output.weight.grad is None, "rewards move nothing but where it looks"


def test_a_transformer_sees_some_cells_in_training_and_all_afterwards():
    pictures = captions().look_at([0, 1, 2, 0])
    soft, mean = (
        build(decoder="transformer", attention=attention, unseen=0.5).train()
        for attention in ("soft", "mean")
    )
    lengths = torch.cat([soft.start(pictures).lengths for _ in range(20)])
    assert 6 < lengths.float().mean() < 10 and lengths.min() >= 1
    assert build(decoder="transformer", unseen=0.99).train().start(pictures).lengths.min() >= 1
    keys = mean.start(pictures).memory.keys
    assert not torch.allclose(keys[0, 0], keys[3, 0]), "the mean is of the cells that are seen"
    assert soft.eval().start(pictures).lengths.tolist() == [16] * 4
    keys = mean.eval().start(pictures).memory.keys
    torch.testing.assert_close(keys, keys[:, :1].expand_as(keys))


@pytest.mark.parametrize("decoder", ["xu", "transformer"])
def test_learns_twenty_pictures_by_heart(decoder):
    """004-07: a network from scratch writes each of twenty captions exactly."""
    draw = np.random.default_rng(0)
    pictures = draw.integers(0, 256, (20, 3, 4, 4), dtype=np.uint8).repeat(4, 2).repeat(4, 3)
    told = [draw.integers(4, 10, draw.integers(2, 6)).tolist() for _ in range(20)]
    data = EncodedCaptions(pictures, range(20), told, cells=16)
    sizes = {"channels": 16, "hidden_size": 32, "memory_size": 32, "embedding_size": 16}
    model = build(decoder=decoder, layers=1, **sizes)
    rate, steps = (1e-2, 200) if decoder == "xu" else (3e-3, 250)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        TokenLoss()(model, data.batch(range(20))).mean.backward()
        optimizer.step()
    for method in ("greedy", "beam"):
        config = GenerationConfig(method=method, longest=12)
        found = generate(model, data.look_at(range(20)), config)
        assert [best.ids.tolist()[:-1] for best, *_ in found] == told


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"side": 30}, "multiple of 4"),
        ({"encoder": "efficientnet-lite0", "side": 100}, "multiple of 32"),
        ({"attention": "none"}, "soft"),
        ({"dropout": 1.0}, "dropout must be"),
        ({"evenness": -1.0}, "evenness must be at least 0"),
        ({"focus": -1.0}, "focus must be at least 0"),
        ({"side": 1024, "halvings": 1}, "cells at most"),
        ({"decoder": "transformer", "heads": 5}, "5 heads cannot share 12 columns"),
        ({"decoder": "transformer", "attention": "hard"}, "looks softly or at the mean"),
        ({"decoder": "transformer", "evenness": 1.0}, "looks softly or at the mean"),
        ({"decoder": "transformer", "focus": 1.0}, "evenness and focus are for the others"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, said):
    with pytest.raises(ConfigError, match=said):
        ShowAttendTellConfig(**{**SMALL, **settings})
