"""Two processes started by torchrun end where one process does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import regard
from regard.errors import ConfigError
from regard.estimators.trainer import FitData, Run, Trainer, classification_loss
from regard.estimators.training_documents import LabelJudge
from regard.scale.distributed import join_team, own_device, process_count
from regard.tasks.classify import ClassificationLoss
from regard.training.batches import PlannedBatches
from regard.training.checkpoint import Checkpoint
from regard.training.observers import Observer
from regard.training.teams import Alone
from support.toys import MANY_WORDS, VOCAB_SIZE, ToySource, plain_config, toy_model

# Thirteen documents in batches of four: the last batch has one, so one share of it is empty.
CONFIG = plain_config(
    epochs=5,
    batch_size=4,
    learning_rate=0.05,
    class_weights="balanced",
    clip=0.5,
    patience=2,
    cooling=True,
)
CPU = torch.device("cpu")


class Stopper(Observer):
    """Breaks a run off after some steps."""

    def __init__(self, last):
        self.last = last

    def on_step(self, step):
        if step.step > self.last:
            raise RuntimeError

    def on_epoch(self, epoch):
        pass


def fitted(team, *, several=False, checkpoint=None, observers=(), words=VOCAB_SIZE):
    source, held_out = (ToySource(n, seed=n, several=several) for n in (13, 5))
    counts = source.labels.sum(0) if several else np.bincount(source.labels, minlength=3)
    loss = classification_loss(CONFIG, counts, document_count=13, multilabel=several)
    training, validation = PlannedBatches(source, CONFIG), PlannedBatches(held_out, CONFIG)
    data = FitData(training, validation, LabelJudge(loss, 3))
    # Each process begins with weights of its own: the team must agree on the first one's.
    model = toy_model(penalty=0.3, seed=team.rank, words=words)
    run = Run(team=team, checkpoint=checkpoint, observers=observers)
    return model, Trainer(model, data, loss=loss, config=CONFIG, run=run).train()


def told(history):
    """What must be the same on all processes and with any number of them."""
    return [
        [e.train_loss, e.validation_loss, e.validation_accuracy, e.validation_macro_f1, e.documents]
        for e in history.epochs
    ] + [[history.best_epoch]]


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """What two processes made: their weights and histories, by rank."""
    folder = tmp_path_factory.mktemp("together")
    paths = [str(Path(regard.__file__).parents[1]), str(Path(__file__).parents[1])]
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0"]
    command += [__file__, str(folder)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "OMP_NUM_THREADS": "1",
        "GLOO_SOCKET_IFNAME": "lo",
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[:6000]
    return folder


@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
def test_two_processes_end_where_one_does(together, several):
    """Unequal and empty shares, class weights, a penalty, clipping and early stopping included."""
    model, history = fitted(Alone(), several=several)
    weights = load_file(together / f"0-{several}.safetensors")
    for name, expected in model.state_dict().items():
        torch.testing.assert_close(weights[name], expected, rtol=1e-4, atol=1e-5)
    seen = json.loads((together / f"0-{several}.json").read_text())
    for row, expected in zip(seen, told(history), strict=True):
        assert row == pytest.approx(expected, rel=1e-4)


def test_words_that_only_one_process_reads_move_in_all(together):
    """One process moves rows one by one; two must tell each other about theirs."""
    model, _ = fitted(Alone(), words=MANY_WORDS)
    weights, others = (load_file(together / f"{rank}-words.safetensors") for rank in (0, 1))
    for name, expected in model.state_dict().items():
        torch.testing.assert_close(weights[name], expected, rtol=1e-4, atol=1e-5)
    assert all(torch.equal(others[name], weights[name]) for name in weights)


@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
def test_all_processes_hold_the_same_bits(together, several):
    first, second = (load_file(together / f"{rank}-{several}.safetensors") for rank in (0, 1))
    assert all(torch.equal(first[name], second[name]) for name in first)
    histories = [(together / f"{rank}-{several}.json").read_text() for rank in (0, 1)]
    assert histories[0] == histories[1]


def test_dropout_differs_between_the_processes(together):
    drawn = [json.loads((together / f"{rank}-dropout.json").read_text()) for rank in (0, 1)]
    assert drawn[0] != drawn[1]


def test_only_the_first_process_writes_checkpoints(together):
    assert (together / "checkpoint-0" / "state.safetensors").exists()
    assert not (together / "checkpoint-1").exists()


def test_all_processes_go_on_from_the_first_ones_checkpoint(together):
    for rank in (0, 1):
        resumed = load_file(together / f"{rank}-resumed.safetensors")
        whole = load_file(together / f"{rank}-False.safetensors")
        assert all(torch.equal(resumed[name], whole[name]) for name in whole)


def test_without_torchrun_a_process_is_alone(monkeypatch):
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    assert process_count() == 1
    with join_team(CPU) as team:
        assert (team.rank, team.size) == (0, 1)
    assert own_device(CPU) == CPU


def test_more_processes_than_gpus_are_refused(monkeypatch):
    monkeypatch.setenv("RANK", "99")
    monkeypatch.setenv("LOCAL_RANK", "99")
    monkeypatch.setenv("WORLD_SIZE", "100")
    assert process_count() == 100
    assert own_device(CPU) == CPU
    with pytest.raises(ConfigError, match="process 100 on this machine finds"):
        own_device(torch.device("cuda"))


def _draw_dropout(team):
    """What each process drops of the same ones."""
    seen = []

    def loss(model, batch, progress):
        seen.append(torch.dropout(torch.ones(64), 0.5, True).tolist())
        return ClassificationLoss()(model, batch)

    team.share_loss(loss)(toy_model(), ToySource(2).batch([0, 1]), 0.0)
    return seen


if __name__ == "__main__":
    out = Path(sys.argv[1])
    with join_team(own_device(CPU)) as team:
        for several in (False, True):
            model, history = fitted(team, several=several)
            save_file(model.state_dict(), out / f"{team.rank}-{several}.safetensors")
            (out / f"{team.rank}-{several}.json").write_text(json.dumps(told(history)))
        model, _ = fitted(team, words=MANY_WORDS)
        save_file(model.state_dict(), out / f"{team.rank}-words.safetensors")
        # As on two machines: no process sees the other's folder.
        own = out / f"checkpoint-{team.rank}"
        with pytest.raises(RuntimeError):
            fitted(team, checkpoint=Checkpoint(own, every_seconds=0), observers=[Stopper(6)])
        model, _ = fitted(team, checkpoint=Checkpoint(own, resume=True))
        save_file(model.state_dict(), out / f"{team.rank}-resumed.safetensors")
        torch.manual_seed(0)
        (out / f"{team.rank}-dropout.json").write_text(json.dumps(_draw_dropout(team)))
