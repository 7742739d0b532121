"""A checkpoint folder: whole or absent, and only for the run that wrote it."""

import dataclasses
import json

import pytest
import torch
from safetensors.torch import save

from regard.errors import ConfigError, ModelError
from regard.training.batches import PlannedBatches
from regard.training.checkpoint import (
    Checkpoint,
    Snapshot,
    fingerprint,
    read_snapshot,
    write_snapshot,
)
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
        ConfigError, match=r"begun with (size|seed) = .*start again without resuming"
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
    with pytest.raises(ModelError, match=r"is damaged .*start again .*--overwrite") as error:
        checkpoint.load({})
    assert "\n" not in str(error.value)


TENSORS = {
    "weights": torch.randn(3, 4, generator=torch.Generator().manual_seed(0)),
    "double": torch.tensor([0.1], dtype=torch.float64),
    "number": torch.tensor(5.0),
    "empty": torch.zeros(0, 3),
    "sixteen": torch.ones(2, dtype=torch.bfloat16),
}
VALUES = {"rate": 0.1 + 0.2, "list": [1, None, "é\ud800"], "nested": {"a": {"b": True}}}


def test_what_is_written_is_read(tmp_path):
    write_snapshot(tmp_path / "new" / "state", Snapshot(TENSORS, VALUES))
    read = read_snapshot(tmp_path / "new" / "state")
    assert read.values == VALUES
    assert read.tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert read.tensors[name].dtype == tensor.dtype
        assert torch.equal(read.tensors[name], tensor)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["state"]


def test_tensors_that_share_memory_are_written_apart(tmp_path):
    weight = torch.arange(6.0).view(2, 3)
    parts = {"weight": weight, "tied": weight, "turned": weight.T, "row": weight[1]}
    write_snapshot(tmp_path / "state", Snapshot(parts))
    read = read_snapshot(tmp_path / "state").tensors
    assert all(torch.equal(read[name], part) for name, part in parts.items())


def test_parts_are_found_under_their_names():
    part = Snapshot({"x": torch.ones(1)}, {"y": 2})
    joined = Snapshot.join({"a": part, "ab": Snapshot(values={"y": 3})})
    assert joined.under("a").values == {"y": 2}
    assert joined.under("a").tensors.keys() == {"x"}
    assert joined.under("ab").values == {"y": 3}
    assert joined.under("none").values == {}


def test_a_write_that_never_ended_leaves_the_older_file(tmp_path):
    write_snapshot(tmp_path / "state", Snapshot(TENSORS, VALUES))
    (tmp_path / "state.partial").write_bytes(b"\x10\x00half")
    assert read_snapshot(tmp_path / "state").values == VALUES
    write_snapshot(tmp_path / "state", Snapshot(values={"later": 1}))
    assert read_snapshot(tmp_path / "state").values == {"later": 1}
    assert not (tmp_path / "state.partial").exists()


@pytest.mark.parametrize("cut", [0, 5, 100, -3])
def test_a_damaged_file_is_named(tmp_path, cut):
    path = tmp_path / "state"
    write_snapshot(path, Snapshot(TENSORS, VALUES))
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ModelError, match="damaged"):
        read_snapshot(path)


def test_a_foreign_file_is_named(tmp_path):
    from safetensors.torch import save_file

    save_file({"a": torch.ones(1)}, tmp_path / "state")
    with pytest.raises(ModelError, match="damaged"):
        read_snapshot(tmp_path / "state")


def test_a_flipped_bit_is_found_wherever_it_is(tmp_path):
    """Without a digest, one of ten changed the training in silence, others were a KeyError."""
    path = tmp_path / "state"
    write_snapshot(path, Snapshot(TENSORS, VALUES))
    whole = path.read_bytes()
    for place in range(0, len(whole) * 8, 7):
        changed = bytearray(whole)
        changed[place // 8] ^= 1 << place % 8
        path.write_bytes(changed)
        with pytest.raises(ModelError, match=r"the checkpoint .*state is damaged") as error:
            read_snapshot(path)
        assert "\n" not in str(error.value)


def test_a_file_from_before_there_were_digests_is_read(tmp_path):
    (tmp_path / "state").write_bytes(save(TENSORS, {"values": json.dumps(VALUES)}))
    assert read_snapshot(tmp_path / "state").values == VALUES
