"""Fitting: validation, early stopping, best weights, checkpoints, Ctrl-C."""

import dataclasses
import math

import numpy as np
import pytest
import torch

from regard.errors import ConfigError, DataError, ModelError, TrainingError
from regard.estimators.trainer import FitData, Run, Trainer, classification_loss
from regard.estimators.training_documents import LabelJudge
from regard.models import MODELS
from regard.training.batches import PlannedBatches
from regard.training.checkpoint import Checkpoint
from regard.training.config import TrainingConfig
from regard.training.loop import train
from regard.training.observers import Observer
from regard.training.seeds import seeded
from regard.training.state import TrainingState
from regard.training.teams import Alone
from support.reviews import reviews, tiny
from support.toys import VOCAB_SIZE, ToySource, plain_config, toy_model

CONFIG = plain_config(epochs=4, batch_size=8, learning_rate=0.05)
SOURCE, HELD_OUT = ToySource(50, seed=1), ToySource(20, seed=2)


class Watcher(Observer):
    """Keeps what it sees, and may raise at a step."""

    def __init__(self, raise_at=None, error=KeyboardInterrupt):
        self.steps, self.epochs = [], []
        self.raise_at, self.error = raise_at, error

    def on_step(self, step):
        self.steps.append(step)
        if step.step == self.raise_at:
            raise self.error

    def on_epoch(self, epoch):
        self.epochs.append(epoch)


def data_for(config, *, source=SOURCE, held_out=HELD_OUT):
    validation = None if held_out is None else PlannedBatches(held_out, config)
    judge = LabelJudge(loss_for(config, source), 3)
    return FitData(PlannedBatches(source, config), validation, judge)


def loss_for(config, source=SOURCE):
    counts = np.bincount(source.labels, minlength=3)
    return classification_loss(config, counts, document_count=50, multilabel=False)


def fitted(config=CONFIG, *, held_out=HELD_OUT, dropout=0.0, source=SOURCE, **run):
    model = toy_model(dropout=dropout)
    data = data_for(config, source=source, held_out=held_out)
    loss = loss_for(config, source)
    return model, Trainer(model, data, loss=loss, config=config, run=Run(**run)).train()


def flat(model):
    return torch.cat([weight.flatten().double() for weight in model.state_dict().values()])


def scores_of(model, config=CONFIG):
    data = data_for(config)
    return data.judge(model, data.validation, Alone())


def test_it_learns_and_tells_how_it_went():
    watcher = Watcher()
    model, history = fitted(dataclasses.replace(CONFIG, epochs=20), observers=(watcher,))
    assert history.stopped == "finished"
    assert history.epochs == tuple(watcher.epochs)
    assert [epoch.epoch for epoch in history.epochs] == list(range(1, 21))
    assert history.epochs[-1].train_loss < 0.3 * history.epochs[0].train_loss
    assert history.best.validation_accuracy > 0.9
    assert all(epoch.documents == 50 and epoch.seconds > 0 for epoch in history.epochs)
    assert not model.training


def test_the_train_loss_is_the_mean_over_documents():
    """D5: the last, smaller batch counts by its documents."""
    watcher = Watcher()
    _, history = fitted(observers=(watcher,))
    first = [step for step in watcher.steps if step.epoch == 1]
    expected = sum(step.loss * step.documents for step in first) / 50
    assert history.epochs[0].train_loss == pytest.approx(expected)


def test_the_best_weights_are_the_ones_kept():
    """001-21: of a training that gets worse, the best epoch is reloaded and reported."""
    config = dataclasses.replace(CONFIG, epochs=12, learning_rate=2.0, clip=None, patience=None)
    model, history = fitted(config)
    losses = [epoch.validation_loss for epoch in history.epochs]
    assert history.best_epoch == losses.index(min(losses)) + 1 < 12
    assert scores_of(model)["loss"] == pytest.approx(min(losses))


@pytest.mark.parametrize("monitor", ["loss", "accuracy", "macro_f1"])
def test_a_plateau_stops_the_training(monitor):
    """D4, 000-14, 001-21: without progress for as long as there is patience, it really ends."""
    config = dataclasses.replace(CONFIG, epochs=50, min_delta=1.0, patience=2, monitor=monitor)
    watcher = Watcher()
    _, history = fitted(config, observers=(watcher,))
    assert history.stopped == "patience"
    assert len(history.epochs) == 3
    assert watcher.steps[-1].step == 3 * 7


COOLING = dataclasses.replace(CONFIG, epochs=9, min_delta=1.0, patience=2, cooling=True)


def test_a_stopped_training_cools_down_from_its_best_weights():
    """One epoch more, whose rate falls to nothing; here momentum is none, so weights are all."""
    config = dataclasses.replace(COOLING, optimizer="sgd", momentum=0.0, learning_rate=0.5)
    watcher = Watcher()
    model, history = fitted(config, observers=(watcher,))
    assert history.stopped == "patience"
    assert len(history.epochs) == history.best_epoch == 4
    assert [step.learning_rate for step in watcher.steps[-7:]] == pytest.approx(
        [0.5 * left / 7 for left in range(7, 0, -1)]
    )
    losses = [epoch.validation_loss for epoch in history.epochs]
    best = losses.index(min(losses[:3])) + 1
    again, _ = fitted(dataclasses.replace(config, epochs=best), held_out=None)
    data = data_for(config)
    state = TrainingState(again, config, total_steps=28)
    state.epoch, state.step = 3, 21
    state.cool(7)
    for _ in train(again, data.training, loss=loss_for(config), config=config, state=state):
        if state.cooled:
            break
    assert torch.equal(flat(again), flat(model))


def test_cooling_that_does_not_help_is_not_kept():
    config = dataclasses.replace(COOLING, learning_rate=2.0, clip=None, min_delta=0.0, patience=1)
    model, history = fitted(config)
    losses = [epoch.validation_loss for epoch in history.epochs]
    assert history.best_epoch == losses.index(min(losses)) + 1
    assert scores_of(model)["loss"] == pytest.approx(min(losses))


def test_after_the_last_epoch_there_is_nothing_to_cool():
    _, history = fitted(dataclasses.replace(COOLING, epochs=3))
    assert len(history.epochs) == 3


@pytest.mark.parametrize("average", [1, 2])
@pytest.mark.parametrize("killed_at", [3 * 7, 3 * 7 + 4])
def test_cooling_goes_on_to_the_same_bits(tmp_path, killed_at, average):
    config = dataclasses.replace(COOLING, average=average)
    whole, _ = fitted(config)
    checkpoint = Checkpoint(tmp_path, resume=True, every_seconds=0)
    with pytest.raises(SystemExit):
        fitted(config, checkpoint=checkpoint, observers=(Watcher(killed_at, SystemExit),))
    again, history = fitted(config, checkpoint=checkpoint)
    assert len(history.epochs) == 4
    assert torch.equal(flat(again), flat(whole))


def test_without_validation_the_last_epoch_is_kept():
    model, history = fitted(held_out=None)
    assert (history.best_epoch, history.stopped) == (4, "finished")
    assert history.epochs[0].validation_loss is None
    again, _ = fitted(dataclasses.replace(CONFIG, patience=1), held_out=None)
    assert torch.equal(flat(model), flat(again))


@pytest.mark.parametrize("interrupt_at", [1, 5, 7, 8, 20])
def test_an_interrupt_keeps_the_best_so_far(interrupt_at):
    """Ctrl-C returns with the best weights of the epochs that ended."""
    model, history = fitted(observers=(Watcher(interrupt_at),))
    done = (interrupt_at - 1) // 7
    assert history.interrupted
    assert len(history.epochs) == done
    assert not model.training
    if done == 0:
        assert history.best_epoch is None
        assert not torch.equal(flat(model), flat(toy_model()))
    else:
        whole, _ = fitted(dataclasses.replace(CONFIG, epochs=done))
        assert torch.equal(flat(model), flat(whole))


def test_the_same_seed_gives_the_same_bits_and_touches_nothing():
    before = torch.get_rng_state()
    model, history = fitted(dropout=0.5)
    torch.rand(3)
    again, history_again = fitted(dropout=0.5)
    assert torch.equal(flat(model), flat(again))
    losses = [epoch.train_loss for epoch in history.epochs]
    assert [epoch.train_loss for epoch in history_again.epochs] == losses
    torch.set_rng_state(before)
    fitted(dropout=0.5)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_loss_that_is_no_number_stops_with_advice():
    config = dataclasses.replace(CONFIG, optimizer="sgd", learning_rate=1e30, clip=None)
    with pytest.raises(TrainingError, match="lower learning_rate"):
        fitted(config)


def test_weights_that_are_no_numbers_are_not_kept():
    """Issue 18.5: nothing is held out, the last step goes too far; a loss shows it no more."""
    made = tiny(training__learning_rate=1e37, training__epochs=1, training__batch_size=4)
    with pytest.raises(TrainingError, match="lower learning_rate"):
        made.fit(*reviews(6))


def test_an_error_after_good_epochs_leaves_the_best_weights():
    model = toy_model()
    run = Run(observers=(Watcher(raise_at=20, error=RuntimeError),))
    with pytest.raises(RuntimeError):
        Trainer(model, data_for(CONFIG), loss=loss_for(CONFIG), config=CONFIG, run=run).train()
    whole, _ = fitted(dataclasses.replace(CONFIG, epochs=2))
    assert torch.equal(flat(model), flat(whole))


def test_empty_validation_data_are_refused():
    with pytest.raises(DataError, match="validation data have no documents"):
        data_for(CONFIG, held_out=ToySource(0))


@pytest.mark.parametrize("killed_at", [1, 3, 7, 8, 13, 28])
def test_a_run_that_was_cut_off_ends_with_the_same_bits(tmp_path, killed_at):
    whole, history = fitted(dropout=0.5)
    with pytest.raises(SystemExit):
        fitted(
            dropout=0.5,
            checkpoint=Checkpoint(tmp_path, every_seconds=0),
            observers=(Watcher(killed_at, SystemExit),),
        )
    watcher = Watcher()
    checkpoint = Checkpoint(tmp_path, resume=True, every_seconds=0)
    resumed, again = fitted(dropout=0.5, checkpoint=checkpoint, observers=(watcher,))
    assert watcher.steps[0].step == killed_at
    assert torch.equal(flat(resumed), flat(whole))
    for epoch, other in zip(history.epochs, again.epochs, strict=True):
        assert dataclasses.replace(epoch, seconds=0) == dataclasses.replace(other, seconds=0)
    assert (again.best_epoch, again.stopped) == (history.best_epoch, history.stopped)


@pytest.mark.parametrize("count", [2, 3, 9])
def test_the_mean_of_the_last_epochs_is_judged_and_kept(count, tmp_path):
    """The training goes on from its own weights, and a resumed one gives the same bits."""
    config = dataclasses.replace(CONFIG, epochs=4, patience=None)
    ends = [
        flat(fitted(dataclasses.replace(config, epochs=n), held_out=None)[0]) for n in range(1, 5)
    ]
    averaging = dataclasses.replace(config, average=count)
    model, _ = fitted(averaging, held_out=None)
    torch.testing.assert_close(flat(model), torch.stack(ends[-count:]).mean(0))
    with pytest.raises(SystemExit):
        watcher = Watcher(20, SystemExit)
        fitted(averaging, checkpoint=Checkpoint(tmp_path), observers=(watcher,))
    again, _ = fitted(averaging, checkpoint=Checkpoint(tmp_path, resume=True))
    whole, _ = fitted(averaging)
    assert torch.equal(flat(again), flat(whole))


STOPPED = {"epochs": 9, "min_delta": 1.0, "patience": 1}


@pytest.mark.parametrize("settings", [{}, STOPPED, {**STOPPED, "cooling": True}])
def test_resuming_a_finished_run_trains_no_more(tmp_path, settings):
    config = dataclasses.replace(CONFIG, **settings)
    model, history = fitted(config, checkpoint=Checkpoint(tmp_path))
    watcher = Watcher()
    checkpoint = Checkpoint(tmp_path, resume=True)
    again, same = fitted(config, checkpoint=checkpoint, observers=(watcher,))
    assert watcher.steps == []
    assert same == history
    assert torch.equal(flat(again), flat(model))


def test_resuming_with_other_settings_or_data_is_refused(tmp_path):
    fitted(checkpoint=Checkpoint(tmp_path))
    other = dataclasses.replace(CONFIG, learning_rate=0.1)
    with pytest.raises(ConfigError, match=r"training\.learning_rate = 0\.05, now it is 0\.1"):
        fitted(other, checkpoint=Checkpoint(tmp_path, resume=True))
    with pytest.raises(ConfigError, match="first batch"):
        fitted(source=ToySource(50, seed=9), checkpoint=Checkpoint(tmp_path, resume=True))


def test_a_damaged_checkpoint_is_named(tmp_path):
    checkpoint = Checkpoint(tmp_path, resume=True)
    fitted(checkpoint=checkpoint)
    checkpoint.path.write_bytes(checkpoint.path.read_bytes()[:1000])
    with pytest.raises(ModelError, match="damaged"):
        fitted(checkpoint=checkpoint)


def test_nothing_is_printed(capsys):
    fitted()
    assert capsys.readouterr() == ("", "")


def build(kind):
    """A small network of the given kind, with every dropout there is."""
    dropouts = {"word_dropout": 0.1, "vector_dropout": 0.2, "state_dropout": 0.3}
    config = kind(embedding_size=8, hidden_size=5, attention_size=5, **dropouts)
    with seeded(3):
        return config.build(vocab_size=VOCAB_SIZE, label_count=3)


@pytest.mark.parametrize("kind", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("settings", [{}, {"precision": "bfloat16"}, {"freeze_vectors": True}])
def test_every_model_goes_on_to_the_same_bits(tmp_path, kind, settings):
    config = dataclasses.replace(CONFIG, epochs=2, **settings)
    data, loss = data_for(config), loss_for(config)
    whole, cut_off, resumed = build(kind), build(kind), build(kind)
    Trainer(whole, data, loss=loss, config=config).train()
    checkpoint = Checkpoint(tmp_path, resume=True, every_seconds=0)
    with pytest.raises(SystemExit):
        run = Run(checkpoint, (Watcher(10, SystemExit),))
        Trainer(cut_off, data, loss=loss, config=config, run=run).train()
    Trainer(resumed, data, loss=loss, config=config, run=Run(checkpoint)).train()
    assert torch.equal(flat(resumed), flat(whole))
    assert not torch.equal(flat(whole), flat(build(kind)))


EFFECTS = {
    "epochs": {"epochs": 3},
    "batch_size": {"batch_size": 16},
    "batch_tokens": {"batch_tokens": 20},
    "optimizer": {"optimizer": "sgd"},
    "learning_rate": {"learning_rate": 0.04},
    "momentum": {"momentum": 0.5},
    "weight_decay": {"weight_decay": 0.1},
    "schedule": {"schedule": "cosine"},
    "warmup": {"warmup": 0.5},
    "clip": {"clip": 0.01},
    "class_weights": {"class_weights": "balanced"},
    "label_smoothing": {"label_smoothing": 0.2},
    "focal": {"focal": 2.0},
    "precision": {"precision": "bfloat16"},
    "average": {"average": 2},
    "freeze_vectors": {"freeze_vectors": True},
    "seed": {"seed": 1},
}


@pytest.mark.parametrize("name", EFFECTS)
def test_every_knob_changes_the_weights(name):
    """D7, 001-19: no setting of the training is ignored."""
    config = dataclasses.replace(CONFIG, patience=None)
    usual, _ = fitted(config, held_out=None)
    changed, _ = fitted(dataclasses.replace(config, **EFFECTS[name]), held_out=None)
    assert not torch.allclose(flat(usual), flat(changed), atol=1e-6)


def test_only_the_knobs_of_early_stopping_are_tested_elsewhere():
    names = {field.name for field in dataclasses.fields(TrainingConfig)}
    assert names - set(EFFECTS) == {"patience", "cooling", "min_delta", "monitor"}


def test_patience_and_its_least_gain_decide_when_to_stop():
    """D7: ``patience`` and ``min_delta`` are heeded."""

    def length(**settings):
        _, history = fitted(dataclasses.replace(CONFIG, epochs=9, **settings))
        return len(history.epochs)

    assert length(patience=1, min_delta=9.0) == 2
    assert length(patience=4, min_delta=9.0) == 5
    assert length(patience=None, min_delta=9.0) == 9
    assert length(patience=4, min_delta=0.0) == 9


def test_the_monitor_decides_which_epoch_is_best():
    """D7: ``monitor`` is heeded: here all is right long before the loss is at its least."""
    best = {}
    for monitor in ("loss", "accuracy", "macro_f1"):
        config = dataclasses.replace(CONFIG, epochs=15, monitor=monitor, patience=None)
        _, history = fitted(config)
        best[monitor] = history.best
        assert history.monitor == monitor
    assert best["accuracy"].validation_accuracy == best["loss"].validation_accuracy == 1
    assert best["macro_f1"].epoch == best["accuracy"].epoch < best["loss"].epoch


def test_balanced_classes_weigh_what_they_lack():
    loss = loss_for(dataclasses.replace(CONFIG, class_weights="balanced"))
    counts = np.bincount(SOURCE.labels)
    assert loss.class_weights.tolist() == pytest.approx(list(50 / (3 * counts)))
    assert loss_for(CONFIG).class_weights is None


def test_several_labels_are_learned():
    """001-12: documents with several labels, or none."""
    config = dataclasses.replace(CONFIG, epochs=40)
    source = ToySource(60, several=True)
    model = toy_model()
    loss = classification_loss(config, source.labels.sum(0), document_count=60, multilabel=True)
    batches = PlannedBatches(source, config)
    data = FitData(batches, batches, LabelJudge(loss, 3))
    history = Trainer(model, data, loss=loss, config=config).train()
    assert history.epochs[-1].validation_macro_f1 > history.epochs[0].validation_macro_f1
    assert all(math.isfinite(epoch.train_loss) for epoch in history.epochs)
