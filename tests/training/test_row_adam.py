"""Rows moved when they are needed end where torch's Adam moves them at every step."""

import dataclasses
import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from regard.tasks.classify import ClassificationLoss
from regard.training.batches import PlannedBatches
from regard.training.checkpoint import Snapshot
from regard.training.loop import train
from regard.training.optimizers import clip_gradients
from regard.training.row_adam import Drift, RowAdam, row_optimizers
from regard.training.state import TrainingState
from support.toys import MANY_WORDS, ToySource, plain_config, toy_model

CONFIG = plain_config(
    epochs=3, batch_size=2, learning_rate=0.01, clip=0.5, schedule="linear", warmup=0.2
)
SOURCE = ToySource(80)
STEPS = 120


def tables(rows=2000, size=6, seed=0):
    """Twice the same table."""
    generator = torch.Generator().manual_seed(seed)
    first, second = (nn.Embedding(rows, size, padding_idx=0) for _ in range(2))
    with torch.no_grad():
        first.weight.copy_(torch.rand(rows, size, generator=generator) - 0.5)
        first.weight[0] = 0
        second.weight.copy_(first.weight)
    return first, second


def common_words(step, rows=2000, count=40):
    """Ids that are small most of the time, and gradients from large to vanishing."""
    draw = np.random.default_rng(step)
    ids = np.minimum(draw.zipf(1.3, count), rows - 1)
    gradients = draw.normal(size=(count, 6)) * 10.0 ** draw.uniform(-9, 0, (count, 1))
    return torch.from_numpy(ids), torch.from_numpy(gradients)


def weights_after(state, batches, config=CONFIG):
    for _ in train(state.model, batches, loss=ClassificationLoss(), config=config, state=state):
        pass
    return torch.cat([weight.flatten() for weight in state.model.state_dict().values()])


def new_state(seed=0, config=CONFIG):
    model = toy_model(dropout=0.5, seed=seed, words=MANY_WORDS)
    return TrainingState(model, config, total_steps=STEPS)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("momentum", [0.9, 0.5, 0.0])
def test_every_row_ends_where_torchs_adam_leaves_it(momentum, dtype):
    """Over schedules and clipping, within a millionth; what is read is up to date at every step."""
    lazy, plain = (table.to(dtype) for table in tables())
    rows = RowAdam(lazy, momentum=momentum)
    optimizer = torch.optim.Adam(plain.parameters(), betas=(momentum, 0.999))
    for step in range(300):
        ids, gradients = common_words(step)
        rate = 0.01 * (1 - step / 300)
        with rows.reading():
            read = lazy(ids)
        torch.testing.assert_close(read, plain(ids), rtol=1e-6, atol=1e-6)
        for table, found in ((lazy, read), (plain, plain(ids))):
            table.zero_grad()
            (found * gradients.to(dtype)).sum().backward()
            clip_gradients(table.parameters(), 1.0)
        rows.step(rate)
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
    rows.settle()
    torch.testing.assert_close(lazy.weight, plain.weight, rtol=1e-6, atol=1e-6)
    assert (lazy.weight[0] == 0).all()


def test_the_loop_ends_where_a_plain_one_does():
    """001-19: Adam with a schedule and clipping, in the loop that all trainings run in."""
    config = dataclasses.replace(CONFIG, warmup=0.0)
    batches = PlannedBatches(SOURCE, config)
    model, plain = (toy_model(words=MANY_WORDS) for _ in range(2))
    state = TrainingState(model, config, total_steps=STEPS)
    assert len(state.row_optimizers) == 1
    optimizer = torch.optim.Adam(plain.parameters(), lr=0.01)
    norms = []
    for number in range(STEPS):
        if number % 40 == 0:
            reading = batches.read(number // 40)
        batch = next(reading)
        optimizer.zero_grad()
        F.cross_entropy(plain(batch).logits, batch.labels).backward()
        norms.append(nn.utils.clip_grad_norm_(plain.parameters(), 0.5))
        optimizer.param_groups[0]["lr"] = 0.01 * (1 - number / STEPS)
        optimizer.step()
    steps = train(model, batches, loss=ClassificationLoss(), config=config, state=state)
    found = torch.stack([step.gradient_norm for step in steps])
    torch.testing.assert_close(found, torch.stack(norms), rtol=1e-4, atol=1e-6)
    for name, wanted in plain.state_dict().items():
        torch.testing.assert_close(model.state_dict()[name], wanted, rtol=1e-5, atol=1e-6)


def test_a_run_goes_on_from_any_step_to_the_same_bits():
    batches = PlannedBatches(SOURCE, CONFIG)
    expected = weights_after(new_state(), batches)
    for stop in (1, 40, 66, 79, 101):
        state = new_state()
        steps = train(state.model, batches, loss=ClassificationLoss(), config=CONFIG, state=state)
        for _ in range(stop):
            next(steps)
        kept = state.snapshot()
        tensors = {name: tensor.clone() for name, tensor in kept.tensors.items()}
        again = new_state(seed=9)
        again.restore(Snapshot(tensors, json.loads(json.dumps(kept.values))))
        assert torch.equal(weights_after(again, batches), expected)


def test_who_stops_asking_finds_all_words_up_to_date():
    batches = PlannedBatches(SOURCE, CONFIG)
    for closed in (True, False):
        state = new_state()
        steps = train(state.model, batches, loss=ClassificationLoss(), config=CONFIG, state=state)
        for _ in range(75):
            next(steps)
        lagging = state.model.embedding.weight.clone()
        steps.close() if closed else state.settle()
        current = state.model.embedding.weight.clone()
        assert not torch.equal(current, lagging)
        state.settle()
        assert torch.equal(state.model.embedding.weight, current)


UNFINISHED = """
from regard.tasks.classify import ClassificationLoss
from regard.training.batches import PlannedBatches
from regard.training.loop import train
from support.toys import MANY_WORDS, ToySource, plain_config, toy_model

config = plain_config()
model, batches = toy_model(words=MANY_WORDS), PlannedBatches(ToySource(30), config)
steps = train(model, batches, loss=ClassificationLoss(), config=config)
next(steps)
"""


def test_a_program_may_end_before_its_training_does():
    """Python closes the generator when it ends itself, and then torch aborts if it is used."""
    paths = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", UNFINISHED],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_ids_of_32_bits_are_read_too():
    """A table of torch's takes them, so a network from outside may hand them over."""
    found = []
    for table, dtype in zip(tables(), (torch.int32, torch.int64), strict=True):
        rows = RowAdam(table, momentum=0.9)
        for step in range(70):
            ids, gradients = common_words(step)
            table.zero_grad()
            with rows.reading():
                (table(ids.to(dtype)) * gradients).sum().backward()
            rows.step(0.01)
        rows.settle()
        found.append(table.weight)
    assert torch.equal(*found)


def test_words_that_were_never_read_keep_their_bits():
    state = new_state()
    before = state.model.embedding.weight.detach()[40:].clone()
    weights_after(state, PlannedBatches(SOURCE, CONFIG))
    assert torch.equal(state.model.embedding.weight[40:], before)


def test_a_gradient_of_all_rows_moves_all_rows():
    """As of a table that is also written with, or read by several processes."""
    lazy, plain = tables(300)
    rows = RowAdam(lazy, momentum=0.9)
    optimizer = torch.optim.Adam(plain.parameters(), lr=0.01)
    for step in range(90):
        ids, gradients = common_words(step, 300)
        for table in (lazy, plain):
            table.zero_grad()
            with rows.reading():
                cost = (table(ids) * gradients).sum()
            if step % 3 == 0:
                cost = cost + table.weight.square().sum()
            cost.backward()
        assert lazy.weight.grad.is_sparse == bool(step % 3)
        rows.step(0.01)
        optimizer.step()
    rows.settle()
    torch.testing.assert_close(lazy.weight, plain.weight, rtol=1e-6, atol=1e-6)


def test_outside_of_training_the_table_is_a_plain_one():
    lazy, _ = tables()
    rows = RowAdam(lazy, momentum=0.9)
    with pytest.raises(RuntimeError, match="in the middle"), rows.reading():
        raise RuntimeError("in the middle")
    lazy(torch.tensor([1, 2])).sum().backward()
    assert not lazy.weight.grad.is_sparse
    assert not lazy._forward_pre_hooks


def test_without_a_gradient_nothing_moves():
    lazy, plain = tables()
    RowAdam(lazy, momentum=0.9).step(0.1)
    assert torch.equal(lazy.weight, plain.weight)


@pytest.mark.parametrize("optimizer", ["adam", "adamw"])
def test_large_tables_are_moved_row_by_row(optimizer):
    model = toy_model(words=MANY_WORDS)
    (rows,) = row_optimizers(model, plain_config(optimizer=optimizer))
    assert rows.weight is model.embedding.weight
    state = TrainingState(model, CONFIG, total_steps=1)
    assert all(rows.weight is not p for p in state.optimizer.param_groups[0]["params"])


@pytest.mark.parametrize(
    "settings",
    [
        {"optimizer": "sgd"},
        {"weight_decay": 0.1},
        {"momentum": 0.99},
        {"optimizer": "adamw", "weight_decay": 0.01},
    ],
)
def test_where_all_rows_move_anyhow_torch_moves_them(settings):
    assert row_optimizers(toy_model(words=MANY_WORDS), plain_config(**settings)) == ()


def test_a_network_of_nothing_but_tables_is_left_to_torch():
    assert row_optimizers(nn.Embedding(MANY_WORDS, 8), CONFIG) == ()


def test_small_and_frozen_tables_are_left_to_torch():
    assert row_optimizers(toy_model(), CONFIG) == ()
    config = dataclasses.replace(CONFIG, freeze_vectors=True)
    assert TrainingState(toy_model(words=MANY_WORDS), config, total_steps=1).row_optimizers == ()


@pytest.mark.parametrize("limit", [None, 0.1, 1e9])
@pytest.mark.parametrize("ids", [[3, 1, 3], [1, 3, 7], [5], []])
def test_clipping_counts_each_row_once(ids, limit):
    """001-19: a gradient of few rows has the norm of the same one with zeros for the others."""
    lazy, plain = tables(20)
    lazy.sparse = True
    for table in (lazy, plain):
        (table(torch.tensor(ids, dtype=torch.int64)).sin() * 3).sum().backward()
    norm = clip_gradients(lazy.parameters(), limit)
    torch.testing.assert_close(norm, clip_gradients(plain.parameters(), limit))
    torch.testing.assert_close(lazy.weight.grad.to_dense(), plain.weight.grad)


EPS = 1e-8
RATES = {
    "constant": lambda step: 0.002,
    "falling": lambda step: 0.002 * (1 - step / 501),
    "up and down": lambda step: 0.001 * (1.1 + math.sin(step / 7)),
}


def since(drift, stopped):
    """What rows have missed that were last moved at these steps, (rows, 6)."""
    missed, kinds = drift.since(stopped)
    return missed[kinds]


def moves_one_by_one(stopped, until, *, root, rate, betas):
    """What Adam adds up to from one step to another, for a mean of one and this root of squares."""
    first, second = betas
    total = 0.0
    for step in range(stopped + 1, until + 1):
        missed = step - stopped
        below = root * second ** (missed / 2) / math.sqrt(1 - second**step) + EPS
        total += rate(step) / (1 - first**step) * first**missed / below
    return total


@pytest.mark.parametrize("rate", RATES.values(), ids=RATES)
@pytest.mark.parametrize("beta", [0.1, 0.5, 0.9])
def test_the_moves_add_up_to_those_of_every_step(beta, rate):
    """Within a millionth, and of the smallest gradients within rounding of a weight."""
    drift = Drift((beta, 0.999), EPS)
    for step in range(1, 501):
        drift.advance(rate(step))
    for stopped in (64, 100, 350, 490, 499):
        one, other, near, far, mean_left, square_left = since(drift, np.array([stopped]))[0]
        assert mean_left == pytest.approx(beta ** (500 - stopped))
        assert square_left == pytest.approx(0.999 ** (500 - stopped))
        for root in (1.0, 1e-4, 1e-7, 1e-8, 1e-10):
            found = one / (root + near) + other / (root + far)
            wanted = moves_one_by_one(stopped, 500, root=root, rate=rate, betas=(beta, 0.999))
            # A mean is some three times the root at most, and a weight is moved by both.
            assert 3 * root * abs(found - wanted) < max(1e-7, 1e-6 * 3 * root * wanted)


def test_a_single_missed_step_is_exact():
    drift = Drift((0.9, 0.999), EPS)
    for step in range(1, 4):
        drift.advance(0.1 * step)
        one, other, near, far, *_ = since(drift, np.array([step - 1]))[0]
        for root in (1e-12, 1e-8, 1.0):
            wanted = moves_one_by_one(
                step - 1, step, root=root, rate=lambda step: 0.1 * step, betas=(0.9, 0.999)
            )
            assert one / (root + near) + other / (root + far) == pytest.approx(wanted, rel=1e-9)


def test_who_missed_nothing_does_not_move():
    drift = Drift((0.9, 0.999), EPS)
    drift.advance(0.1)
    assert since(drift, np.array([1])).tolist() == [[0, 0, EPS, EPS, 1, 1]]
    assert since(drift, np.zeros(0, np.int64)).shape == (0, 6)


def test_steps_far_apart_are_looked_up_as_those_close_together():
    """Many rows at few steps and few rows at many steps are numbered in different ways."""
    drift = Drift((0.9, 0.999), EPS)
    for _ in range(200):
        drift.advance(0.01)
    few = np.array([3, 150, 3])
    many = np.concatenate([few, np.arange(200), np.arange(200)])
    np.testing.assert_array_equal(since(drift, few), since(drift, many)[:3])


def test_without_momentum_nobody_moves_without_a_gradient():
    drift = Drift((0.0, 0.999), EPS)
    for _ in range(5):
        drift.advance(0.1)
    missed = since(drift, np.array([2, 4]))
    assert np.isfinite(missed).all()
    assert (missed[:, :2] == 0).all() and (missed[:, 4] == 0).all()


def test_after_a_restart_the_past_is_forgotten_and_steps_count_on():
    whole, cut = Drift((0.9, 0.999), EPS), Drift((0.9, 0.999), EPS)
    for step in range(40):
        whole.advance(0.01)
        cut.advance(0.01)
        if step == 20:
            cut.restart()
    assert cut.sums.shape == (4, 20)
    stopped = np.array([30, 21, 39])
    np.testing.assert_array_equal(since(cut, stopped), since(whole, stopped))


def test_a_restored_drift_goes_on_to_the_same_bits():
    first = Drift((0.9, 0.999), EPS)
    for step in range(30):
        first.advance(0.01)
        if step == 11:
            first.restart()
    second = Drift((0.9, 0.999), EPS)
    second.restore(torch.from_numpy(first.sums), first.step)
    for drift in (first, second):
        drift.advance(0.02)
    stopped = np.arange(first.start, 31)
    np.testing.assert_array_equal(since(second, stopped), since(first, stopped))
