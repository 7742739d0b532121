"""TensorBoard logs, read back by TensorBoard itself."""

import sys

import pytest

from regard.errors import MissingExtra
from regard.records.history import Epoch
from regard.tasks.classify import ClassificationLoss
from regard.training.batches import PlannedBatches
from regard.training.loop import train
from regard.training.observers import TensorBoardLog
from support.toys import ToySource, plain_config, toy_model


def test_the_log_holds_every_tenth_step_and_every_epoch(tmp_path):
    """000-14: TensorBoard logs."""
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    config = plain_config(epochs=6, batch_size=8)
    batches = PlannedBatches(ToySource(30), config)
    steps = list(train(toy_model(), batches, loss=ClassificationLoss(), config=config))
    with TensorBoardLog(tmp_path) as log:
        for step in steps:
            log.on_step(step)
        log.on_epoch(Epoch(1, 0.5, 1e-3, 30, 2.0, {"loss": 0.4, "accuracy": 0.75}))
    read = events.EventAccumulator(str(tmp_path)).Reload()
    losses = read.Scalars("step/loss")
    assert [event.step for event in losses] == [10, 20]
    assert [event.value for event in losses] == pytest.approx([steps[9].loss, steps[19].loss])
    assert read.Scalars("epoch/validation_accuracy")[0].value == 0.75
    assert "epoch/validation_macro_f1" not in read.Tags()["scalars"]


def test_without_tensorboard_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard.writer", None)
    with pytest.raises(MissingExtra, match=r"regard\[logs\]"):
        TensorBoardLog(tmp_path)
