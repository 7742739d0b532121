"""A snapshot file is there whole or not at all, and gives back the same bits."""

import json

import pytest
import torch
from safetensors.torch import save

from regard.errors import ModelError
from regard.training.snapshot import Snapshot, read_snapshot, write_snapshot

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
