"""A checkpoint folder: whole or absent, and only for the run that wrote it."""

import dataclasses

import pytest
import torch

from regard.errors import ConfigError, ModelError
from regard.training.batches import PlannedBatches
from regard.training.checkpoint import Checkpoint, fingerprint
from regard.training.snapshot import Snapshot, write_snapshot
from support.toys import ToySource, plain_config, toy_model

RUN = Snapshot({"w": torch.arange(3.0)}, {"epoch": 2})


def test_what_was_saved_is_loaded_when_resuming(tmp_path):
    Checkpoint(tmp_path / "c", {"network.size": 5}).save(RUN, {"seed": 0})
    loaded = Checkpoint(tmp_path / "c", {"network.size": 5}, resume=True).load({"seed": 0})
    assert loaded.values == {"epoch": 2}
    assert torch.equal(loaded.tensors["w"], RUN.tensors["w"])


def test_without_resuming_a_run_starts_anew(tmp_path):
    Checkpoint(tmp_path).save(RUN, {})
    assert Checkpoint(tmp_path).load({}) is None


def test_nothing_saved_yet_is_a_fresh_start(tmp_path):
    assert Checkpoint(tmp_path / "none", resume=True).load({}) is None


@pytest.mark.parametrize(
    ("settings", "more"),
    [({"size": 6}, {"seed": 0}), ({"size": 5}, {"seed": 1}), ({}, {"seed": 0}), ({"size": 5}, {})],
)
def test_another_run_is_refused_by_what_differs(tmp_path, settings, more):
    Checkpoint(tmp_path, {"size": 5}).save(RUN, {"seed": 0})
    with pytest.raises(
        ConfigError, match=r"begun with (size|seed) = .*begin anew without resuming"
    ):
        Checkpoint(tmp_path, settings, resume=True).load(more)


def test_another_format_is_refused(tmp_path):
    checkpoint = Checkpoint(tmp_path, resume=True)
    write_snapshot(checkpoint.path, Snapshot(values={"checkpoint/format": 99}))
    with pytest.raises(ModelError, match="format 99"):
        checkpoint.load({})


def test_a_write_cut_off_leaves_the_last_state(tmp_path):
    checkpoint = Checkpoint(tmp_path, resume=True)
    checkpoint.save(RUN, {})
    (tmp_path / "state.safetensors.partial").write_bytes(b"half a fi")
    assert checkpoint.load({}).values == {"epoch": 2}
    checkpoint.save(Snapshot(values={"epoch": 3}), {})
    assert checkpoint.load({}).values == {"epoch": 3}


def test_it_is_due_after_its_seconds(tmp_path):
    assert Checkpoint(tmp_path, every_seconds=0).due
    assert not Checkpoint(tmp_path, every_seconds=3600).due


def test_removing_takes_the_folder_only_when_nothing_else_is_in_it(tmp_path):
    checkpoint = Checkpoint(tmp_path / "c")
    checkpoint.remove()
    checkpoint.save(RUN, {})
    checkpoint.remove()
    assert not checkpoint.folder.exists()
    checkpoint.save(RUN, {})
    (checkpoint.folder / "notes.txt").write_text("mine")
    checkpoint.remove()
    assert [path.name for path in checkpoint.folder.iterdir()] == ["notes.txt"]


def test_a_fingerprint_tells_runs_apart():
    config = plain_config(epochs=2, batch_size=8)

    def taken(source, config=config, labels=3):
        return fingerprint(toy_model(labels), PlannedBatches(source, config), config)

    usual = taken(ToySource(30))
    assert taken(ToySource(30)) == usual
    assert taken(ToySource(30), dataclasses.replace(config, seed=1)) != usual
    assert taken(ToySource(30), dataclasses.replace(config, clip=None)) != usual
    assert taken(ToySource(30), labels=4) != usual
    assert taken(ToySource(30, seed=1)) != usual
    assert taken(ToySource(29)) != usual


def test_a_state_that_is_no_run_s_is_one_line_that_says_what_to_do(tmp_path):
    checkpoint = Checkpoint(tmp_path, resume=True)
    told = r"not that of such a run \(KeyError.*--overwrite"
    with pytest.raises(ModelError, match=told), checkpoint.restoring():
        raise KeyError("place")
    checkpoint.path.write_bytes(b"half a run")
    with pytest.raises(ModelError, match=r"is damaged .*begin anew .*--overwrite") as error:
        checkpoint.load({})
    assert "\n" not in str(error.value)
