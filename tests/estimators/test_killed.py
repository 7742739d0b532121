"""A run that is killed without warning goes on and ends with the same bits."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch

import regard
from regard.estimators.trainer import FitData, Run, Trainer, classification_loss
from regard.estimators.training_documents import LabelJudge
from regard.training.batches import PlannedBatches
from regard.training.checkpoint import Checkpoint
from regard.training.observers import Observer
from support.toys import ToySource, plain_config, toy_model

CONFIG = plain_config(epochs=30, batch_size=8, schedule="cosine", warmup=0.1, patience=None)


class Counter(Observer):
    """Prints the number of each step, for the one who kills."""

    def on_step(self, step):
        print(step.step, flush=True)

    def on_epoch(self, epoch):
        pass


def fitted(run):
    model = toy_model(dropout=0.5)
    source, held_out = ToySource(50, seed=1), ToySource(20, seed=2)
    counts = np.bincount(source.labels)
    loss = classification_loss(CONFIG, counts, document_count=50, multilabel=False)
    training, validation = PlannedBatches(source, CONFIG), PlannedBatches(held_out, CONFIG)
    data = FitData(training, validation, LabelJudge(loss, 3))
    history = Trainer(model, data, loss=loss, config=CONFIG, run=run).train()
    return model, history


def killed(folder, after):
    """Start a run or go on with it, and kill it once it has told of some steps; say which."""
    paths = [str(Path(regard.__file__).parents[1]), str(Path(__file__).parents[1])]
    with subprocess.Popen(
        [sys.executable, __file__, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    ) as child:
        lines = [child.stdout.readline() for _ in range(after)]
        child.kill()
    assert child.returncode == -9, "the run ended before it was killed"
    return [int(line) for line in lines]


def test_a_run_killed_twice_ends_with_the_bits_of_one_that_was_not(tmp_path):
    """kill -9 mid-epoch, while every step is being saved, dropout on."""
    assert killed(tmp_path, after=10) == list(range(1, 11))
    second = killed(tmp_path, after=23)
    # The last step told of may have been killed before it was saved; none before it was.
    assert second[0] in range(10, 200)
    (tmp_path / "state.safetensors.partial").write_bytes(b"what a killed writer leaves")
    model, history = fitted(Run(checkpoint=Checkpoint(tmp_path, resume=True)))
    expected, whole = fitted(Run())
    for name, weight in expected.state_dict().items():
        assert torch.equal(model.state_dict()[name], weight)
    losses = [(epoch.train_loss, epoch.validation_loss) for epoch in whole.epochs]
    assert [(epoch.train_loss, epoch.validation_loss) for epoch in history.epochs] == losses
    assert history.best_epoch == whole.best_epoch


if __name__ == "__main__":
    checkpoint = Checkpoint(Path(sys.argv[1]), resume=True, every_seconds=0)
    fitted(Run(checkpoint=checkpoint, observers=(Counter(),)))
