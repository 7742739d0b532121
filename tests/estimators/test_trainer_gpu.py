"""Training on a GPU; skipped where there is none."""

import dataclasses

import numpy as np
import pytest
import torch

from regard.estimators.trainer import FitData, Run, Trainer, classification_loss
from regard.estimators.training_documents import LabelJudge
from regard.models import MODELS
from regard.training.batches import PlannedBatches
from regard.training.checkpoint import Checkpoint
from regard.training.loop import train
from regard.training.observers import Observer
from regard.training.seeds import seeded
from support.toys import VOCAB_SIZE, ToySource, plain_config, toy_model

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU on this machine")

CONFIG = plain_config(epochs=3, batch_size=8, learning_rate=0.01, class_weights="balanced")
SOURCE, HELD_OUT = ToySource(50, seed=1), ToySource(20, seed=2)


def loss_for(config):
    counts = np.bincount(SOURCE.labels)
    return classification_loss(config, counts, document_count=50, multilabel=False)


def fitted(model, config=CONFIG, **run):
    judge = LabelJudge(loss_for(config), 3)
    data = FitData(PlannedBatches(SOURCE, config), PlannedBatches(HELD_OUT, config), judge)
    history = Trainer(model, data, loss=loss_for(config), config=config, run=Run(**run)).train()
    return torch.cat([weight.flatten().cpu() for weight in model.state_dict().values()]), history


def build(kind):
    with seeded(3):
        config = kind(
            embedding_size=8,
            hidden_size=6,
            word_dropout=0.0,
            vector_dropout=0.0,
            state_dropout=0.0,
        )
        return config.build(vocab_size=VOCAB_SIZE, label_count=3)


@pytest.mark.parametrize("kind", MODELS.values(), ids=MODELS)
def test_a_gpu_ends_where_a_cpu_does(kind):
    """000-07: where a model is trained makes no difference beyond rounding."""
    here, history = fitted(build(kind))
    there, other = fitted(build(kind).cuda())
    torch.testing.assert_close(there, here, rtol=1e-2, atol=1e-3)
    losses = [epoch.validation_loss for epoch in history.epochs]
    assert [epoch.validation_loss for epoch in other.epochs] == pytest.approx(losses, rel=1e-3)


@pytest.mark.parametrize("kind", MODELS.values(), ids=MODELS)
def test_mixed_precision_learns_about_the_same(kind):
    config = dataclasses.replace(CONFIG, precision="bfloat16")
    _, history = fitted(build(kind).cuda())
    _, mixed = fitted(build(kind).cuda(), config)
    assert mixed.epochs[-1].train_loss == pytest.approx(history.epochs[-1].train_loss, rel=0.05)


@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
def test_a_step_does_not_wait_for_the_gpu():
    model = toy_model(dropout=0.5).cuda()
    loss = loss_for(CONFIG).to(torch.device("cuda"))
    steps = train(model, PlannedBatches(SOURCE, CONFIG), loss=loss, config=CONFIG)
    next(steps)
    torch.cuda.set_sync_debug_mode("error")
    try:
        for _ in range(10):
            step = next(steps)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert step.loss > 0


def test_the_callers_random_state_is_left_as_it_was():
    before = torch.cuda.get_rng_state()
    fitted(toy_model(dropout=0.5).cuda())
    assert torch.equal(torch.cuda.get_rng_state(), before)


def test_dropout_on_a_gpu_follows_the_seed():
    first, _ = fitted(toy_model(dropout=0.5).cuda())
    again, _ = fitted(toy_model(dropout=0.5).cuda())
    other, _ = fitted(toy_model(dropout=0.5).cuda(), dataclasses.replace(CONFIG, seed=1))
    torch.testing.assert_close(again, first, rtol=1e-3, atol=1e-4)
    assert not torch.allclose(other, first, rtol=1e-3, atol=1e-4)


def test_a_run_begun_on_a_gpu_goes_on_and_ends_alike(tmp_path):
    class Stopper(Observer):
        def on_step(self, step):
            if step.step == 10:
                raise SystemExit

        def on_epoch(self, epoch):
            pass

    whole, _ = fitted(toy_model(dropout=0.5).cuda())
    checkpoint = Checkpoint(tmp_path, resume=True, every_seconds=0)
    with pytest.raises(SystemExit):
        fitted(toy_model(dropout=0.5).cuda(), checkpoint=checkpoint, observers=(Stopper(),))
    resumed, history = fitted(toy_model(dropout=0.5).cuda(), checkpoint=checkpoint)
    torch.testing.assert_close(resumed, whole, rtol=1e-3, atol=1e-4)
    assert len(history.epochs) == 3
